// Holds a view to what a run has: sites, layers, heads and tokens that are not there cannot be shown.

/** @import { View } from './address.js' */
/** @import { Meta, Site, Source } from './contract.js' */
import { siteOf } from './axes.js';

/**
 * A view whose every part exists in this run. Without a cell of its own it starts at one worth
 * seeing: on the example, what "it" finds; elsewhere the last token, and below its strongest key.
 * @param {Meta} meta
 * @param {View} view
 * @param {Source} source
 * @returns {View}
 */
export function settle(meta, view, source) {
  const site = siteOf(meta, view) ?? meta.sites[0];
  const find = (/** @type {string} */ text) => meta.tokens.findIndex((t) => t.text.trim() === text);
  const story = source.kind === 'example' && find('it') >= 0 && find('robot') >= 0;
  const query = view.query ?? (story ? find('it') : site.q_len - 1);
  const key = view.key ?? (story && view.query === null ? find('robot') : null);
  return {
    ...view,
    site: site.site,
    layer: site.layer,
    ...within(site, { ...view, query, key }),
  };
}

/**
 * What of a view one attention has, each part held at its edges.
 * @param {Site} site
 * @param {View} view
 * @returns {Pick<View, 'head' | 'query' | 'key' | 'pins' | 'heads'>}
 */
export function within(site, view) {
  const heads = Array.isArray(view.heads) ? view.heads.filter((h) => h < site.q_heads) : view.heads;
  return {
    head: clamp(view.head, site.q_heads),
    query: clamp(view.query ?? 0, site.q_len),
    key: view.key === null ? null : clamp(view.key, site.kv_len),
    pins: view.pins.every((i) => i < site.q_len) ? view.pins : view.pins.filter((i) => i < site.q_len),
    heads: Array.isArray(heads) && heads.length === 0 ? null : heads,
  };
}

/** Says what a link asks for and the run does not have. @param {View} wish @param {View} settled @returns {string | null} */
export function held(wish, settled) {
  const other = /** @type {const} */ (['layer', 'head', 'query', 'key']).filter(
    (what) => wish[what] !== null && wish[what] !== settled[what],
  );
  if (other.length === 0) return null;
  const none = other.map((what) => `${what} ${wish[what]}`).join(', no ');
  return `This run has no ${none}: shown is ${other.map((what) => `${what} ${settled[what]}`).join(', ')}.`;
}

/** @param {number} value @param {number} count */
export const clamp = (value, count) => Math.max(0, Math.min(count - 1, value));
