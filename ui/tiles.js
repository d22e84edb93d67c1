// The weights that are on the screen, fetched in squares and kept for a while.

/** @import { HeadRef, Span } from './api.js' */
import * as api from './api.js';
import { living } from './actions.js';
import { ApiError } from './api.js';
import { get, set } from './store.js';

/** The largest square the server gives. */
export const TILE = 512;
const KEPT = 24;

/** @typedef {{span: Span, weights: Float32Array}} Tile */

/** In order of use, oldest first. @type {Map<string, Tile>} */
const tiles = new Map();
/** @type {Map<string, AbortController>} */
const coming = new Map();
/** Asked for in vain; not asked again until someone says so. @type {Set<string>} */
const failed = new Set();

/**
 * The squares that cover a part of the map.
 * @param {Span} part
 * @param {number} rows     of the whole map
 * @param {number} columns
 * @returns {Span[]}
 */
export function covering(part, rows, columns) {
  const spans = [];
  for (let q0 = Math.floor(part.q0 / TILE) * TILE; q0 < part.q1; q0 += TILE) {
    for (let k0 = Math.floor(part.k0 / TILE) * TILE; k0 < part.k1; k0 += TILE) {
      spans.push({ q0, q1: Math.min(q0 + TILE, rows), k0, k1: Math.min(k0 + TILE, columns) });
    }
  }
  return spans;
}

/**
 * The tiles of one head that are here; those that are not are sent for, and what was sent for
 * another head is no longer waited for.
 * @param {HeadRef} ref
 * @param {Span[]} spans
 * @param {boolean} [send]  false: only look what is here
 * @returns {{here: Tile[], complete: boolean}}
 */
export function want(ref, spans, send = true) {
  const names = new Map(spans.map((span) => [nameOf(ref, span), span]));
  if (!send) return { here: [...names.keys()].flatMap((name) => tiles.get(name) ?? []), complete: false };
  for (const [name, controller] of coming) {
    if (names.has(name)) continue;
    controller.abort();
    coming.delete(name);
  }
  const here = [];
  for (const [name, span] of names) {
    const tile = tiles.get(name);
    if (tile) {
      tiles.delete(name);
      tiles.set(name, tile);
      here.push(tile);
    } else if (!coming.has(name) && !failed.has(name)) bring(ref, span, name);
  }
  return { here, complete: here.length === spans.length };
}

/**
 * The weight of one cell, where its tile is here.
 * @param {Tile[]} here
 * @param {number} query
 * @param {number} key
 * @returns {number | null}
 */
export function weightAt(here, query, key) {
  for (const { span, weights } of here) {
    if (query < span.q0 || query >= span.q1 || key < span.k0 || key >= span.k1) continue;
    return weights[(query - span.q0) * (span.k1 - span.k0) + key - span.k0];
  }
  return null;
}

/** Lets everything that failed be asked for again. */
export function retry() {
  failed.clear();
  report(null);
}

/** @param {HeadRef} ref @param {Span} span @param {string} name */
async function bring(ref, span, name) {
  const controller = new AbortController();
  coming.set(name, controller);
  try {
    const weights = await living((now) => api.tile({ ...ref, trace: now.trace }, span, controller.signal));
    if (controller.signal.aborted) return;
    tiles.set(name, { span, weights });
    for (const old of tiles.keys()) {
      if (tiles.size <= KEPT) break;
      tiles.delete(old);
    }
    report(null);
  } catch (error) {
    if (controller.signal.aborted) return;
    failed.add(name);
    report(error instanceof ApiError ? error.message : String(error));
  } finally {
    if (coming.get(name) === controller) coming.delete(name);
  }
}

/** @param {string | null} error */
function report(error) {
  const { tiles: before } = get();
  set({ tiles: { ...before, error, value: (before.value ?? 0) + 1 } });
}

/** @param {HeadRef} ref @param {Span} span */
const nameOf = (ref, span) => [ref.trace, ref.site, ref.layer, ref.head, span.q0, span.k0].join(' ');
