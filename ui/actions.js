// Everything a person can do. Each action changes the view, then asks for what the view now needs.

/** @import { Meta, Row, Site, Source } from './contract.js' */
/** @import { Facing, Joining, Tab, View } from './address.js' */
/** @import { Pattern, Statistic } from './patterns.js' */
/** @import { MapView } from './map-address.js' */
/** @import { Scale } from './scales.js' */
/** @import { HeadRef } from './api.js' */
/** @import { State } from './store.js' */
import * as api from './api.js';
import { ask, drop } from './asking.js';
import { queriesOf } from './axes.js';
import { EMPTY_VIEW, MOST_PINS, parseAddress } from './address.js';
import { forgetGrid, loadGrid } from './heads-loading.js';
import { headsInView } from './heads-picture.js';
import { PATTERNS } from './patterns.js';
import { afterTheMap } from './map-first.js';
import { forgetSpread, loadSpread } from './spread-loading.js';
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
export const chooseSource = (id) => open({ ...EMPTY_VIEW, source: id, tab: get().view.tab });

/** What has been read stays where there is nothing new to read. @param {string} text */
export const chooseText = (text) =>
  text.trim() === '' ? set({ notice: 'There is no text to read. Write a few words, then press Run.' }) : read(text);

/** @param {string} text */
const read = (text) => open({ ...next(), text, query: null, key: null, pins: [] });

/** @param {boolean} causal */
export const chooseMask = (causal) => open({ ...next(), causal });

/** What a choice of source, text or mask changes: what is being opened, or else what is shown. */
const next = () => get().wanted ?? get().view;

/** @param {Scale} scale */
export const chooseScale = (scale) => change({ scale });

/** How the map is drawn, and which part of it. @param {Partial<MapView>} changes */
export const dressMap = (changes) => change(changes);

/** @param {string} site */
export function chooseSite(site) {
  const { trace, view } = get();
  const layer = trace.value?.sites.find((s) => s.site === site)?.layer ?? 0;
  // Pins are words of one text.
  const another = trace.value && queriesOf(trace.value, { site }) !== queriesOf(trace.value, view);
  return move({ site, layer, head: 0, heads: null, ...(another ? { pins: [] } : {}) });
}

/** @param {Tab} tab */
export const chooseTab = (tab) => (get().trace.value ? move({ tab }) : change({ tab }));

/** Opens one head, or one cell of it, in the map. @param {Partial<Pick<View, 'layer' | 'head' | 'query' | 'key'>>} where */
export const openInMap = (where) => move({ ...where, tab: 'cell' });

/** @param {{layer: number, head: number}} where */
export const pointAtHead = (where) => move(where);

/** Goes to the pattern's clearest head. @param {Pattern | null} pattern */
export function choosePattern(pattern) {
  change({ pattern });
  const { trace, view, grid } = get();
  if (!pattern || !trace.value) return;
  const { by, rising } = PATTERNS[pattern];
  const [best] = headsInView(trace.value, { ...view, sort: by, rising, least: null, most: null }, grid.value).chosen;
  if (best) pointAtHead({ layer: best.layer, head: best.head });
}

/** Bounds belong to the statistic they were set for. @param {Statistic | null} sort @param {boolean} [rising] */
export const sortHeads = (sort, rising = false) =>
  change({ sort, rising, ...(sort === get().view.sort ? {} : { least: null, most: null }) });

/** @param {{least?: number | null, most?: number | null}} bounds */
export const boundHeads = (bounds) => change(bounds);

/** One head alone (null), several, or all of the layer, in the text. @param {View['heads']} heads */
export const chooseHeads = (heads) => move({ heads, ...(Array.isArray(heads) ? { head: heads[0] } : {}) });

/** @param {Facing} facing */
export const face = (facing) => move({ facing });

/** @param {Joining} joining */
export const join = (joining) => move({ joining });

/** Pins a token, or lets it go. @param {number} token */
export function pin(token) {
  const { pins } = get().view;
  const without = pins.filter((i) => i !== token);
  return move({ pins: without.length < pins.length ? without : [...pins.slice(0, MOST_PINS - 1), token] });
}

export const unpinAll = () => move({ pins: [] });

/** The token under the pointer or the cursor of the text. @param {number | null} token */
export function pointAtToken(token) {
  if (get().hoverToken === token) return;
  set({ hoverToken: token });
  if (get().view.pins.length === 0) loadSpread();
}

/** @param {number} layer */
export const chooseLayer = (layer) => move({ layer });

/** @param {number} head */
export const chooseHead = (head) => move({ head });

/** @param {Partial<{query: number, key: number}>} spot */
export const choose = (spot) => move(spot);

/** Lets a token ask: its row, and in it the key that it attends to most. @param {number} query */
export function letAsk(query) {
  const { row, trace, view } = get();
  const site = trace.value && siteOf(trace.value, view);
  if (!site || trace.busy) return;
  const asks = clamp(query, site.q_len);
  // The row that is here is not asked for again.
  const here = row.value && sameHead(row.value, view) && row.value.query.index === asks ? row.value : null;
  return move({ query: asks, key: here ? strongest(here) : null });
}

