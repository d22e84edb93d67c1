// The ramps of colours for weights. The lightness of each always falls (light page) or always rises
// (dark page) with the weight, so all also read in grey. Amber is one hue; viridis and cividis follow
// the colour maps of those names, made for any colour vision; grey has no hue at all.

/** @typedef {[number, number, number]} Rgb */
/** @typedef {'light' | 'dark'} Theme */
/** @typedef {'amber' | 'viridis' | 'cividis' | 'grey'} Palette */

/** @type {Record<Palette, Record<Theme, string[]>>} */
const STOPS = {
  amber: {
    light: ['fdf5df', 'fbdd93', 'f0a73a', 'c26a12', '6d2f06'],
    dark: ['2a2113', '614211', 'a96c12', 'eaaa33', 'ffeebb'],
  },
  viridis: {
    light: ['fbf8c8', 'd3e35a', '6ccd5a', '24a485', '26808e', '34608d', '443a83', '3b0a4f'],
    dark: ['2b0f3d', '45327f', '3a548c', '297a8e', '1fa188', '5ec962', 'addc30', 'fdf07a'],
  },
  cividis: {
    light: ['fff6c4', 'f5dd62', 'cfba68', 'a69d75', '7d7c78', '575d6d', '2f4470', '00224e'],
    dark: ['0c2140', '1f3b6f', '4b546c', '6e7074', '928d78', 'b8aa6d', 'e0cb57', 'fff3a0'],
  },
  grey: {
    light: ['f3f2ee', 'c9c8c5', '8f8e8c', '545352', '141414'],
    dark: ['24231f', '55534e', '8b8984', 'c4c2bd', 'fdfcf8'],
  },
};

/** What each is called where it can be chosen. @type {Record<Palette, string>} */
export const PALETTES = { amber: 'amber', viridis: 'viridis', cividis: 'cividis', grey: 'grey' };

/**
 * @param {string | null | undefined} name
 * @returns {name is Palette}
 */
export const isPalette = (name) => name !== null && name !== undefined && Object.hasOwn(PALETTES, name);

const STEPS = 256;

/** @type {Map<string, Uint8ClampedArray>} */
const ramps = new Map();

/**
 * The ramp as RGBA bytes: 256 colours from the smallest weight to the largest.
 * @param {Theme} theme
 * @param {Palette} [palette]
 * @returns {Uint8ClampedArray}
 */
export function rampBytes(theme, palette = 'amber') {
  const known = ramps.get(`${theme} ${palette}`);
  if (known) return known;
  const bytes = ramp(STOPS[palette][theme]);
  ramps.set(`${theme} ${palette}`, bytes);
  return bytes;
}

/**
 * @param {Theme} theme
 * @param {number} at  0 to 1
 * @param {Palette} [palette]
 * @returns {Rgb}
 */
export function rampAt(theme, at, palette = 'amber') {
  const i = 4 * Math.round(Math.min(1, Math.max(0, at)) * (STEPS - 1));
  const bytes = rampBytes(theme, palette);
  return [bytes[i], bytes[i + 1], bytes[i + 2]];
}

/** @param {Rgb} rgb */
export const css = (rgb) => `rgb(${rgb.map(Math.round).join(' ')})`;

/**
 * Black or white, whichever reads better on this colour.
 * @param {Rgb} rgb
 */
export function inkOn(rgb) {
  const light = luminance(rgb);
  return (light + 0.05) / 0.05 >= 1.05 / (light + 0.05) ? '#000000' : '#ffffff';
}

/**
 * Relative luminance, WCAG 2.
 * @param {Rgb} rgb
 */
export function luminance(rgb) {
  const [r, g, b] = rgb.map(toLinear);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** @param {string[]} stops */
function ramp(stops) {
  const labs = stops.map((hex) => toOklab(parse(hex)));
  const bytes = new Uint8ClampedArray(STEPS * 4);
  for (let i = 0; i < STEPS; i++) {
    const at = (i / (STEPS - 1)) * (labs.length - 1);
    const low = Math.min(labs.length - 2, Math.floor(at));
    const t = at - low;
    const lab = /** @type {Rgb} */ (labs[low].map((value, c) => value * (1 - t) + labs[low + 1][c] * t));
    bytes.set([...fromOklab(lab), 255], 4 * i);
  }
  return bytes;
}

/** @param {string} hex @returns {Rgb} */
function parse(hex) {
  const n = parseInt(hex, 16);
  return [n >> 16, (n >> 8) & 255, n & 255];
}

/** @param {number} byte */
function toLinear(byte) {
  const c = byte / 255;
  return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
}

/** @param {number} value */
function fromLinear(value) {
  return 255 * (value <= 0.0031308 ? 12.92 * value : 1.055 * value ** (1 / 2.4) - 0.055);
}

// Oklab (B. Ottosson, 2020): equal steps in it look equally large, which is what a ramp needs.

/** @param {Rgb} rgb @returns {Rgb} */
function toOklab(rgb) {
  const [r, g, b] = rgb.map(toLinear);
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ];
}

/** @param {Rgb} lab @returns {Rgb} */
function fromOklab([L, a, b]) {
  const l = (L + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (L - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (L - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [
    fromLinear(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
    fromLinear(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
    fromLinear(-0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s),
  ];
}
