// A cell and a row are asked for apart, and one may be there before the other.

/** @import { Cell, Row } from './contract.js' */

/** @param {Cell} cell @param {Row} row */
export const sameRow = (cell, row) =>
  row.query.index === cell.query.index &&
  row.layer === cell.layer &&
  row.head === cell.head &&
  row.site === cell.site &&
  row.weights.length > cell.key.index;
