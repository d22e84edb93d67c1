// One sample row for each length of a vector: as it is above, divided by the root of the length below.

/** @import { ScalePoint } from '../engine.js' */
import { h, vars } from '../../dom.js';
import { show } from '../../numbers.js';

/** @param {(length: number) => void} choose */
export function rowsByLength(choose) {
  const element = h('ol', { class: 'rows-by-length', 'aria-label': 'One row for each length of a vector' });
  return {
    element,
    /** @param {readonly ScalePoint[]} points @param {number} at  the length that is chosen */
    update(points, at) {
      const held = element.contains(document.activeElement);
      element.replaceChildren(...points.map((point) => h('li', null, column(point, point.d_k === at, choose))));
      const pressed = element.querySelector('[aria-pressed=true]');
      if (held && pressed instanceof HTMLElement) pressed.focus({ preventScroll: true });
    },
  };
}

/** @param {ScalePoint} point @param {boolean} chosen @param {(length: number) => void} choose */
function column({ d_k, row_raw, row_scaled }, chosen, choose) {
  const top = (/** @type {readonly number[]} */ weights) => show(Math.max(...weights));
  return h(
    'button',
    {
      type: 'button',
      'aria-pressed': String(chosen),
      'aria-label': `d = ${d_k}: the largest weight is ${top(row_raw.weights)}, divided ${top(row_scaled.weights)}`,
      onclick: () => choose(d_k),
    },
    little(row_raw.weights, 'as it is'),
    little(row_scaled.weights, 'divided'),
    h('span', { class: 'num' }, d_k.toLocaleString('en')),
  );
}

/** @param {readonly number[]} weights @param {string} name */
const little = (weights, name) =>
  h(
    'span',
    { class: 'columns-figure', title: name },
    weights.map((weight) => vars(h('span', null), { '--full': weight })),
  );
