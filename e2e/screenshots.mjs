// The pictures of the README and the docs, taken from the real program at 2x: `npm run screenshots`.

import { mkdir } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { idOf, view } from './lib/binary.mjs';
import { launch } from './lib/browser.mjs';
import { MINILM } from './lib/models.mjs';

const DOCS = fileURLToPath(new URL('../docs/', import.meta.url));
const TEXT = 'The keys to the old cabinet are on the table by the door, where the robot left them.';

/** @param {string} name  @param {string} address  @param {string} ready  what has to be there */
async function shoot(name, address, ready) {
  const page = await browser.newPage({ viewport: { width: 1360, height: 960 }, deviceScaleFactor: 2 });
  await page.goto(address);
  await page.waitForSelector(ready, { timeout: 120_000 });
  await page.waitForTimeout(1500);
  await page.screenshot({ path: `${DOCS}${name}.png` });
  await page.close();
  console.log(`docs/${name}.png`);
}

await mkdir(DOCS, { recursive: true });
const models = existsSync(MINILM) ? [MINILM] : [];
const inspector = await view('example', ...models);
const browser = await launch();
try {
  await shoot('inspector', inspector.url, 'cell-headline h2');
  await shoot('learn', `${inspector.url}ui/learn.html#/5`, 'main h1, main h2');
  if (models.length > 0) {
    const hash = new URLSearchParams({ source: await idOf(inspector.url, /minilm/i), text: TEXT, view: 'heads' });
    await shoot('heads', `${inspector.url}#${hash}`, 'head-grid canvas');
  }
} finally {
  await browser.close();
  await inspector.stop();
}