/** @param {{site: string, layer: number, head: number}} a @param {{site: string, layer: number, head: number}} b */
const sameHead = (a, b) => a.site === b.site && a.layer === b.layer && a.head === b.head;

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
 * Opens a run: the one the view names, or the first source. What was shown stays until the run is here, and
 * stays for good where there is none: then what is shown, the address and the command still agree.
 * @param {View} wish
 */
async function open(wish) {
  const sources = get().sources.value ?? [];
  const source = sources.find((s) => s.id === wish.source) ?? sources[0];
  if (!source) return;
  const lost = wish.source !== null && source.id !== wish.source;
  const wanted = lost ? { ...EMPTY_VIEW, source: source.id } : { ...wish, source: source.id };
  if (source.text_fixed) wanted.text = null;
  if (!source.causal_choice) wanted.causal = null;
  const notice = lost ? `This link names a source that is not open here (${wish.source}).` : null;
  // Where nothing is shown yet, the page can already look as it will.
  set({ wanted, notice, ...(get().trace.value ? {} : { view: wanted }) });
  const meta = await ask(
    'trace',
    (signal) => obtain(source, wanted, signal),
    (run) => opened(run, source),
  );
  if (!meta) {
    // Overtaken by another choice, which is now the one waited for.
    if (!get().trace.busy) set({ wanted: null });
    return;
  }
  if (meta.worked) ask('worked', (signal) => api.worked(meta.id, signal));
  await loadView();
}

/**
 * All that changes with a run, to be changed at once: numbers of the run before fit neither its tokens nor its sites.
 * @param {Meta} meta
 * @param {Source} source
 * @returns {Partial<State>}
 */
function opened(meta, source) {
  const { trace, view, wanted, notice } = get();
  const wish = wanted ?? view;
  const settled = settle(meta, wish, source);
  return {
    ...(trace.value && sameRun(trace.value, meta) ? {} : dropped()),
    ...(trace.value?.id === meta.id ? {} : forgotten()),
    ...(meta.worked ? {} : { worked: nothing() }),
    hover: null,
    wanted: null,
    view: settled,
    notice: notice ?? held(wish, settled),
  };
}

/** Everything that was asked of the run before. @returns {Partial<State>} */
function dropped() {
  for (const slice of PARTS) drop(slice);
  return { ...Object.fromEntries(PARTS.map((slice) => [slice, nothing()])), tiles: nothing() };
}

/** What is kept of a run under its id. @returns {Partial<State>} */
function forgotten() {
  asked.clear();
  return { ...forgetGrid(), ...forgetSpread() };
}

/** Whether two answers are of one model and one text. @param {Meta} a @param {Meta} b */
const sameRun = (a, b) =>
  a.source === b.source &&
  a.text === b.text &&
  a.model.name === b.model.name &&
  a.model.sha256 === b.model.sha256 &&
  a.tokens.length === b.tokens.length &&
  a.sites.length === b.sites.length;

/** Says what a link asks for and the run does not have. @param {View} wish @param {View} settled @returns {string | null} */
function held(wish, settled) {
  const other = /** @type {const} */ (['layer', 'head', 'query', 'key']).filter(
    (what) => wish[what] !== null && wish[what] !== settled[what],
  );
  if (other.length === 0) return null;
  const none = other.map((what) => `${what} ${wish[what]}`).join(', no ');
  return `This run has no ${none}: shown is ${other.map((what) => `${what} ${settled[what]}`).join(', ')}.`;
}

/** Gives up the run that is being waited for; what was shown before stays. */
export function stopRun() {
  drop('trace');
  const trace = { ...get().trace, busy: false, error: 'Stopped. Press Run to read the text after all.' };
  set({ trace, wanted: null });
}

/** Asks again for what failed. */
export const tryAgain = () => loadView();

/** @type {('heads' | 'row' | 'cell' | 'column' | 'values' | 'worked')[]} */
const PARTS = ['heads', 'row', 'cell', 'column', 'values', 'worked'];

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
  if (meta.sites.length === 0) throw new api.ApiError('There is nothing to look at: this trace keeps no attention.', 0);
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
    ...settleText(view, site),
  };
}

/** @param {View} view @param {Site} site @returns {Pick<View, 'pins' | 'heads'>} */
function settleText(view, site) {
  const heads = Array.isArray(view.heads) ? view.heads.filter((h) => h < site.q_heads) : view.heads;
  return {
    pins: view.pins.every((i) => i < site.q_len) ? view.pins : view.pins.filter((i) => i < site.q_len),
    heads: Array.isArray(heads) && heads.length === 0 ? null : heads,
  };
}

/**
 * Moves within the run that is open.
 * @param {Partial<View>} changes
 */
