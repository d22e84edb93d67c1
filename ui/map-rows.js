// What a scale of rows needs to know of each row: its largest weight, or its ranks. A row is only
// known when all of it is here. Ranking sorts whole rows, so it is done in short turns.

/** @import { Tile } from './tiles.js' */
import { share } from './map-levels.js';
import { touches } from './map-left-out.js';
import { cutsOf } from './scales.js';
import { get, set } from './store.js';

/** For every row of a tile its largest weight, or 255 cuts. @typedef {{of: string, numbers: Float32Array}} Rows */

/** Milliseconds of one turn. */
const TURN = 6;
/** Rows of tiles kept. */
const KEPT = 24;

/** @type {Map<string, Rows>} */
const known = new Map();
/** @type {Map<string, Generator<void, Float32Array>>} */
const working = new Map();

/**
 * What is known of the rows of tiles that stand side by side, or null while it is worked out.
 * @param {Tile[]} tiles   all of one row of tiles
 * @param {'row' | 'rank'} scale
 * @param {'most' | 'mean'} pooling
 * @param {number[]} leftOut
 * @returns {Rows | null}
 */
export function rowsOf(tiles, scale, pooling, leftOut) {
  const of = `${scale} ${pooling} ${leftOut.join('-')} ${tiles[0].name}`;
  const there = known.get(of);
  if (there) return there;
  if (!working.has(of)) {
    if (working.size === 0) setTimeout(turn);
    working.set(of, measured(tiles, scale, pooling, leftOut));
  }
  return null;
}

function turn() {
  const end = performance.now() + TURN;
  for (const [of, work] of working) {
    for (;;) {
      const step = work.next();
      if (step.done) {
        known.set(of, { of, numbers: step.value });
        working.delete(of);
        for (const old of known.keys()) {
          if (known.size <= KEPT) break;
          known.delete(old);
        }
        const { tiles } = get();
        set({ tiles: { ...tiles, value: (tiles.value ?? 0) + 1 } });
        break;
      }
      if (performance.now() > end) return void setTimeout(turn);
    }
  }
}

/**
 * @param {Tile[]} tiles
 * @param {'row' | 'rank'} scale
 * @param {'most' | 'mean'} pooling
 * @param {number[]} leftOut
 * @returns {Generator<void, Float32Array>}
 */
function* measured(tiles, scale, pooling, leftOut) {
  const { rows } = tiles[0].plan;
  const out = new Float32Array(scale === 'row' ? rows : 255 * rows);
  const counted = tiles.map(({ plan: { span, columns } }) =>
    Array.from({ length: columns }, (_, c) => c).filter((c) => {
      const [from, to] = share(span.k0, span.k1, c, columns);
      return !touches(leftOut, from, to);
    }),
  );
  const row = new Float32Array(counted.reduce((sum, columns) => sum + columns.length, 0));
  for (let r = 0; r < rows; r++) {
    let n = 0;
    tiles.forEach((tile, t) => {
      const from = r * tile.plan.columns;
      const weights = tile[pooling];
      for (const c of counted[t]) {
        const weight = weights[from + c];
        if (weight >= 0) row[n++] = weight;
      }
    });
    const visible = row.subarray(0, n);
    if (scale === 'row') {
      let top = 0;
      for (const weight of visible) if (weight > top) top = weight;
      out[r] = top;
    } else cutsOf(visible.sort(), out.subarray(255 * r, 255 * (r + 1)));
    if (scale === 'rank' || r % 64 === 63) yield;
  }
  return out;
}
