// A damaged trace has numbers that are not finite, and JSON has only null for them. Here they become NaN, so
// that they are shown as what they are and every sum with them is NaN too; null alone would count as 0.

/** @import { Cell, HeadFacts, Row, Values } from './contract.js' */

/** @param {number | null} value */
const number = (value) => value ?? NaN;

/** @param {(number | null)[]} values */
const numbers = (values) => values.map(number);

/** @param {Cell} cell @returns {Cell} */
export const wholeCell = (cell) => ({
  ...cell,
  q: numbers(cell.q),
  k: numbers(cell.k),
  v: numbers(cell.v),
  out: numbers(cell.out),
  products: numbers(cell.products),
  dot: number(cell.dot),
  scale: number(cell.scale),
  scaled: number(cell.scaled),
  weight: number(cell.weight),
  row_sum: number(cell.row_sum),
  share: number(cell.share),
});

/** @param {Row} row @returns {Row} */
export const wholeRow = (row) => ({
  ...row,
  row_sum: number(row.row_sum),
  entropy: number(row.entropy),
  strongest: row.strongest.map((one) => ({ ...one, weight: number(one.weight) })),
});

/** @param {HeadFacts[]} all @returns {HeadFacts[]} */
export const wholeFacts = (all) =>
  all.map((facts) => ({ ...facts, entropy: number(facts.entropy), first: number(facts.first) }));

/** @param {Values} values @returns {Values} */
export const wholeValues = ({ v }) => ({ v: v.map(numbers) });
