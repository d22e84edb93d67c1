// Asks for what the tab of a cell needs: the cell, its row and column, the values, and the heads of its layer.

/** @import { Row } from './contract.js' */
/** @import { State } from './store.js' */
import * as api from './api.js';
import { ask, drop } from './asking.js';
import { siteOf } from './axes.js';
import { headRef, living } from './living.js';
import { afterTheMap } from './map-first.js';
import { get, nothing, set } from './store.js';

/** Values are asked for whole, so only up to this many keys. */
export const MOST_VALUES = 512;

/** @type {('heads' | 'row' | 'cell' | 'column' | 'values' | 'worked')[]} */
const PARTS = ['heads', 'row', 'cell', 'column', 'values', 'worked'];

/** Drops all that was asked of the run before. @returns {Partial<State>}  what changes by it */
export function dropCell() {
  for (const slice of PARTS) drop(slice);
  return { ...Object.fromEntries(PARTS.map((slice) => [slice, nothing()])), tiles: nothing() };
}

/** The run has another id: what was asked for under the old one may be asked for again. */
export const forgetCell = () => asked.clear();

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

/** Asks for what is not here yet. */
export async function loadCellView() {
  const { site, layer, head, query } = get().view;
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

/** The key that a row attends to most. @param {Row} row */
export const strongest = (row) => row.strongest[0]?.index ?? 0;
