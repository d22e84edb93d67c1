// What part of the map is in view, and how large its cells are. Pure arithmetic.

/** @import { Span } from './api.js' */
/** @import { Frame } from './map-geometry.js' */
/** @import { Spot } from './store.js' */

/**
 * @typedef {object} Camera
 * @property {number} cell  Side of one cell, in CSS pixels
 * @property {number} x     How far the map is scrolled, in CSS pixels
 * @property {number} y
 */

/** @typedef {{zoom: number, query: number, key: number}} Place  As it stands in the address: a cell's side, and the cell in the middle. */

/** The largest a cell can be made. */
const LARGEST = 96;
/** Sides of a cell at which the map comes to rest, in device pixels. */
const SIDES = [1, 2, 3, 4, 5, 6, 8, 10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 56, 64, 80, 96, 128, 160, 192, 256, 288];

/** @param {Frame} f @returns {Camera} */
export const whole = (f) => ({ cell: f.fit, x: 0, y: 0 });

/** @param {Frame} f @param {Camera} c */
export const isWhole = (f, c) => c.cell <= f.fit * 1.001;

/**
 * The sides of a cell at which every pixel is a square of so many cells, or every cell a square of
 * so many pixels; and before them the one at which the whole map is seen.
 * @param {Frame} f
 * @returns {number[]}
 */
export function stops(f) {
  const sides = [];
  for (let part = 1 / 1024; part < 1; part *= 2) sides.push(part / f.ratio);
  for (const pixels of SIDES) sides.push(pixels / f.ratio);
  return [f.fit, ...sides.filter((side) => side > f.fit * 1.2 && side <= LARGEST)];
}

/**
 * The stop that a zoom comes to rest at: the next one in its direction.
 * @param {Frame} f
 * @param {number} cell
 * @param {number} way  above 0 where it was going in
 */
export function rest(f, cell, way) {
  const all = stops(f);
  const near = (/** @type {number} */ stop) => Math.abs(stop / cell - 1) < 0.02;
  const here = all.find(near);
  if (here !== undefined) return here;
  if (way > 0) return all.find((stop) => stop >= cell) ?? all[all.length - 1];
  return all.findLast((stop) => stop <= cell) ?? all[0];
}

/**
 * So many stops further in, or out.
 * @param {Frame} f
 * @param {number} cell
 * @param {number} by
 */
export function further(f, cell, by) {
  const all = stops(f);
  const at = by > 0 ? all.findLastIndex((stop) => stop <= cell * 1.01) : all.findIndex((stop) => stop >= cell * 0.99);
  return all[Math.max(0, Math.min(all.length - 1, at + by))];
}

/**
 * Kept on the map, and no further out than the whole of it.
 * @param {Frame} f
 * @param {Camera} c
 * @returns {Camera}
 */
export function held(f, { cell, x, y }) {
  const side = Math.max(f.fit, Math.min(cell, Math.max(LARGEST, f.fit)));
  return {
    cell: side,
    x: Math.max(0, Math.min(x, f.columns * side - f.width)),
    y: Math.max(0, Math.min(y, f.rows * side - f.height)),
  };
}

/**
 * With cells of another size; what lies under a point of the canvas stays there.
 * @param {Frame} f
 * @param {Camera} c
 * @param {number} cell
 * @param {number} px
 * @param {number} py
 */
export function zoomed(f, c, cell, px, py) {
  const side = held(f, { ...c, cell }).cell;
  const grow = side / c.cell;
  return held(f, {
    cell: side,
    x: (px - f.left + c.x) * grow - (px - f.left),
    y: (py - f.top + c.y) * grow - (py - f.top),
  });
}

/**
 * The cells that can be seen.
 * @param {Frame} f
 * @param {Camera} c
 * @returns {Span}
 */
export function seen(f, { cell, x, y }) {
  const first = (/** @type {number} */ at, /** @type {number} */ count) =>
    Math.min(count - 1, Math.max(0, Math.floor(at / cell + 1e-6)));
  const last = (/** @type {number} */ at, /** @type {number} */ count) =>
    Math.max(1, Math.min(count, Math.ceil(at / cell - 1e-6)));
  return {
    q0: first(y, f.rows),
    q1: last(y + f.height, f.rows),
    k0: first(x, f.columns),
    k1: last(x + f.width, f.columns),
  };
}

/**
 * The cell under a point of the canvas.
 * @param {Frame} f
 * @param {Camera} c
 * @param {number} px
 * @param {number} py
 * @returns {Spot | null}
 */
export function cellAt(f, c, px, py) {
  if (px < f.left || py < f.top || px >= f.left + f.width || py >= f.top + f.height) return null;
  const key = Math.floor((px - f.left + c.x) / c.cell);
  const query = Math.floor((py - f.top + c.y) / c.cell);
  return key >= 0 && query >= 0 && key < f.columns && query < f.rows ? { query, key } : null;
}

/**
 * The middle of a cell on the canvas.
 * @param {Frame} f
 * @param {Camera} c
 * @param {Spot} spot
 */
export const pointOf = (f, c, spot) => ({
  x: f.left + (spot.key + 0.5) * c.cell - c.x,
  y: f.top + (spot.query + 0.5) * c.cell - c.y,
});

/**
 * Moved so that a cell is in view: not at all where it is, a little where it is near, else to the middle.
 * @param {Frame} f
 * @param {Camera} c
 * @param {Spot} spot
 */
export function reveal(f, c, spot) {
  const one = (/** @type {number} */ index, /** @type {number} */ at, /** @type {number} */ room) => {
    const margin = Math.min(2 * c.cell, room / 4);
    const [start, end] = [index * c.cell - margin, (index + 1) * c.cell + margin];
    if (start >= at && end <= at + room) return at;
    const away = start < at ? at - start : end - at - room;
    if (away > room / 3) return (start + end - room) / 2;
    return start < at ? start : end - room;
  };
  return held(f, { cell: c.cell, x: one(spot.key, c.x, f.width), y: one(spot.query, c.y, f.height) });
}

/**
 * @param {Frame} f
 * @param {Camera} c
 * @returns {Place | null}  null for the whole map
 */
export function placeOf(f, c) {
  if (isWhole(f, c)) return null;
  const middle = (/** @type {number} */ at, /** @type {number} */ room) => Math.round((at + room / 2) / c.cell - 0.5);
  return { zoom: Number(c.cell.toPrecision(5)), query: middle(c.y, f.height), key: middle(c.x, f.width) };
}

/**
 * @param {Frame} f
 * @param {Place | null} place
 * @returns {Camera}
 */
export function cameraAt(f, place) {
  if (!place) return whole(f);
  // On another screen the nearest size at which it rests.
  const cell = stops(f).reduce((best, stop) =>
    Math.abs(Math.log(stop / place.zoom)) < Math.abs(Math.log(best / place.zoom)) ? stop : best,
  );
  const start = (/** @type {number} */ index, /** @type {number} */ room) => (index + 0.5) * cell - room / 2;
  return held(f, { cell, x: start(place.key, f.width), y: start(place.query, f.height) });
}
