// Brings the weights behind the text view: rows or columns of the map, one head after another, and keeps
// the last few hundred so that pointing from word to word does not wait.

/** @import { Facing } from './address.js' */
/** @import { State } from './store.js' */
/** @import { Spread, Weights } from './spread.js' */
import * as api from './api.js';
import { ask, drop } from './asking.js';
import { ofTwoTexts, siteOf } from './axes.js';
import { living } from './living.js';
import { meanOfHeads } from './spread.js';
import { get, nothing, set } from './store.js';

/** Numbers kept, over all vectors. */
const KEPT = 1 << 20;

/** @type {Map<string, Weights>} */
const kept = new Map();

/** The tokens asked about: the pinned ones; without pins the one pointed at, or else the one of the cell in view. @param {State} state */
export const subjects = ({ view, hoverToken }) => (view.pins.length > 0 ? view.pins : [hoverToken ?? view.query ?? 0]);

/** The heads that the text view averages over. @param {State['view']} view @returns {readonly number[] | 'mean'} */
export const headsOf = (view) => view.heads ?? [view.head];

/** Another run is open. @returns {Partial<State>} what changes by it */
export function forgetSpread() {
  drop('spread');
  kept.clear();
  wanted = '';
  return { spread: nothing(), hoverToken: null };
}

/** What was asked for last. */
let wanted = '';

/** @returns {Promise<unknown> | void} */
export function loadSpread() {
  const state = get();
  const { view, trace } = state;
  const site = trace.value && siteOf(trace.value, view);
  // The view shades one text.
  if (!trace.value || !site || ofTwoTexts(trace.value, view)) return;
  const tokens = subjects(state);
  const heads = headsOf(view);
  const id = trace.value?.id;
  const name = [id, view.site, view.layer, heads, view.facing, tokens].join(' ');
  if (name === wanted) return;
  wanted = name;
  const length = view.facing === 'to' ? site.kv_len : site.q_len;
  const each = heads === 'mean' ? /** @type {const} */ (['mean']) : heads;
  const of = (/** @type {number | 'mean'} */ head, /** @type {number} */ token) =>
    [id, view.site, view.layer, head, view.facing, token].join(' ');
  const about = { facing: view.facing, layer: view.layer, heads, tokens };
  const here = tokens.map((token) => each.map((head) => kept.get(of(head, token))));
  if (here.every((vectors) => vectors.every((v) => v !== undefined))) {
    drop('spread');
    const weights = here.map((vectors) => meanOfHeads(/** @type {Weights[]} */ (vectors)));
    return set({ spread: { busy: false, since: 0, error: null, value: { ...about, weights } } });
  }
  return ask('spread', async (signal) => {
    const vectors = (/** @type {number} */ token) =>
      Promise.all(
        each.map(async (head) => {
          const known = kept.get(of(head, token));
          if (known) return known;
          const got = await living((ref) => api.tile({ ...ref, head }, spanOf(view.facing, token, length), signal));
          keep(of(head, token), got);
          return got;
        }),
      );
    const all = await Promise.all(tokens.map(vectors)).catch((error) => {
      // It may be asked for again.
      if (wanted === name) wanted = '';
      throw error;
    });
    return /** @type {Spread} */ ({ ...about, weights: all.map(meanOfHeads) });
  });
}

/** @param {Facing} facing @param {number} token @param {number} length */
const spanOf = (facing, token, length) =>
  facing === 'to' ? { q0: token, q1: token + 1, k0: 0, k1: length } : { q0: 0, q1: length, k0: token, k1: token + 1 };

/** @param {string} name @param {Weights} weights */
function keep(name, weights) {
  kept.set(name, weights);
  let sum = 0;
  for (const vector of kept.values()) sum += vector.length;
  for (const [old, vector] of kept) {
    if (sum <= KEPT) break;
    kept.delete(old);
    sum -= vector.length;
  }
}
