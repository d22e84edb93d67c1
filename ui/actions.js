// Everything a person can do. Each action changes the view, then asks for what the view now needs.

/** @import { Meta, Row, Site, Source } from './contract.js' */
/** @import { View } from './address.js' */
/** @import { Scale } from './scales.js' */
/** @import { HeadRef } from './api.js' */
import * as api from './api.js';
import { ask, drop } from './asking.js';
import { EMPTY_VIEW, parseAddress } from './address.js';
import { get, nothing, set } from './store.js';

/** Values are asked for whole, so only up to this many keys. */
export const MOST_VALUES = 512;

/** Runs that the server may still have, by what made them. @type {Map<string, string>} */
const made = new Map();

/** Reads the sources and opens what the address says. */
export async function start() {
  const sources = await ask('sources', api.sources);
  if (sources) await openAddress();
}

/** The address was changed by hand, by a link or by the history. */
export async function openAddress() {
  await open(parseAddress(location.hash));
}

/** @param {string} id */
export const chooseSource = (id) => open({ ...EMPTY_VIEW, source: id });

/** @param {string} text */
export const chooseText = (text) => open({ ...get().view, text, query: null, key: null });

/** @param {boolean} causal */
export const chooseMask = (causal) => open({ ...get().view, causal });

/** @param {Scale} scale */
export const chooseScale = (scale) => set({ view: { ...get().view, scale } });

/** @param {string} site */
export function chooseSite(site) {
  const layer = get().trace.value?.sites.find((s) => s.site === site)?.layer ?? 0;
  return move({ site, layer, head: 0 });
}

/** @param {number} layer */
export const chooseLayer = (layer) => move({ layer });

/** @param {number} head */
export const chooseHead = (head) => move({ head });

/** @param {Partial<{query: number, key: number}>} spot */
export const choose = (spot) => move(spot);

/**
 * A step in one direction, held at the edges.
 * @param {'query' | 'key' | 'head' | 'layer'} what
 * @param {number} by
 */
export function step(what, by) {
  const { view, trace } = get();
  if (trace.value && !trace.busy) move({ [what]: (view[what] ?? 0) + by });
}

/** @param {Theme} theme @typedef {'light' | 'dark'} Theme */
export const chooseTheme = (theme) => set({ theme });

/**
 * Opens a run: the one the view names, or the first source.
 * @param {View} wanted
 */
async function open(wanted) {
  const sources = get().sources.value ?? [];
  const source = sources.find((s) => s.id === wanted.source) ?? sources[0];
  if (!source) return;
  const lost = wanted.source !== null && source.id !== wanted.source;
  const view = lost ? { ...EMPTY_VIEW, source: source.id } : { ...wanted, source: source.id };
  if (source.text_fixed) view.text = null;
  if (!source.causal_choice) view.causal = null;
  const before = get();
  set({ view, notice: lost ? `This link names a source that is not open here (${wanted.source}).` : null });
  if (before.view.source !== source.id) set({ trace: { ...before.trace, error: null } });
  const meta = await ask('trace', (signal) => obtain(source, view, signal));
  if (!meta) return;
  const same = before.trace.value?.source === meta.source && before.trace.value.text === meta.text;
  if (!same) for (const slice of PARTS) drop(slice);
  set({
    ...(same
      ? {}
      : { heads: nothing(), row: nothing(), cell: nothing(), values: nothing(), worked: nothing(), tiles: nothing() }),
    hover: null,
    view: settle(meta, get().view, source),
  });
  if (meta.worked) ask('worked', (signal) => api.worked(meta.id, signal));
  else set({ worked: nothing() });
  await Promise.all([loadLayer(), loadHead(), loadRow()]);
}

/** @type {('heads' | 'row' | 'cell' | 'values' | 'worked')[]} */
const PARTS = ['heads', 'row', 'cell', 'values', 'worked'];

/**
 * The run for a view: the one made before where the server still has it.
 * @param {Source} source
 * @param {View} view
 * @param {AbortSignal} signal
 */
async function obtain(source, view, signal) {
  const text = source.text_fixed ? null : (view.text ?? source.text);
  const wish = { source: source.id, text, causal: source.causal_choice ? (view.causal ?? source.causal) : null };
  const name = JSON.stringify(wish);
  const id = made.get(name);
  const known = id === undefined ? null : await api.trace(id, signal).catch(() => null);
  const meta = known ?? (await api.makeTrace(wish, signal));
  made.set(name, meta.id);
  return meta;
}

