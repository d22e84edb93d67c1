// Everything a person can do. Each action changes the view, then asks for what the view now needs.

/** @import { Facing, Joining, Tab, View } from './address.js' */
/** @import { MapView } from './map-address.js' */
/** @import { Pattern, Statistic } from './patterns.js' */
/** @import { Scale } from './scales.js' */
import { EMPTY_VIEW, MOST_PINS } from './address.js';
import { queriesOf, siteOf } from './axes.js';
import { strongest } from './cell-loading.js';
import { headsInView } from './heads-picture.js';
import { loadView, open } from './opening.js';
import { PATTERNS } from './patterns.js';
import { clamp, within } from './settle.js';
import { loadSpread } from './spread-loading.js';
import { get, set } from './store.js';

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

/** Asks again for what failed. */
export const tryAgain = () => loadView();

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
    ...within(site, wanted),
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
