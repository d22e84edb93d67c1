// A tile's numbers as colours: one pixel for each, hidden ones left clear so that what lies beneath shows.

/** @import { Palette, Theme } from './palette.js' */
/** @import { Rows } from './map-rows.js' */
/** @import { Scale } from './scales.js' */
/** @import { Tile } from './tiles.js' */
import { rampBytes } from './palette.js';
import { fraction, rankIn } from './scales.js';

/**
 * @typedef {object} Look
 * @property {Scale} scale
 * @property {number} top        Where the scale ends
 * @property {Theme} theme
 * @property {Palette} palette
 * @property {'most' | 'mean'} pooling
 */

/** Bits of a weight that do not change its colour. */
const FINE = 13;
/** The places of 1 and of all below it in a table of colours. */
const ONE = 0x3f800000 >> FINE;
/** Pictures that are kept after they were last drawn. */
const KEPT = 24;

/** @type {Map<Tile, {key: string, canvas: HTMLCanvasElement}>} */
const pictures = new Map();

/**
 * @param {Tile} tile
 * @param {Look} look
 * @param {Rows | null} rows  of a scale of rows
 * @returns {HTMLCanvasElement}
 */
export function pictureOf(tile, look, rows) {
  const key = `${look.scale} ${look.top} ${look.theme} ${look.palette} ${look.pooling} ${rows?.of}`;
  const there = pictures.get(tile);
  pictures.delete(tile);
  if (there?.key === key) {
    pictures.set(tile, there);
    return there.canvas;
  }
  const canvas = there?.canvas ?? document.createElement('canvas');
  develop(tile, look, rows, canvas);
  pictures.set(tile, { key, canvas });
  for (const [old, { canvas: left }] of pictures) {
    if (pictures.size <= KEPT) break;
    // A canvas gives its memory back at once when it is made small.
    left.width = left.height = 0;
    pictures.delete(old);
  }
  return canvas;
}

/** The picture of a tile as it was drawn last, if it still is. @param {Tile} tile */
export const lastPictureOf = (tile) => pictures.get(tile)?.canvas ?? null;

/**
 * The place of one number on the ramp, 0 to 1.
 * @param {number} weight
 * @param {number} row     in its tile
 * @param {Look} look
 * @param {Rows | null} rows
 */
export function placeOnRamp(weight, row, look, rows) {
  if (look.scale === 'row') return fraction('row', weight, rows?.numbers[row] ?? 1);
  if (look.scale === 'rank') return rows ? rankIn(rows.numbers, 255 * row, weight) / 255 : 0;
  return fraction(look.scale, weight, look.top);
}

/** @param {Tile} tile @param {Look} look @param {Rows | null} rows @param {HTMLCanvasElement} canvas */
function develop(tile, look, rows, canvas) {
  const { rows: height, columns: width } = tile.plan;
  if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
  const image = new ImageData(width, height);
  const out = new Uint32Array(image.data.buffer);
  const weights = tile[look.pooling];
  if (look.scale === 'row' || look.scale === 'rank') {
    const ramp = new Uint32Array(rampBytes(look.theme, look.palette).buffer);
    for (let r = 0, i = 0; r < height; r++) {
      const grow = look.scale === 'row' ? 255 / (rows?.numbers[r] || 1) : 0;
      for (let c = 0; c < width; c++, i++) {
        const weight = weights[i];
        if (!(weight >= 0)) continue;
        out[i] =
          ramp[grow ? Math.min(255, Math.round(weight * grow)) : rows ? rankIn(rows.numbers, 255 * r, weight) : 0];
      }
    }
  } else {
    const colours = table(look);
    const bits = new Int32Array(weights.buffer, weights.byteOffset, weights.length);
    for (let i = 0; i < bits.length; i++) {
      // Below 0 as a whole number, like the number itself: hidden.
      const b = bits[i];
      if (b >= 0) out[i] = colours[Math.min(ONE, b >> FINE)];
    }
  }
  canvas.getContext('2d')?.putImageData(image, 0, 0);
}

/** @type {{key: string, colours: Uint32Array} | null} */
let made = null;

/**
 * The colour for every weight from 0 to 1, by the upper bits of the weight itself: no logarithm or
 * root for each cell.
 * @param {Look} look
 */
function table({ scale, top, theme, palette }) {
  const key = `${scale} ${top} ${theme} ${palette}`;
  if (made?.key === key) return made.colours;
  const ramp = new Uint32Array(rampBytes(theme, palette).buffer);
  const bits = new Int32Array(1);
  const weight = new Float32Array(bits.buffer);
  const colours = new Uint32Array(ONE + 1);
  for (let i = 0; i <= ONE; i++) {
    bits[0] = i === ONE ? i << FINE : (i << FINE) | (1 << (FINE - 1));
    colours[i] = ramp[Math.round(255 * fraction(scale, i === 0 ? 0 : weight[0], top))];
  }
  made = { key, colours };
  return colours;
}
