// The page's whole state in one place. Parts of the page watch slices of it and draw them;
// only actions (`actions.js`) and what they open and load change it.

/** @import { Cell, Column, HeadFacts, Meta, Row, Source, Values, Worked } from './contract.js' */
/** @import { View } from './address.js' */
/** @import { Span } from './api.js' */
/** @import { Grid } from './heads-loading.js' */
/** @import { Shown } from './map-shown.js' */
/** @import { Spread } from './spread.js' */
import { EMPTY_VIEW } from './address.js';

/**
 * Something asked of the server. While a new answer is awaited the old one stays, so that
 * nothing flickers; `value` and `error` say what is known now.
 * @template T
 * @typedef {object} Asked
 * @property {boolean} busy
 * @property {number} since      When the question was put, in milliseconds
 * @property {T | null} value
 * @property {string | null} error
 */

/** @typedef {'q' | 'k' | 'v' | 'score' | 'weight'} Term  A quantity with a colour of its own. */
/**
 * A cell; on a map that is zoomed out it stands for a block, once known with the largest weight there.
 * @typedef {{query: number, key: number, block?: Span, weight?: number}} Spot
 */

/**
 * @typedef {object} State
 * @property {Asked<Source[]>} sources
 * @property {View} view                 What is shown
 * @property {View | null} wanted        What is being opened, while its run is waited for
 * @property {Asked<Meta>} trace
 * @property {Asked<HeadFacts[]>} heads   of one layer
 * @property {Asked<Row>} row
 * @property {Asked<Cell>} cell
 * @property {Asked<Column>} column
 * @property {Asked<Grid>} grid           Every head at a glance
 * @property {Asked<Spread>} spread       What the pinned or pointed-at tokens attend to
 * @property {Asked<Values>} values
 * @property {Asked<Worked>} worked
 * @property {Asked<number>} tiles        How many tiles of the map have come
 * @property {Shown | null} shown         What the map shows now
 * @property {Spot | null} hover          The cell under the pointer
 * @property {{layer: number, head: number} | null} hoverHead  The head under the pointer
 * @property {number | null} hoverToken   The token of the text under the pointer
 * @property {Term | null} lit            The quantity being pointed at in a formula
 * @property {string | null} notice       One message about the address
 * @property {'light' | 'dark'} theme
 */

/** @returns {Asked<any>} */
export const nothing = () => ({ busy: false, since: 0, value: null, error: null });

/** @type {State} */
let state = {
  sources: nothing(),
  view: { ...EMPTY_VIEW },
  wanted: null,
  trace: nothing(),
  heads: nothing(),
  row: nothing(),
  cell: nothing(),
  column: nothing(),
  grid: nothing(),
  spread: nothing(),
  values: nothing(),
  worked: nothing(),
  tiles: nothing(),
  shown: null,
  hover: null,
  hoverHead: null,
  hoverToken: null,
  lit: null,
  notice: null,
  theme: 'light',
};

/** Milliseconds that a change waits for answers on their way, so that both are drawn at one go. */
const GRACE = 24;

/** @type {Set<() => void>} */
const watchers = new Set();
let told = true;
/** When the first change was made that was not told yet; 0 where all are told. */
let since = 0;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;

export const get = () => state;

/** Whether answers are on their way that change what is shown of the cell in view. */
export const isAnswerDue = () => state.cell.busy || state.row.busy;

/** @param {Partial<State>} changes */
export function set(changes) {
  state = { ...state, ...changes };
  since ||= performance.now();
  if (!told) return;
  told = false;
  // One telling for all changes made in the same turn.
  queueMicrotask(() => {
    told = true;
    const left = GRACE - (performance.now() - since);
    clearTimeout(timer);
    if (left > 0 && isAnswerDue()) timer = setTimeout(tell, left);
    else tell();
  });
}

function tell() {
  if (since === 0) return;
  since = 0;
  for (const watcher of [...watchers]) {
    // What fails in one part of the page must not keep the others from drawing.
    try {
      watcher();
    } catch (error) {
      console.error(error);
    }
  }
}

/**
 * Calls `draw` now, and again whenever one of the picked values is another one.
 * @template {unknown[]} const T
 * @param {(state: State) => T} pick
 * @param {(...picked: NoInfer<T>) => void} draw
 * @returns {() => void}  stops watching
 */
export function watch(pick, draw) {
  let last = pick(state);
  const watcher = () => {
    const next = pick(state);
    if (next.every((value, i) => Object.is(value, last[i]))) return;
    last = next;
    draw(...next);
  };
  watchers.add(watcher);
  draw(...last);
  return () => watchers.delete(watcher);
}
