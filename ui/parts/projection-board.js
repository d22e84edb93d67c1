// Where q, k and v come from: the same tokens X, seen through three matrices. X stands left, a
// matrix stands above its result, so that an entry lies where its row and its column meet.

/** @import { Meta, Worked } from '../contract.js' */
/** @import { View } from '../address.js' */
import { h } from '../dom.js';
import { handMade, named, num, tokenChip, tokenText } from '../figures.js';
import { matrix, title } from '../matrix.js';
import { tidy, together } from '../numbers.js';
import { say } from '../speech.js';
import { get } from '../store.js';
import { spoken } from '../tokens.js';
import { Part } from './part.js';

/** @typedef {'q' | 'k' | 'v'} Which */
/** @typedef {{which: Which, row: number, column: number}} Pick */

/** @type {Record<Which, {asks: string, w: 'w_q' | 'w_k' | 'w_v', dims: 'qk' | 'v'}>} */
const KINDS = {
  q: { asks: 'what a token looks for', w: 'w_q', dims: 'qk' },
  k: { asks: 'what a token can be found by', w: 'w_k', dims: 'qk' },
  v: { asks: 'what a token hands over', w: 'w_v', dims: 'v' },
};

export class ProjectionBoard extends Part {
  /** Chosen by a click; otherwise the query in view chooses. @type {Pick | null} */
  #pick = null;

  begin() {
    this.watchInSight(
      (s) => [s.worked.value, s.trace.value, s.view.query, s.view.key],
      (...now) => this.#draw(now[0], now[1], get().view),
    );
  }

  /** @param {Worked | null} worked @param {Meta | null} meta @param {View} view */
  #draw(worked, meta, view) {
    this.hidden = !worked || !meta;
    if (!worked || !meta) return this.update();
    const pick = this.#pick ?? { which: 'q', row: view.query ?? 0, column: 0 };
    const choose = (/** @type {Pick} */ next) => {
      this.#pick = next;
      this.#draw(worked, meta, get().view);
      const { which, row, column } = next;
      say(
        `${which.toUpperCase()} of ${spoken(meta.tokens[row])}, ${worked.dims[KINDS[which].dims][column]}: ${this.querySelector('.terms')?.textContent}`,
      );
    };
    this.update(
      h('h2', null, 'Three projections of the same tokens'),
      h(
        'p',
        { class: 'lead' },
        'Where do ',
        named('q', 'q'),
        ', ',
        named('k', 'k'),
        ' and ',
        named('v', 'v'),
        ' come from? Every token is a row of X. Three matrices look at the same rows for three purposes. ',
        handMade(),
      ),
      board(worked, meta, pick, choose, view),
      sum(worked, meta, pick),
      meanings(worked),
    );
  }
}

/** @param {Worked} worked @param {Meta} meta @param {Pick} pick @param {(pick: Pick) => void} choose @param {View} view */
function board(worked, meta, pick, choose, view) {
  // The two vectors of the cell in view are rows of Q and K: their names keep the cell's colours.
  const inView = { q: view.query, k: view.key, v: null };
  const tokens = (/** @type {Which | null} */ which) =>
    meta.tokens.map((token, i) =>
      h(
        'span',
        { class: which && inView[which] === i ? `name t-${which}` : null },
        tokenText(token),
        h('sub', null, i),
      ),
    );
  const x = matrix({
    name: 'X',
    values: worked.x,
    term: null,
    columns: worked.dims.x,
    notes: worked.dim_notes.x,
    rows: tokens(null),
    markedRow: pick.row,
    markedColumn: null,
    pick: null,
  });
  /** @type {Node[]} */
  const above = [];
  /** @type {Node[]} */
  const below = [];
  for (const which of /** @type {Which[]} */ (['q', 'k', 'v'])) {
    const kind = KINDS[which];
    const on = pick.which === which;
    const letter = which.toUpperCase();
    above.push(
      h(
        'div',
        { class: `above for-${which}` },
        h('p', { class: 'purpose' }, named(which, letter), ` ${kind.asks}`),
        matrix({
          name: `W_${letter}`,
          values: worked[kind.w],
          term: which,
          columns: worked.dims[kind.dims],
          notes: worked.dim_notes[kind.dims],
          rows: worked.dims.x,
          markedRow: null,
          markedColumn: on ? pick.column : null,
          pick: null,
        }),
      ),
    );
    below.push(
      h(
        'div',
        { class: `below for-${which}` },
        matrix({
          name: letter,
          values: worked[which],
          term: which,
          columns: worked.dims[kind.dims],
          notes: worked.dim_notes[kind.dims],
          rows: tokens(which),
          markedRow: on ? pick.row : null,
          markedColumn: on ? pick.column : null,
          pick: (row, column) => choose({ which, row, column }),
        }),
      ),
    );
  }
  return h(
    'div',
    { class: 'board wide' },
    h(
      'p',
      { class: 'corner' },
      'Click an entry of ',
      title('Q', 'q'),
      ', ',
      title('K', 'k'),
      ' or ',
      title('V', 'v'),
      ' to see the sum behind it.',
    ),
    ...above,
    h('div', { class: 'below for-x' }, x),
    ...below,
  );
}

/** The row times the column, with the numbers. @param {Worked} worked @param {Meta} meta @param {Pick} pick */
function sum(worked, meta, { which, row, column }) {
  const kind = KINDS[which];
  const w = worked[kind.w].map((line) => line[column]);
  const x = worked.x[row];
  const total = worked[which][row][column];
  const [writeX, writeW] = [together(worked.x.flat()), together(worked[kind.w].flat())];
  const letter = which.toUpperCase();
  const terms = x.map((v, i) =>
    h(
      'span',
      { class: `term${v * w[i] === 0 ? ' nil' : ''}`, title: worked.dims.x[i] },
      h('small', null, worked.dims.x[i]),
      h('span', null, num(v, null, writeX(v)), ' × ', num(w[i], which, writeW(w[i]))),
    ),
  );
  return h(
    'div',
    { class: 'sum' },
    h(
      'p',
      null,
      title(letter, which),
      h('sub', null, `${row},${column}`),
      ': ',
      tokenChip(meta.tokens[row], row),
      ' in ',
      h('strong', null, worked.dims[kind.dims][column]),
      `. ${worked.dim_notes[kind.dims][column] ?? ''}`,
    ),
    h(
      'p',
      { class: 'terms' },
      terms.flatMap((term, i) => (i ? [h('span', { class: 'plus' }, '+'), term] : [term])),
      h('span', { class: 'plus' }, '='),
      h('span', { class: 'result' }, num(total, which, tidy(total))),
    ),
  );
}

/** @param {Worked} worked */
function meanings(worked) {
  const list = (/** @type {string} */ name, /** @type {'x' | 'qk' | 'v'} */ of) =>
    h(
      'div',
      null,
      h('h3', { class: 'small-title' }, name),
      h(
        'dl',
        null,
        worked.dims[of].flatMap((dim, i) => [h('dt', null, dim), h('dd', null, worked.dim_notes[of][i])]),
      ),
    );
  return h(
    'details',
    { class: 'meanings all', open: true, 'data-keep': 'meanings' },
    h('summary', null, 'What the dimensions mean'),
    h(
      'div',
      { class: 'columns' },
      list('Of a token (X)', 'x'),
      list('Of queries and keys', 'qk'),
      list('Of values', 'v'),
    ),
  );
}

customElements.define('projection-board', ProjectionBoard);
