// Maps in blocks, as the server pools them: the largest and the mean weight of each block.

import { rowOf } from './stand-in-runs.mjs';

const CODES = ['future', 'outside_window', 'padding', 'other_segment', 'knocked_out'];

/** Rows as a tile has them, kept because pooling asks for each many times. @type {Map<string, Float32Array>} */
const known = new Map();

/** @param {import('./stand-in-runs.mjs').Run} run @param {number} layer @param {number} head @param {number} i */
function coded(run, layer, head, i) {
  const name = `${run.id} ${layer} ${head} ${i}`;
  const there = known.get(name);
  if (there) return there;
  const row = rowOf(run, layer, head, i);
  const made = Float32Array.from(row.mask, (why, j) => (why ? -1 - CODES.indexOf(why) : row.weights[j]));
  if (known.size > 4000) known.clear();
  known.set(name, made);
  return made;
}

/** The `i`-th of `parts` nearly equal parts of a range begins here. @param {number} from @param {number} to @param {number} i @param {number} parts */
const cut = (from, to, i, parts) => from + Math.floor((i * (to - from)) / parts);

/**
 * @param {import('./stand-in-runs.mjs').Run} run
 * @param {number} layer
 * @param {number} head
 * @param {URLSearchParams} params
 * @returns {Buffer}
 */
export function pooled(run, layer, head, params) {
  const n = (/** @type {string} */ name) => Number(params.get(name));
  const [q0, q1, k0, k1] = ['q0', 'q1', 'k0', 'k1'].map(n);
  if (!(n('rows') >= 1 && n('rows') <= 1024 && n('columns') >= 1 && n('columns') <= 1024))
    throw Object.assign(new Error('rows and columns must be 1 to 1024'), { status: 400 });
  const [rows, columns] = [Math.min(n('rows'), q1 - q0), Math.min(n('columns'), k1 - k0)];
  const bytes = Buffer.alloc(8 + 8 * rows * columns);
  bytes.writeUInt32LE(rows, 0);
  bytes.writeUInt32LE(columns, 4);
  for (let r = 0; r < rows; r++) {
    const lines = [];
    for (let i = cut(q0, q1, r, rows); i < cut(q0, q1, r + 1, rows); i++) lines.push(coded(run, layer, head, i));
    for (let c = 0; c < columns; c++) {
      const [from, to] = [cut(k0, k1, c, columns), cut(k0, k1, c + 1, columns)];
      let [most, sum, count] = [0, 0, 0];
      for (const line of lines)
        for (let j = from; j < to; j++)
          if (line[j] >= 0) [most, sum, count] = [Math.max(most, line[j]), sum + line[j], count + 1];
      const at = 8 + 4 * (r * columns + c);
      bytes.writeFloatLE(count ? most : lines[0][from], at);
      bytes.writeFloatLE(count ? sum / count : lines[0][from], at + 4 * rows * columns);
    }
  }
  return bytes;
}
