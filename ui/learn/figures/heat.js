// A small map as a table of buttons: queries down, keys across. It is built once and then only
// recoloured, so that it keeps the focus and can follow a drag.

/** @import { Token } from '../../contract.js' */
import { h, vars } from '../../dom.js';
import { tokenText } from '../../figures.js';
import { show } from '../../numbers.js';
import { css, inkOn, rampAt } from '../../palette.js';
import { get } from '../../store.js';
import { spoken } from '../../tokens.js';

/**
 * @typedef {object} HeatLook
 * @property {string} label
 * @property {readonly Token[]} rows
 * @property {readonly Token[]} columns
 * @property {(row: number, column: number) => void} pick
 * @property {(row: number, column: number) => void} [point]  the pointer rests on a cell
 * @property {boolean} [names]  names on both sides (the default)
 */

/**
 * @typedef {object} HeatData
 * @property {number[][]} values
 * @property {'weight' | 'score'} kind
 * @property {(row: number, column: number) => boolean} [hidden]
 * @property {{row: number, column: number}} at
 */

/** @param {HeatLook} look */
export function heat({ label, rows, columns, pick, point, names = true }) {
  let at = { row: 0, column: 0 };
  const cells = rows.map((_, r) =>
    columns.map((__, c) =>
      h('button', {
        type: 'button',
        class: 'heat-cell',
        tabindex: -1,
        onclick: () => pick(r, c),
        onpointerenter: point ? () => point(r, c) : null,
        onkeydown: (event) => walk(/** @type {KeyboardEvent} */ (event), r, c),
      }),
    ),
  );
  const heads = columns.map((token, c) =>
    h('th', { scope: 'col' }, h('span', { class: 'heat-name' }, tokenText(token), h('sub', null, c))),
  );
  const sides = rows.map((token, r) => h('th', { scope: 'row' }, tokenText(token), h('sub', null, r)));
  const element = h(
    'table',
    { class: 'heat', 'aria-label': label },
    names ? h('thead', null, h('tr', null, h('td', null), heads)) : null,
    h(
      'tbody',
      null,
      cells.map((line, r) =>
        h(
          'tr',
          null,
          names ? sides[r] : null,
          line.map((cell) => h('td', null, cell)),
        ),
      ),
    ),
  );

  /** @param {KeyboardEvent} event @param {number} r @param {number} c */
  function walk(event, r, c) {
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (!step) return;
    event.preventDefault();
    const next = cells[r + step[0]]?.[c + step[1]];
    if (!next) return;
    pick(r + step[0], c + step[1]);
    next.focus();
  }

  return {
    element,
    /** @param {HeatData} data */
    update({ values, kind, hidden, at: now }) {
      cells[at.row][at.column].tabIndex = -1;
      at = now;
      cells[at.row][at.column].tabIndex = 0;
      const most = Math.max(1e-9, ...values.flat().map(Math.abs));
      cells.forEach((line, r) =>
        line.forEach((cell, c) => {
          const shut = hidden?.(r, c) ?? false;
          const value = values[r][c];
          cell.classList.toggle('shut', shut);
          cell.classList.toggle('chosen', r === at.row && c === at.column);
          cell.classList.toggle('in-row', r === at.row && c !== at.column);
          cell.classList.toggle('in-column', r !== at.row && c === at.column);
          cell.textContent = shut ? '' : short(value, kind);
          paint(cell, shut ? null : value, kind, most);
          cell.setAttribute(
            'aria-label',
            `${spoken(rows[r])} ${r}, ${spoken(columns[c])} ${c}: ${shut ? 'hidden' : show(value)}`,
          );
        }),
      );
      heads.forEach((head, c) => head.classList.toggle('t-k', c === at.column));
      sides.forEach((side, r) => side.classList.toggle('t-q', r === at.row));
    },
  };
}

/** @param {number} value @param {'weight' | 'score'} kind */
function short(value, kind) {
  if (kind === 'weight') return value >= 0.995 ? '1.0' : value.toFixed(2).slice(1);
  const text = Math.abs(value) >= 10 ? value.toFixed(0) : value.toFixed(1);
  return Number(text) === 0 ? '0' : text.replace('-', '−');
}

/** @param {HTMLElement} cell @param {number | null} value @param {'weight' | 'score'} kind @param {number} most */
function paint(cell, value, kind, most) {
  if (value === null) return vars(cell, { '--ground': 'transparent', '--figure': 'inherit' });
  if (kind === 'weight') {
    const colour = rampAt(get().theme, value);
    return vars(cell, { '--ground': css(colour), '--figure': inkOn(colour) });
  }
  const [hue, share, ink] = shade(value, Math.abs(value) / most);
  return vars(cell, {
    '--ground': `color-mix(in oklab, var(${hue}) ${share}%, var(--card))`,
    '--figure': `var(${ink})`,
  });
}

/**
 * How strongly a score is coloured, and the ink that can be read on it. In the middle of the ramp
 * neither ink could be read, so it is leapt over.
 * @param {number} value
 * @param {number} size  0 to 1
 * @returns {[string, number, string]}
 */
function shade(value, size) {
  if (value < 0) return ['--line-strong', Math.round(90 * size), '--ink'];
  const [turn, leap] = get().theme === 'dark' ? [0.55, 74] : [0.72, 88];
  const below = (leap - 26) * (size / turn);
  return size < turn
    ? ['--score', Math.round(below), '--ink']
    : ['--score', Math.round(leap + ((size - turn) / (1 - turn)) * (100 - leap)), '--page'];
}
