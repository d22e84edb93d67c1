// The address is the state: a link shows exactly one cell of one head of one run, or the same view of it.

/** @import { Pattern, Statistic } from './patterns.js' */
/** @import { MapView } from './map-address.js' */
/** @import { Scale } from './scales.js' */
import { EMPTY_MAP, formatMap, parseMap } from './map-address.js';
import { isPattern, isStatistic } from './patterns.js';
import { isScale } from './scales.js';

/** @typedef {'cell' | 'heads' | 'text'} Tab */
/** @typedef {'to' | 'by'} Facing   What a token attends to, or by whom it is attended to. */
/** @typedef {'mean' | 'largest'} Joining  How the shades of several pinned tokens become one. */

/** @typedef {Looks & MapView} View */

/**
 * @typedef {object} Looks   What is being looked at. null: the source's own choice.
 * @property {string | null} source
 * @property {string | null} text
 * @property {boolean | null} causal
 * @property {string} site
 * @property {number} layer
 * @property {number} head
 * @property {number | null} query
 * @property {number | null} key
 * @property {Scale | null} scale
 * @property {Tab} tab
 * @property {Statistic | null} sort         Heads: null is layer by layer
 * @property {boolean} rising                Heads: the smallest first
 * @property {Pattern | null} pattern        Heads: only those that follow it
 * @property {number | null} least           Heads: bounds of the statistic they are sorted by
 * @property {number | null} most
 * @property {readonly number[]} pins        Text: pinned tokens
 * @property {readonly number[] | 'mean' | null} heads  Text: null is the head alone, a list the mean over those
 * @property {Facing} facing                 Text
 * @property {Joining} joining               Text
 */

/** More pins than this cannot be told apart. */
export const MOST_PINS = 12;

/** @type {Readonly<View>} */
export const EMPTY_VIEW = Object.freeze({
  source: null,
  text: null,
  causal: null,
  site: 'self',
  layer: 0,
  head: 0,
  query: null,
  key: null,
  scale: null,
  tab: 'cell',
  sort: null,
  rising: false,
  pattern: null,
  least: null,
  most: null,
  pins: Object.freeze([]),
  heads: null,
  facing: 'to',
  joining: 'mean',
  ...EMPTY_MAP,
});

/**
 * @param {string} hash  `location.hash`, with or without its #
 * @returns {View}
 */
export function parseAddress(hash) {
  const params = new URLSearchParams(hash.replace(/^#/, ''));
  const causal = params.get('causal');
  const scale = params.get('scale');
  const tab = params.get('view');
  const sort = params.get('sort');
  const pattern = params.get('pattern');
  return {
    source: params.get('source'),
    text: params.get('text'),
    causal: causal === '1' ? true : causal === '0' ? false : null,
    site: params.get('site') ?? 'self',
    layer: index(params.get('layer')) ?? 0,
    head: index(params.get('head')) ?? 0,
    query: index(params.get('query')),
    key: index(params.get('key')),
    scale: isScale(scale) ? scale : null,
    tab: tab === 'heads' || tab === 'text' ? tab : 'cell',
    sort: isStatistic(sort) ? sort : null,
    rising: params.get('order') === 'rising',
    pattern: isPattern(pattern) ? pattern : null,
    least: decimal(params.get('least')),
    most: decimal(params.get('most')),
    pins: indices(params.get('pins')).slice(0, MOST_PINS),
    heads: params.get('heads') === 'mean' ? 'mean' : listed(params.get('heads')),
    facing: params.get('facing') === 'by' ? 'by' : 'to',
    joining: params.get('joining') === 'largest' ? 'largest' : 'mean',
    ...parseMap(params),
  };
}

/**
 * @param {View} view
 * @returns {string}  beginning with #
 */
export function formatAddress(view) {
  const params = new URLSearchParams();
  if (view.source !== null) params.set('source', view.source);
  if (view.text !== null) params.set('text', view.text);
  if (view.causal !== null) params.set('causal', view.causal ? '1' : '0');
  if (view.tab !== 'cell') params.set('view', view.tab);
  if (view.site !== 'self') params.set('site', view.site);
  params.set('layer', String(view.layer));
  params.set('head', String(view.head));
  if (view.query !== null) params.set('query', String(view.query));
  if (view.key !== null) params.set('key', String(view.key));
  if (view.scale !== null) params.set('scale', view.scale);
  formatMap(view, params);
  if (view.pattern !== null) params.set('pattern', view.pattern);
  if (view.sort !== null) params.set('sort', view.sort);
  if (view.rising) params.set('order', 'rising');
  if (view.least !== null) params.set('least', String(view.least));
  if (view.most !== null) params.set('most', String(view.most));
  if (view.heads !== null) params.set('heads', view.heads === 'mean' ? 'mean' : view.heads.join('.'));
  if (view.pins.length > 0) params.set('pins', view.pins.join('.'));
  if (view.facing !== 'to') params.set('facing', view.facing);
  if (view.joining !== 'mean') params.set('joining', view.joining);
  return `#${params}`;
}

/** @param {string | null} text @returns {number | null} */
function index(text) {
  return text !== null && /^\d{1,9}$/.test(text) ? Number(text) : null;
}

/** Each once, in the order given. @param {string | null} text @returns {number[]} */
function indices(text) {
  const all = (text ?? '').split('.').map(index);
  return [...new Set(all)].filter((i) => i !== null);
}

/** @param {string | null} text */
function listed(text) {
  const all = indices(text);
  return all.length > 0 ? all : null;
}

/** @param {string | null} text @returns {number | null} */
function decimal(text) {
  const value = text !== null && /^-?\d{1,22}(\.\d{1,22})?(e[+-]?\d{1,3})?$/.test(text) ? Number(text) : null;
  return Number.isFinite(value) ? value : null;
}
