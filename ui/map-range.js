// The largest weight of a head outside the columns that are left out: where its scale ends.

/** @import { HeadRef } from './api.js' */
import * as api from './api.js';
import { living } from './living.js';
import { between } from './map-left-out.js';
import { get, set } from './store.js';

/** @type {Map<string, number>} */
const known = new Map();
/** The one question that is open. @type {{name: string, controller: AbortController} | null} */
let asked = null;

/**
 * @param {HeadRef} ref
 * @param {{rows: number, columns: number}} map
 * @param {number[]} leftOut
 * @returns {number | null}  null while it is asked for
 */
export function largest(ref, map, leftOut) {
  const name = [ref.trace, ref.site, ref.layer, ref.head, leftOut.join('-')].join(' ');
  const top = known.get(name);
  if (top !== undefined) return top;
  if (asked?.name !== name) ask(name, ref, map, leftOut);
  return null;
}

/** @param {string} name @param {HeadRef} ref @param {{rows: number, columns: number}} map @param {number[]} leftOut */
async function ask(name, ref, map, leftOut) {
  asked?.controller.abort();
  const controller = new AbortController();
  asked = { name, controller };
  try {
    let top = 0;
    for (const [k0, k1] of between(leftOut, map.columns)) {
      const span = { q0: 0, q1: map.rows, k0, k1 };
      // Several rows, because the server gives each to a thread of its own.
      const [most] = await living((now) =>
        api.pooled({ ...ref, trace: now.trace }, span, Math.min(64, map.rows), 1, controller.signal),
      );
      for (const weight of most) if (weight > top) top = weight;
    }
    if (known.size > 500) known.clear();
    known.set(name, top);
  } catch (error) {
    // The map's own questions say what is wrong; the scale then stays as it was.
    if (controller.signal.aborted || error instanceof api.ApiError) return;
    throw error;
  }
  const { tiles } = get();
  set({ tiles: { ...tiles, value: (tiles.value ?? 0) + 1 } });
}