async function move(changes) {
  const { view: before, trace, wanted: next } = get();
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
    ...settleText(wanted, site),
  };
  // What was pointed at stays behind on a tab that closes.
  const left = view.tab === before.tab ? {} : { hover: null, hoverHead: null, hoverToken: null };
  set({ view, wanted: next && { ...next, ...changes }, notice: null, ...left });
  await loadView();
}

/** Changes only how what is here is shown. @param {Partial<View>} changes */
function change(changes) {
  const { view, wanted } = get();
  set({ view: { ...view, ...changes }, wanted: wanted && { ...wanted, ...changes } });
}

/** What each slice was last asked for, so that nothing is asked twice. @type {Map<string, string>} */
const asked = new Map();

/**
 * @param {string} slice
 * @param {unknown[]} what
 * @param {() => unknown} load  gives null where there was no answer: then it may be asked for again
 */
async function need(slice, what, load) {
  const name = what.join(' ');
  if (asked.get(slice) === name) return;
  asked.set(slice, name);
  if ((await load()) === null && asked.get(slice) === name) asked.delete(slice);
}

/** Asks for what the tab in view needs and does not have. */
async function loadView() {
  const { tab, site, layer, head, query } = get().view;
  if (tab === 'heads') await loadGrid();
  else if (tab === 'text') await loadSpread();
  else await loadCellView(site, layer, head, query);
}

/** @param {string} site @param {number} layer @param {number} head @param {number | null} query */
async function loadCellView(site, layer, head, query) {
  // What was clicked on first: each question takes the browser a moment to send.
  const cell = get().view.key !== null ? loadCell() : null;
  await Promise.all([
    cell,
    need('row', [site, layer, head, query], loadRow),
    cell && loadColumn(cell),
    need('values', [site, layer, head], loadHead),
    need('heads', [site, layer], loadLayer),
  ]);
}

function loadLayer() {
  const { site, layer } = headRef();
  return ask('heads', async (signal) => {
    await afterTheMap(signal);
    // Someone may have gone elsewhere since.
    return living(({ trace }) => api.heads(trace, site, layer, signal));
  });
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
  const { query } = get().view;
  /** @type {Promise<unknown>[]} */
  let then = [];
  // Without a key it is the strongest of the row. Its cell is asked for before the row is told of, so that both are
  // drawn at one go.
  const along = (/** @type {Row} */ row) => {
    if (get().view.key !== null) return {};
    set({ view: { ...get().view, key: strongest(row) } });
    const cell = loadCell();
    then = [cell, loadColumn(cell)];
    return {};
  };
  const row = await ask('row', (signal) => living((ref) => api.row(ref, query ?? 0, signal)), along);
  await Promise.all(then);
  return row;
}

function loadCell() {
  const { site, layer, head, query, key } = get().view;
  return need('cell', [site, layer, head, query, key], () =>
    ask('cell', (signal) => living((ref) => api.cell(ref, query ?? 0, key ?? 0, signal))),
  );
}

/** The column comes after the cell, which is what was clicked on. @param {Promise<unknown>} cell */
function loadColumn(cell) {
  const { key } = get().view;
  const at = headRef();
  return need('column', [at.site, at.layer, at.head, key], () =>
    ask('column', async (signal) => {
      await cell;
      signal.throwIfAborted();
      // Someone may have gone to another head since.
      return living(({ trace }) => api.column({ ...at, trace }, key ?? 0, signal));
    }),
  );
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
    const { trace, wanted } = get();
    if (wanted) throw error;
    if (trace.value?.id === ref.trace && trace.error !== null) throw new api.ApiError(trace.error, 404);
    return question({ ...ref, trace: headRef().trace });
  }
}

/** @type {Promise<unknown> | null} */
let remaking = null;

/** Several questions may find the run gone at once: it is made once. @param {string} gone */
function remake(gone) {
  const { trace, wanted } = get();
  // While another run is waited for, the one that is shown has had its time.
  if (wanted || trace.value?.id !== gone) return remaking;
  remaking ??= makeAgain(trace.value).finally(() => (remaking = null));
  return remaking;
}

/**
 * The run again, of the very source it was of: a server started anew may have other sources.
 * @param {Meta} before
 */
async function makeAgain(before) {
  const { view, sources } = get();
  const was = sources.value?.find((s) => s.id === view.source);
  const meta = await ask(
    'trace',
    async (signal) => {
      const is = (await api.sources(signal)).find((s) => s.id === view.source);
      if (!was || !is || !alike(was, is)) throw new api.ApiError(GONE, 0);
      const run = await obtain(is, view, signal);
      if (!sameRun(before, run)) throw new api.ApiError(GONE, 0);
      return run;
    },
    (run) => (run.id === before.id ? {} : forgotten()),
  );
  if (meta && meta.id !== before.id) loadView();
}

const GONE =
  'That source is no longer here: the server was started again with others. Reload the page to see which it has now.';

/** @param {Source} a @param {Source} b */
const alike = (a, b) =>
  a.kind === b.kind && a.label === b.label && a.quantisation === b.quantisation && a.name === b.name;

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
