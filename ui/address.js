// The address is the state: a link shows exactly one cell of one head of one run.

/** @import { Scale } from './scales.js' */
import { isScale } from './scales.js';

/**
 * @typedef {object} View   What is being looked at. null: the source's own choice.
 * @property {string | null} source
 * @property {string | null} text
 * @property {boolean | null} causal
 * @property {string} site
 * @property {number} layer
 * @property {number} head
 * @property {number | null} query
 * @property {number | null} key
 * @property {Scale | null} scale
 */

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
});

/**
 * @param {string} hash  `location.hash`, with or without its #
 * @returns {View}
 */
export function parseAddress(hash) {
  const params = new URLSearchParams(hash.replace(/^#/, ''));
  const causal = params.get('causal');
  const scale = params.get('scale');
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
  if (view.site !== 'self') params.set('site', view.site);
  params.set('layer', String(view.layer));
  params.set('head', String(view.head));
  if (view.query !== null) params.set('query', String(view.query));
  if (view.key !== null) params.set('key', String(view.key));
  if (view.scale !== null) params.set('scale', view.scale);
  return `#${params}`;
}

/** @param {string | null} text @returns {number | null} */
function index(text) {
  return text !== null && /^\d{1,9}$/.test(text) ? Number(text) : null;
}
