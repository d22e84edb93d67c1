// Sends for the parts of the view that the address names, before any other module: a browser takes
// milliseconds for each file, and those that are not seen first would keep the others waiting.
import(`./first-${/[#&]view=(heads|text)(?:&|$)/.exec(location.hash)?.[1] ?? 'cell'}.js`);
