// What the map shows now, in numbers for the legend and in words.

/** @import { Span } from './api.js' */
/** @import { Level } from './map-levels.js' */

/**
 * @typedef {object} Shown
 * @property {Level} level
 * @property {boolean} sharp     All of what is in view is here
 * @property {Span} part         The cells in view
 * @property {boolean} whole
 * @property {number} cell       Side of a cell, in CSS pixels
 * @property {number | null} top Where the scale ends; null while it is asked for
 * @property {number[]} leftOut  Columns that are not in the scale
 * @property {number} rows       Of the whole map
 * @property {number} columns
 * @property {boolean} pools     Zoomed out, a pixel of this map stands for several cells
 */

/**
 * How many cells stand behind a pixel.
 * @param {Level} level
 */
export function blockWords({ block }) {
  const [least, most] = [Math.floor(block + 1e-9), Math.ceil(block - 1e-9)];
  const side = least === most ? String(most) : `${least}–${most}`;
  return `${side} × ${side}`;
}

/**
 * @param {Shown} shown
 * @param {'mean' | null} blocks
 */
export function quantity(shown, blocks) {
  if (shown.level.kind === 'exact') return 'weight';
  const which = blocks === 'mean' ? 'mean weight' : 'largest weight';
  return `${which} of each block of ${blockWords(shown.level)} cells`;
}

/** For those who listen to the page. @param {Pick<Shown, 'part' | 'whole' | 'rows' | 'columns'>} shown */
export function partWords({ part, whole, rows, columns }) {
  if (whole) return `The whole map, ${rows} queries by ${columns} keys`;
  return `Queries ${part.q0} to ${part.q1 - 1}, keys ${part.k0} to ${part.k1 - 1}`;
}
