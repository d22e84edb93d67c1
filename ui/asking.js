// One question at a time for each slice of the state. A newer question makes an older one stale:
// it is aborted, and if its answer still comes it is ignored.

/** @import { Asked, State } from './store.js' */
import { ApiError } from './api.js';
import { get, set } from './store.js';

/** @typedef {{[K in keyof State]: State[K] extends Asked<any> ? K : never}[keyof State]} Slice */

/** Of these the old answer stays where a new one fails: what is shown is still of them. @type {Set<Slice>} */
const KEPT = new Set(/** @type {Slice[]} */ (['sources', 'trace', 'worked']));

/** @type {Map<Slice, AbortController>} */
const running = new Map();

/**
 * Puts a question and files the answer under `slice`.
 * @template T
 * @param {Slice} slice
 * @param {(signal: AbortSignal) => Promise<T>} question
 * @param {(value: T) => Partial<State>} [along]  what changes in the same moment as the answer
 * @returns {Promise<T | null>}  null where it failed or a newer question overtook it
 */
export async function ask(slice, question, along) {
  drop(slice);
  const controller = new AbortController();
  running.set(slice, controller);
  file(slice, { busy: true, since: performance.now(), error: null });
  try {
    const value = await question(controller.signal);
    if (controller.signal.aborted) return null;
    file(slice, { busy: false, value, error: null }, along?.(value));
    return value;
  } catch (error) {
    if (controller.signal.aborted) return null;
    if (!(error instanceof ApiError)) console.error(error);
    const old = KEPT.has(slice) ? {} : { value: null };
    file(slice, { busy: false, ...old, error: error instanceof Error ? error.message : String(error) });
    return null;
  }
}

/**
 * Forgets a question that is still open.
 * @param {Slice} slice
 */
export function drop(slice) {
  running.get(slice)?.abort();
  running.delete(slice);
}

/**
 * @param {Slice} slice
 * @param {Partial<Asked<any>>} changes
 * @param {Partial<State>} [more]
 */
function file(slice, changes, more) {
  set({ [slice]: { ...get()[slice], ...changes }, ...more });
}
