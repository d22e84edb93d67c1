// Columns left out of the colour scale, so that one that takes nearly everything does not make the
// rest look alike. They are still drawn, marked, in the colours of the scale.

/** @import { Token } from './contract.js' */

/** One word that stands in the address: names and indices joined by dashes. @typedef {string} LeftOut */

/** @param {string | null} leftOut @returns {string[]} */
export const parts = (leftOut) => (leftOut ? leftOut.split('-') : []);

/**
 * In one order, each once, so that equal choices are equal words; null where nothing is left out.
 * @param {string[]} wanted
 * @returns {LeftOut | null}
 */
export function joined(wanted) {
  const numbers = [...new Set(wanted.filter((part) => /^\d{1,9}$/.test(part)).map(Number))].sort((a, b) => a - b);
  const words = ['first', 'special'].filter((word) => wanted.includes(word));
  return [...words, ...numbers].join('-') || null;
}

/**
 * @param {LeftOut | null} leftOut
 * @param {string} part  'first', 'special' or an index
 */
export function toggled(leftOut, part) {
  const now = parts(leftOut);
  return joined(now.includes(part) ? now.filter((other) => other !== part) : [...now, part]);
}

/**
 * The columns that are left out, in order.
 * @param {LeftOut | null} leftOut
 * @param {readonly Token[]} keys
 * @returns {number[]}
 */
export function columnsOf(leftOut, keys) {
  const out = new Set(
    parts(leftOut)
      .filter((part) => /^\d+$/.test(part))
      .map(Number)
      .filter((index) => index < keys.length),
  );
  const chosen = parts(leftOut);
  if (chosen.includes('first') && keys.length > 0) out.add(0);
  if (chosen.includes('special')) keys.forEach((token, index) => token.special && out.add(index));
  // Without any column there is no scale.
  return out.size < keys.length ? [...out].sort((a, b) => a - b) : [];
}

/**
 * What lies between them.
 * @param {number[]} columns  in order
 * @param {number} count      of all columns
 * @returns {[number, number][]}
 */
export function between(columns, count) {
  /** @type {[number, number][]} */
  const out = [];
  let from = 0;
  for (const column of [...columns, count]) {
    if (column > from) out.push([from, column]);
    from = column + 1;
  }
  return out;
}

/**
 * Whether any of them lies in a range.
 * @param {number[]} columns  in order
 * @param {number} from
 * @param {number} to
 */
export function touches(columns, from, to) {
  let low = 0;
  let high = columns.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (columns[middle] < from) low = middle + 1;
    else high = middle;
  }
  return low < columns.length && columns[low] < to;
}
