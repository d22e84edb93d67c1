// Every head of the model, layer by layer: first their pictures, then their statistics. On a long text
// this takes a while, so it says how far it is and can be stopped and gone on with.

/** @import { Thumbs } from './api.js' */
/** @import { HeadFacts, Meta } from './contract.js' */
import * as api from './api.js';
import { ApiError } from './api.js';
import { living } from './living.js';
import { get, nothing, set } from './store.js';

/**
 * @typedef {object} Grid
 * @property {string} of                       The run and the site
 * @property {number[]} layers
 * @property {Map<number, Thumbs>} thumbs      by layer, those that are here
 * @property {Map<number, HeadFacts[]>} facts
 * @property {boolean} stopped                 by a person, or by a failure
 */

/** Pixels of a picture; more would not be seen. @param {Meta} meta @param {string} site */
function sizeFor(meta, site) {
  const heads = meta.sites.filter((s) => s.site === site).reduce((sum, s) => sum + s.q_heads, 0);
  return heads > 150 ? 44 : 64;
}

/** Layers asked for at a time: while the page reads one, the server works on the next. */
const AT_ONCE = 2;

/** Milliseconds between two pictures of what has come. */
const PATIENCE = 120;

/** @param {Meta} meta @param {string} site */
const nameOf = (meta, site) => JSON.stringify([meta.id, site]);

/** @type {AbortController | null} */
let running = null;

/** Loads what is missing of the open run; what is here or coming is left alone. */
export async function loadGrid() {
  const { trace, view, grid } = get();
  const meta = trace.value;
  if (!meta) return;
  const of = nameOf(meta, view.site);
  const same = grid.value?.of === of;
  if (same && (grid.busy || grid.value?.stopped || complete(grid.value))) return;
  await fill(meta, view.site, of);
}

/** Goes on where it was stopped. */
export async function continueGrid() {
  const { trace, view } = get();
  if (trace.value) await fill(trace.value, view.site, nameOf(trace.value, view.site));
}

export function stopGrid() {
  const { grid } = get();
  running?.abort();
  if (grid.busy && grid.value) set({ grid: { ...grid, busy: false, value: { ...grid.value, stopped: true } } });
}

/**
 * Another run is open: forget the heads of the one before.
 * @returns {Partial<import('./store.js').State>}  what changes by it
 */
export function forgetGrid() {
  running?.abort();
  return { grid: nothing(), hoverHead: null };
}

/** @param {Grid | null} grid */
export const complete = (grid) =>
  grid !== null && grid.thumbs.size === grid.layers.length && grid.facts.size === grid.layers.length;

/**
 * @param {Meta} meta
 * @param {string} site
 * @param {string} of
 */
async function fill(meta, site, of) {
  running?.abort();
  const controller = new AbortController();
  const { signal } = controller;
  running = controller;
  const before = get().grid.value;
  const kept = before?.of === of ? before : null;
  const layers = meta.sites.filter((s) => s.site === site).map((s) => s.layer);
  const size = sizeFor(meta, site);
  /** @type {Grid} */
  let grid = { of, layers, thumbs: kept?.thumbs ?? new Map(), facts: kept?.facts ?? new Map(), stopped: false };
  let timer = 0;
  const tell = (/** @type {Partial<import('./store.js').Asked<Grid>>} */ more = {}) => {
    clearTimeout(timer);
    timer = 0;
    if (running === controller && !signal.aborted) set({ grid: { ...get().grid, value: grid, ...more } });
  };
  // Quick layers are shown several at a time.
  const tellSoon = () => (timer ||= window.setTimeout(tell, PATIENCE));
  tell({ busy: true, since: performance.now(), error: null });
  try {
    const missing = (/** @type {Map<number, unknown>} */ here) => layers.filter((l) => !here.has(l));
    await inTurn(missing(grid.thumbs), async (layer) => {
      const thumbs = await living(({ trace }) => api.thumbs(trace, site, layer, size, signal));
      grid = { ...grid, thumbs: new Map(grid.thumbs).set(layer, thumbs) };
      if (grid.thumbs.size === layers.length) tell();
      else tellSoon();
    });
    await inTurn(missing(grid.facts), async (layer) => {
      const facts = await living(({ trace }) => api.heads(trace, site, layer, signal));
      grid = { ...grid, facts: new Map(grid.facts).set(layer, facts) };
      tellSoon();
    });
    tell({ busy: false });
  } catch (error) {
    if (signal.aborted) return;
    if (!(error instanceof ApiError)) console.error(error);
    grid = { ...grid, stopped: true };
    tell({ busy: false, error: error instanceof Error ? error.message : String(error) });
    controller.abort();
  }
}

/** @param {number[]} layers @param {(layer: number) => Promise<void>} load */
async function inTurn(layers, load) {
  const left = [...layers];
  const work = async () => {
    for (let layer = left.shift(); layer !== undefined; layer = left.shift()) await load(layer);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}
