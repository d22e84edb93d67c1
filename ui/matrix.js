// A matrix as a table whose entries can be picked. Which rows and columns are marked is the caller's.

/** @import { Term } from './store.js' */
import { h } from './dom.js';
import { num } from './figures.js';
import { together } from './numbers.js';

/**
 * @typedef {object} MatrixLook
 * @property {string} name         Such as Q or W_Q
 * @property {number[][]} values
 * @property {Term | null} term
 * @property {(string | Node)[] | null} columns  Names above the columns
 * @property {string[] | null} notes            What each column means
 * @property {(string | Node)[] | null} rows     Names before the rows
 * @property {number | null} markedRow
 * @property {number | null} markedColumn
 * @property {((row: number, column: number) => void) | null} pick
 */

/** @param {MatrixLook} look */
export function matrix(look) {
  const write = together(look.values.flat());
  const width = look.values[0]?.length ?? 0;
  return h(
    'table',
    { class: `matrix${look.pick ? ' pickable' : ''}`, 'aria-label': `${look.name}, ${look.values.length} by ${width}` },
    h('caption', null, title(look.name, look.term), h('span', { class: 'size' }, `${look.values.length} × ${width}`)),
    look.columns
      ? h(
          'thead',
          null,
          h(
            'tr',
            null,
            look.rows ? h('td', null) : null,
            look.columns.map((name, c) =>
              h('th', { scope: 'col', class: c === look.markedColumn ? 'marked' : '', title: look.notes?.[c] }, name),
            ),
          ),
        )
      : null,
    h(
      'tbody',
      null,
      look.values.map((line, r) =>
        h(
          'tr',
          { class: r === look.markedRow ? 'marked' : '' },
          look.rows ? h('th', { scope: 'row' }, look.rows[r]) : null,
          line.map((value, c) => entry(look, write, value, r, c)),
        ),
      ),
    ),
  );
}

/** @param {MatrixLook} look @param {(v: number) => string} write @param {number} value @param {number} r @param {number} c */
function entry(look, write, value, r, c) {
  const marked = [r === look.markedRow, c === look.markedColumn];
  // In a result only the crossing is meant; in X the row, in W the column.
  const on = look.pick ? marked[0] && marked[1] : marked[0] || marked[1];
  const number = num(value, look.term, write(value));
  // A matrix full of lights points at nothing.
  number.removeAttribute('data-term');
  // The eye should find what is there.
  if (value === 0) number.classList.add('zero');
  const { pick } = look;
  if (!pick) return h('td', { class: on ? 'on' : '' }, number);
  return h(
    'td',
    { class: on ? 'on' : '' },
    h(
      'button',
      {
        type: 'button',
        class: 'entry',
        'data-focus': `${look.name}-${r}-${c}`,
        'data-entry': `${look.name} ${r} ${c}`,
        'aria-pressed': String(on),
        'aria-label': `${look.name} row ${r} column ${c}: ${write(value)}`,
        tabindex: on || (r === 0 && c === 0 && look.markedColumn === null) ? '0' : '-1',
        onclick: () => pick(r, c),
        onkeydown: (event) => walk(/** @type {KeyboardEvent} */ (event), look, r, c),
      },
      number,
    ),
  );
}

/** Arrow keys go from entry to entry. @param {KeyboardEvent} event @param {MatrixLook} look @param {number} r @param {number} c */
function walk(event, look, r, c) {
  const steps = /** @type {Record<string, [number, number]>} */ ({
    ArrowUp: [-1, 0],
    ArrowDown: [1, 0],
    ArrowLeft: [0, -1],
    ArrowRight: [0, 1],
  });
  const step = steps[event.key];
  if (!step || !look.pick) return;
  event.preventDefault();
  event.stopPropagation();
  const to = [r + step[0], c + step[1]];
  if (look.values[to[0]]?.[to[1]] === undefined) return;
  const button = document.querySelector(`[data-entry="${CSS.escape(`${look.name} ${to[0]} ${to[1]}`)}"]`);
  if (button instanceof HTMLElement) button.focus();
  look.pick(to[0], to[1]);
}

/** @param {string} name @param {Term | null} term */
export function title(name, term) {
  const [letter, below] = name.split('_');
  return h(
    'span',
    { class: `matrix-name${term ? ` t-${term}` : ''}`, 'data-term': term },
    letter,
    below ? h('sub', null, below) : null,
  );
}
