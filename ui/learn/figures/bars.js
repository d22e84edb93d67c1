// Tokens down the side, a bar and a number for each. Built once; bars then move.

/** @import { Token } from '../../contract.js' */
/** @import { Term } from '../../store.js' */
import { h, vars } from '../../dom.js';
import { num, tokenText } from '../../figures.js';
import { show } from '../../numbers.js';
import { spoken } from '../../tokens.js';

/**
 * @typedef {object} BarsLook
 * @property {string} label
 * @property {readonly Token[]} tokens
 * @property {Term | null} [term]
 * @property {((index: number) => void) | null} [pick]
 * @property {(index: number) => (Node | null)} [control]  something between the name and the bar
 * @property {Term | 'plain'} [role]  the colour of the chosen name
 */

/**
 * @typedef {object} BarsData
 * @property {readonly (number | null)[]} values  null: hidden
 * @property {readonly number[] | null} [ghosts]  where the bars were
 * @property {number | null} [at]
 * @property {number} [most]                      the value of a full bar
 * @property {(value: number, index: number) => string | Node} [write]
 */

/** @param {BarsLook} look */
export function bars({ label, tokens, term = null, pick = null, control, role = 'k' }) {
  const lines = tokens.map((token, i) => {
    const bar = h('span', { class: 'bar' });
    const ghost = h('span', { class: 'ghost', hidden: true });
    const value = h('span', { class: 'bar-value' });
    const name = h('span', { class: 'tok' }, tokenText(token), h('sub', null, i));
    const line = h(
      'li',
      null,
      pick ? h('button', { type: 'button', class: 'link', onclick: () => pick(i) }, name) : name,
      control?.(i),
      h('span', { class: 'measure', 'aria-hidden': 'true' }, bar, ghost),
      value,
    );
    return { line, bar, ghost, value, name };
  });
  return {
    element: h(
      'ol',
      { class: `bars${term ? ` of-${term}` : ''}${control ? ' with-control' : ''}`, 'aria-label': label },
      lines.map((l) => l.line),
    ),
    /** @param {BarsData} data */
    update({ values, ghosts = null, at = null, most, write }) {
      const full = most ?? Math.max(1e-9, ...values.map((v) => v ?? 0), ...(ghosts ?? []));
      values.forEach((v, i) => {
        const { line, bar, ghost, value, name } = lines[i];
        line.classList.toggle('here', i === at);
        line.classList.toggle('shut', v === null);
        name.classList.toggle(`t-${role}`, i === at);
        vars(bar, { '--full': Math.min(1, (v ?? 0) / full) });
        // An outline only where something has moved.
        ghost.hidden = ghosts === null || (v !== null && Math.abs(ghosts[i] - v) < 0.004 * full);
        vars(ghost, { '--full': Math.min(1, (ghosts?.[i] ?? 0) / full) });
        value.replaceChildren(v === null ? 'hidden' : write ? write(v, i) : num(v, term));
        name.title = `token ${i}: ${spoken(tokens[i])}${v === null ? '' : `, ${show(v)}`}`;
      });
    },
  };
}
