// The pieces of the map, fetched when they are wanted and kept for a while. Few are asked for at a
// time, in the order in which they are wanted; what is no longer wanted is not waited for.

/** @import { HeadRef } from './api.js' */
/** @import { HiddenReason } from './contract.js' */
/** @import { Plan } from './map-levels.js' */
import * as api from './api.js';
import { ApiError } from './api.js';
import { reasonsIn } from './hidden.js';
import { living } from './living.js';
import { get, set } from './store.js';

/**
 * @typedef {object} Tile
 * @property {string} name
 * @property {string} of          The head
 * @property {Plan} plan
 * @property {Float32Array} most  The weights; where a pixel stands for several, the largest
 * @property {Float32Array} mean  The mean; the same numbers where a pixel is one cell
 * @property {boolean} hides      Some of it is hidden
 * @property {HiddenReason[]} reasons  Why
 */

/** Numbers kept, beside those in sight: 48 MB of them. */
const KEPT = 12 * 2 ** 20;
/** Questions on their way at a time: the server works on each with every core. */
const AT_ONCE = 3;

/** In order of use, oldest first. @type {Map<string, Tile>} */
const tiles = new Map();
let kept = 0;
/** @type {Map<string, AbortController>} */
const coming = new Map();
/** Still to be asked for, in order. @type {{name: string, ref: HeadRef, plan: Plan}[]} */
let queue = [];
/** Asked for in vain; not asked again until someone says so. @type {Set<string>} */
const failed = new Set();

/**
 * The tiles of one head that are here; those that are not are sent for, the first first, and what was
 * sent for before and is not among them is no longer waited for.
 * @param {HeadRef} ref
 * @param {Plan[]} plans
 * @returns {(Tile | undefined)[]}  one for each plan
 */
export function want(ref, plans) {
  const names = plans.map((plan) => nameOf(ref, plan));
  const wanted = new Set(names);
  for (const [name, controller] of coming) {
    if (wanted.has(name)) continue;
    controller.abort();
    coming.delete(name);
  }
  queue = [];
  const here = names.map((name, i) => {
    const tile = tiles.get(name);
    if (!tile && !coming.has(name) && !failed.has(name)) queue.push({ name, ref, plan: plans[i] });
    if (tile) {
      tiles.delete(name);
      tiles.set(name, tile);
    }
    return tile;
  });
  forget(wanted);
  next();
  return here;
}

/** Every tile of a head that is here. @param {HeadRef} ref @returns {Tile[]} */
export function known(ref) {
  const of = headName(ref);
  return [...tiles.values()].filter((tile) => tile.of === of);
}

/**
 * The weight of one cell, where it is here.
 * @param {HeadRef} ref
 * @param {number} query
 * @param {number} key
 * @returns {number | null}
 */
export function weightAt(ref, query, key) {
  for (const { plan, most } of known(ref)) {
    const { level, span, columns } = plan;
    if (level.kind !== 'exact' || query < span.q0 || query >= span.q1 || key < span.k0 || key >= span.k1) continue;
    return most[(query - span.q0) * columns + key - span.k0];
  }
  return null;
}

/** Lets everything that failed be asked for again. */
export function retry() {
  failed.clear();
  report(null);
}

function next() {
  while (coming.size < AT_ONCE && queue.length > 0) {
    const job = queue.shift();
    if (job) bring(job.ref, job.plan, job.name);
  }
}

/** @param {HeadRef} ref @param {Plan} plan @param {string} name */
async function bring(ref, plan, name) {
  const controller = new AbortController();
  coming.set(name, controller);
  try {
    const [most, mean] = await living((now) => numbers({ ...ref, trace: now.trace }, plan, controller.signal));
    if (controller.signal.aborted) return;
    const reasons = reasonsIn(most);
    tiles.set(name, { name, of: headName(ref), plan, most, mean, hides: reasons.length > 0, reasons });
    kept += size(most, mean);
    report(null);
  } catch (error) {
    if (controller.signal.aborted) return;
    failed.add(name);
    report(error instanceof ApiError ? error.message : String(error));
  } finally {
    if (coming.get(name) === controller) coming.delete(name);
    next();
  }
}

/**
 * @param {HeadRef} ref
 * @param {Plan} plan
 * @param {AbortSignal} signal
 * @returns {Promise<[Float32Array, Float32Array]>}
 */
async function numbers(ref, plan, signal) {
  if (plan.level.kind !== 'exact') return api.pooled(ref, plan.span, plan.rows, plan.columns, signal);
  const weights = await api.tile(ref, plan.span, signal);
  return [weights, weights];
}

/** The longest unused go first, those in sight never. @param {Set<string>} wanted */
function forget(wanted) {
  for (const [name, tile] of tiles) {
    if (kept <= KEPT) return;
    if (wanted.has(name)) continue;
    tiles.delete(name);
    kept -= size(tile.most, tile.mean);
  }
}

/** @param {Float32Array} most @param {Float32Array} mean */
const size = (most, mean) => (most === mean ? most.length : 2 * most.length);

/** @param {string | null} error */
function report(error) {
  const { tiles: before } = get();
  set({ tiles: { ...before, error, value: (before.value ?? 0) + 1 } });
}

/** @param {HeadRef} ref */
const headName = (ref) => [ref.trace, ref.site, ref.layer, ref.head].join(' ');
/** @param {HeadRef} ref @param {Plan} plan */
const nameOf = (ref, plan) => `${headName(ref)} ${plan.name}`;
