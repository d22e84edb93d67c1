// MathML made from numbers: the formula with this cell's values put in.

/** @import { Term } from './store.js' */
import { h, m } from './dom.js';
import { show } from './numbers.js';

/** @typedef {Element} MathNode */

/** @param {string} name @param {Term | null} [term] */
export const sym = (name, term = null) => m('mi', dress(term), name);

/** @param {string} name @param {Term | null} [term] A vector: upright and bold. */
export const vec = (name, term = null) =>
  m('mi', { ...dress(term), mathvariant: 'normal', class: `vec${term ? ` t-${term}` : ''}` }, name);

/** @param {number | null} value @param {Term | null} [term] @param {string} [text] as it is to be written */
export const val = (value, term = null, text = show(value)) => m('mn', dress(term), text);

/** @param {string} sign */
export const op = (sign) => m('mo', null, sign);

/** @param {...MathNode} parts */
export const group = (...parts) => m('mrow', null, ...parts);

/** @param {MathNode} base @param {MathNode} below */
export const sub = (base, below) => m('msub', null, base, below);

/** @param {MathNode} top @param {MathNode} bottom */
export const over = (top, bottom) => m('mfrac', null, top, bottom);

/** @param {MathNode} inner */
export const root = (inner) => m('msqrt', null, inner);

/** @param {string} name @param {...MathNode} inside A function of one thing, with its brackets. */
export const call = (name, ...inside) =>
  m('mrow', null, m('mi', { mathvariant: 'normal' }, name), m('mo', null, '('), ...inside, m('mo', null, ')'));

/** @param {number | null} value @param {Term | null} [term] A value that may be negative, after an operator. */
export const fenced = (value, term = null) =>
  value !== null && value < 0 ? group(op('('), val(value, term), op(')')) : val(value, term);

/**
 * A line of equalities. MathML does not break lines, so that each side of a `=` is an element of
 * its own, and a narrow page can put it on the next line.
 * @param {string} label  said by screen readers
 * @param {...MathNode} parts
 */
export function math(label, ...parts) {
  /** @type {MathNode[][]} */
  const sides = [[]];
  for (const part of parts) {
    if (part.localName === 'mo' && part.textContent === '=') sides.push([]);
    /** @type {MathNode[]} */ (sides.at(-1)).push(part);
  }
  return h(
    'p',
    { class: 'formula', role: 'math', 'aria-label': label },
    sides.flatMap((side) => [m('math', { displaystyle: 'true' }, m('mrow', null, ...side)), h('wbr')]),
  );
}

/** @param {Term | null} term */
function dress(term) {
  return term ? { class: `t-${term}`, 'data-term': term } : null;
}
