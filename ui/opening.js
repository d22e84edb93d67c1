// Which run is open: the one of a source, a text and a mask, made by the server where it has none, and the view that it is
// opened with.

/** @import { View } from './address.js' */
/** @import { Meta, Source } from './contract.js' */
/** @import { State } from './store.js' */
import * as api from './api.js';
import { EMPTY_VIEW, parseAddress } from './address.js';
import { ask, drop } from './asking.js';
import { dropCell, forgetCell, loadCellView } from './cell-loading.js';
import { forgetGrid, loadGrid } from './heads-loading.js';
import { held, settle } from './settle.js';
import { forgetSpread, loadSpread } from './spread-loading.js';
import { get, nothing, set } from './store.js';

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

/**
 * Opens a run: the one the view names, or the first source. What was shown stays until the run is here, and
 * stays for good where there is none: then what is shown, the address and the command still agree.
 * @param {View} wish
 */
export async function open(wish) {
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
    ...(trace.value && sameRun(trace.value, meta) ? {} : dropCell()),
    ...(trace.value?.id === meta.id ? {} : forgotten()),
    ...(meta.worked ? {} : { worked: nothing() }),
    hover: null,
    wanted: null,
    view: settled,
    notice: notice ?? held(wish, settled),
  };
}

/** What is kept of a run under its id. @returns {Partial<State>} */
export function forgotten() {
  forgetCell();
  return { ...forgetGrid(), ...forgetSpread() };
}

/** Whether two answers are of one model and one text. @param {Meta} a @param {Meta} b */
export const sameRun = (a, b) =>
  a.source === b.source &&
  a.text === b.text &&
  a.model.name === b.model.name &&
  a.model.sha256 === b.model.sha256 &&
  a.tokens.length === b.tokens.length &&
  a.sites.length === b.sites.length;

/** Gives up the run that is being waited for; what was shown before stays. */
export function stopRun() {
  drop('trace');
  const trace = { ...get().trace, busy: false, error: 'Stopped. Press Run to read the text after all.' };
  set({ trace, wanted: null });
}

/**
 * The run for a view: the one made before where the server still has it.
 * @param {Source} source
 * @param {View} view
 * @param {AbortSignal} signal
 */
export async function obtain(source, view, signal) {
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

/** Asks for what the tab in view needs and does not have. */
export async function loadView() {
  const { tab } = get().view;
  if (tab === 'heads') await loadGrid();
  else if (tab === 'text') await loadSpread();
  else await loadCellView();
}
