// What a text shows, as CSV and as JSON: exact numbers, and what they are.

/** @import { Meta } from './contract.js' */
/** @import { View } from './address.js' */
/** @import { Spread } from './spread.js' */
import { keysOf, queriesOf } from './axes.js';
import { reasonOf } from './hidden.js';
import { joined } from './spread.js';

/** @typedef {{header: string[], rows: (string | number | null)[][]}} Table */

/**
 * RFC 4180: every line ends in CR LF, quotes only where they are needed.
 * @param {Table} table
 */
export function toCsv({ header, rows }) {
  const field = (/** @type {string | number | null} */ value) => {
    const text = value === null ? '' : String(value);
    return /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return [header, ...rows].map((row) => `${row.map(field).join(',')}\r\n`).join('');
}

/**
 * One line a token: its weight for each token asked about, and the shade's own number.
 * @param {Meta} meta
 * @param {View} view
 * @param {Spread} spread
 * @returns {Table}
 */
export function spreadTable(meta, view, spread) {
  const shade = joined(spread.weights, view.joining);
  const several = spread.tokens.length > 1;
  const verb = spread.facing === 'to' ? 'from' : 'to';
  return {
    header: [
      'index',
      'token',
      ...spread.tokens.map((t) => `weight_${verb}_${t}`),
      ...(several ? [view.joining] : []),
      'hidden',
    ],
    rows: shadedOf(meta, view, spread).map((token, j) => [
      j,
      token.text,
      ...spread.weights.map((weights) => (weights[j] < 0 ? null : weights[j])),
      ...(several ? [shade[j] < 0 ? null : shade[j]] : []),
      reasonOf(shade[j]),
    ]),
  };
}

/** @param {Meta} meta @param {View} view @param {Spread} spread */
export const spreadJson = (meta, view, spread) => ({
  model: meta.model.name,
  text: meta.text,
  site: view.site,
  layer: spread.layer,
  heads: spread.heads,
  heads_joined_by: spread.heads === 'mean' || spread.heads.length > 1 ? 'mean of weights' : null,
  facing: spread.facing === 'to' ? 'attends to' : 'is attended to by',
  tokens: shadedOf(meta, view, spread).map((token) => token.text),
  asked: spread.tokens.map((index, i) => ({
    index,
    token: askedOf(meta, view, spread)[index].text,
    weights: Array.from(spread.weights[i], (w) => (w < 0 ? null : w)),
    mask: Array.from(spread.weights[i], (w) => reasonOf(w)),
  })),
});

/** The tokens that have a weight each. @param {Meta} meta @param {View} view @param {Spread} spread */
const shadedOf = (meta, view, spread) => (spread.facing === 'to' ? keysOf : queriesOf)(meta, view);

/** The tokens that are asked about. @param {Meta} meta @param {View} view @param {Spread} spread */
const askedOf = (meta, view, spread) => (spread.facing === 'to' ? queriesOf : keysOf)(meta, view);
