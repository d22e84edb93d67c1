// Where everything on the map stands, in CSS pixels. Pure arithmetic.

/** @import { Span } from './api.js' */
/** @import { Spot } from './store.js' */

/**
 * @typedef {object} Geometry
 * @property {number} rows
 * @property {number} columns
 * @property {number} cell     Side of one cell
 * @property {number} left     Room for the names of the rows
 * @property {number} top      Room for the names of the columns
 * @property {number} right    Room for slanted column names that lean over the edge
 * @property {boolean} slanted Column names lie at a slant
 */

/** A cell never grows beyond this. */
const LARGEST = 64;
/** A name needs this much height. */
export const NAME_ROOM = 14;

/**
 * @param {object} wish
 * @param {number} wish.rows
 * @param {number} wish.columns
 * @param {number} wish.width      There is
 * @param {number} wish.height
 * @param {number} wish.zoom       1 shows all that can be shown
 * @param {number} wish.ratio      Device pixels per CSS pixel
 * @param {number} wish.rowName    Widest row name, in CSS pixels
 * @param {number} wish.columnName Widest column name
 * @returns {Geometry}
 */
export function layOut({ rows, columns, width, height, zoom, ratio, rowName, columnName }) {
  const left = Math.ceil(rowName) + 12;
  const flatTop = NAME_ROOM + 12;
  const slantTop = Math.ceil(columnName * SLANT) + 14;
  const slantRight = Math.min(Math.ceil(columnName * SLANT), 44);
  const fit = (/** @type {number} */ top, /** @type {number} */ right) =>
    sized(Math.max(1 / ratio, Math.min((width - left - right) / columns, (height - top) / rows)) * zoom, ratio);
  const flat = fit(flatTop, 2);
  if (columnName + 1 <= flat) return { rows, columns, cell: flat, left, top: flatTop, right: 2, slanted: false };
  return { rows, columns, cell: fit(slantTop, slantRight), left, top: slantTop, right: slantRight, slanted: true };
}

/** Sine and cosine of the slant, 45 degrees. */
export const SLANT = Math.SQRT1_2;

/**
 * Cells are whole device pixels, so that all are equally large.
 * @param {number} side
 * @param {number} ratio
 */
function sized(side, ratio) {
  const pixels = Math.max(1, Math.floor(Math.min(side, LARGEST) * ratio));
  return pixels / ratio;
}

/** @param {Geometry} g */
export const mapWidth = (g) => g.left + g.columns * g.cell + g.right;
/** @param {Geometry} g */
export const mapHeight = (g) => g.top + g.rows * g.cell + 2;

/**
 * The cells that can be seen.
 * @param {Geometry} g
 * @param {{x: number, y: number, width: number, height: number}} window  scrolled to x, y
 * @returns {Span}
 */
export function seen(g, { x, y, width, height }) {
  const first = (/** @type {number} */ at) => Math.max(0, Math.floor(at / g.cell));
  const last = (/** @type {number} */ at, /** @type {number} */ count) => Math.min(count, Math.ceil(at / g.cell));
  return {
    q0: Math.min(first(y), g.rows - 1),
    q1: Math.max(1, last(y + height - g.top, g.rows)),
    k0: Math.min(first(x), g.columns - 1),
    k1: Math.max(1, last(x + width - g.left, g.columns)),
  };
}

/**
 * The cell under a point of the window.
 * @param {Geometry} g
 * @param {{x: number, y: number}} scroll
 * @param {number} px
 * @param {number} py
 * @returns {Spot | null}
 */
export function cellAt(g, scroll, px, py) {
  if (px < g.left || py < g.top) return null;
  const key = Math.floor((px - g.left + scroll.x) / g.cell);
  const query = Math.floor((py - g.top + scroll.y) / g.cell);
  return key < g.columns && query < g.rows ? { query, key } : null;
}

/**
 * How far to scroll so that a cell is in view.
 * @param {Geometry} g
 * @param {{x: number, y: number, width: number, height: number}} window
 * @param {Spot} spot
 * @returns {{x: number, y: number}}
 */
export function reveal(g, window, spot) {
  const one = (/** @type {number} */ index, /** @type {number} */ at, /** @type {number} */ room) => {
    const margin = Math.min(2 * g.cell, room / 4);
    const start = index * g.cell - margin;
    const end = (index + 1) * g.cell + margin;
    if (start < at) return Math.max(0, start);
    return end > at + room ? end - room : at;
  };
  return {
    x: one(spot.key, window.x, window.width - g.left),
    y: one(spot.query, window.y, window.height - g.top),
  };
}

/**
 * Only every so many names have room: the smallest round step at which they do.
 * @param {number} cell
 * @param {number} room  that one name needs
 */
export function nameStep(cell, room) {
  const least = room / cell;
  if (least <= 1) return 1;
  for (let unit = 1; ; unit *= 10) {
    for (const step of [2, 5, 10]) if (step * unit >= least) return step * unit;
  }
}
