// The heads in view: which of them, in which order, and which of them are filtered out.

/** @import { Grid } from './heads-loading.js' */
/** @import { HeadFacts, Meta, Site } from './contract.js' */
/** @import { View } from './address.js' */
/** @import { Even } from './patterns.js' */
import { evenAttention, fits, sorted } from './patterns.js';

/**
 * @typedef {object} Heads
 * @property {Site[]} sites
 * @property {HeadFacts[]} all       whose statistics are here
 * @property {HeadFacts[]} chosen    those that pass, in the order asked for
 * @property {boolean} filtered
 * @property {(layer: number) => Even} even
 * @property {(layer: number, head: number) => HeadFacts | null} facts
 * @property {(layer: number, head: number) => boolean} passes
 */

/**
 * @param {Meta} meta
 * @param {View} view
 * @param {Grid | null} grid
 * @returns {Heads}
 */
export function headsInView(meta, view, grid) {
  const sites = meta.sites.filter((s) => s.site === view.site);
  const evens = new Map(sites.map((site) => [site.layer, site]));
  /** @type {Map<string, Even>} */
  const known = new Map();
  // Layers of one shape share the answer.
  const even = (/** @type {number} */ layer) => {
    const site = /** @type {Site} */ (evens.get(layer));
    const shape = JSON.stringify([site.q_len, site.kv_len, site.causal, site.window]);
    const answer = known.get(shape) ?? evenAttention(site);
    known.set(shape, answer);
    return answer;
  };
  const all = grid ? [...grid.facts.values()].flat() : [];
  const byName = new Map(all.map((f) => [`${f.layer} ${f.head}`, f]));
  const facts = (/** @type {number} */ layer, /** @type {number} */ head) => byName.get(`${layer} ${head}`) ?? null;
  const filtered = view.pattern !== null || (view.sort !== null && (view.least !== null || view.most !== null));
  const passing = (/** @type {HeadFacts} */ f) => fits(f, view, even(f.layer));
  return {
    sites,
    all,
    chosen: sorted(all.filter(passing), view.sort, view.rising),
    filtered,
    even,
    facts,
    passes: (layer, head) => {
      const about = facts(layer, head);
      return about ? passing(about) : !filtered;
    },
  };
}
