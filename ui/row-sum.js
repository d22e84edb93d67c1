// What a row shares out: 1, over its keys and the head's sink.

/** @import { Row } from './contract.js' */

/** More than this is no rounding, whatever the numbers were kept in. */
const ROUNDING = 1e-3;

/** @param {Pick<Row, 'row_sum' | 'sink'>} row */
export const shared = ({ row_sum, sink }) => row_sum + (sink ?? 0);

/** Whether the weights sum to 1, or the row sees nothing. @param {Pick<Row, 'row_sum' | 'sink' | 'visible'>} row */
export const fitsLse = (row) =>
  (row.visible === 0 && row.sink === null) || Math.abs(shared(row) - 1) <= ROUNDING;

/**
 * The number of keys over which a row with the same entropy would be spread evenly. Where a sink takes a part,
 * it is that of the rest, made to sum to 1; null for a row that gives nothing to any key.
 * @param {number} entropy  of the weights as they are, in nats
 * @param {number} sum      of the weights
 */
export const effectiveNumber = (entropy, sum) => (sum === 0 ? null : Math.exp(entropy / sum + Math.log(sum)));