/**
 * A view whose every part exists in this run. Without a cell of its own it starts at one worth
 * seeing: on the example, what "it" finds; elsewhere the last token, and below its strongest key.
 * @param {Meta} meta
 * @param {View} view
 * @param {Source} source
 * @returns {View}
 */
function settle(meta, view, source) {
  const site = siteOf(meta, view) ?? meta.sites[0];
  const find = (/** @type {string} */ text) => meta.tokens.findIndex((t) => t.text.trim() === text);
  const story = source.kind === 'example' && find('it') >= 0 && find('robot') >= 0;
  const query = view.query ?? (story ? find('it') : site.q_len - 1);
  const key = view.key ?? (story && view.query === null ? find('robot') : null);
  return {
    ...view,
    site: site.site,
    layer: site.layer,
    head: clamp(view.head, site.q_heads),
    query: clamp(query, site.q_len),
    key: key === null ? null : clamp(key, site.kv_len),
  };
}

/**
 * Moves within the run that is open.
 * @param {Partial<View>} changes
 */
async function move(changes) {
  const { view: before, trace } = get();
  const meta = trace.value;
  if (!meta) return;
  const wanted = { ...before, ...changes };
  const layers = meta.sites.filter((s) => s.site === wanted.site);
  const layer = layers.some((s) => s.layer === wanted.layer) ? wanted.layer : before.layer;
  const site = siteOf(meta, { ...wanted, layer });
  if (!site) return;
  const view = {
    ...wanted,
    layer,
    head: clamp(wanted.head, site.q_heads),
    query: clamp(wanted.query ?? 0, site.q_len),
    key: wanted.key === null ? null : clamp(wanted.key, site.kv_len),
  };
  set({ view, notice: null });
  const newLayer = view.layer !== before.layer || view.site !== before.site;
  const newHead = newLayer || view.head !== before.head;
  const newRow = newHead || view.query !== before.query;
  const newCell = newRow || view.key !== before.key;
  await Promise.all([newLayer && loadLayer(), newHead && loadHead(), newRow ? loadRow() : newCell && loadCell()]);
}

function loadLayer() {
  return ask('heads', (signal) => living((ref) => api.heads(ref.trace, ref.site, ref.layer, signal)));
}

function loadHead() {
  const { trace, view } = get();
  const site = trace.value && siteOf(trace.value, view);
  if (!site || site.kv_len > MOST_VALUES) {
    drop('values');
    return set({ values: nothing() });
  }
  return ask('values', (signal) => living((ref) => api.values(ref, signal)));
}

async function loadRow() {
  const { query, key } = get().view;
  if (key !== null) loadCell();
  const row = await ask('row', (signal) => living((ref) => api.row(ref, query ?? 0, signal)));
  if (!row || get().view.key !== null) return;
  set({ view: { ...get().view, key: strongest(row) } });
  await loadCell();
}

function loadCell() {
  const { query, key } = get().view;
  return ask('cell', (signal) => living((ref) => api.cell(ref, query ?? 0, key ?? 0, signal)));
}

/** @param {Row} row */
const strongest = (row) => row.strongest[0]?.index ?? 0;

/**
 * Asks about the open run; where the server has forgotten it, makes it again first.
 * @template T
 * @param {(ref: HeadRef) => Promise<T>} question
 * @returns {Promise<T>}
 */
export async function living(question) {
  const ref = headRef();
  try {
    return await question(ref);
  } catch (error) {
    if (!(error instanceof api.ApiError) || error.status !== 404) throw error;
    await remake(ref.trace);
    return question({ ...ref, trace: headRef().trace });
  }
}

/** @type {Promise<unknown> | null} */
let remaking = null;

/** Several questions may find the run gone at once: it is made once. @param {string} gone */
function remake(gone) {
  const { trace, view, sources } = get();
  const source = sources.value?.find((s) => s.id === view.source);
  if (!source || trace.value?.id !== gone) return remaking;
  remaking ??= ask('trace', (signal) => obtain(source, view, signal)).finally(() => (remaking = null));
  return remaking;
}

/** @returns {HeadRef} */
export function headRef() {
  const { trace, view } = get();
  return { trace: trace.value?.id ?? '', site: view.site, layer: view.layer, head: view.head };
}

/**
 * @param {Meta} meta
 * @param {{site: string, layer: number}} view
 * @returns {Site | undefined}
 */
export function siteOf(meta, view) {
  return meta.sites.find((s) => s.site === view.site && s.layer === view.layer);
}

/** @param {number} value @param {number} count */
const clamp = (value, count) => Math.max(0, Math.min(count - 1, value));
