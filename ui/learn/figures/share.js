// A row of weights without names, as columns from 0 to 1.

import { h, vars } from '../../dom.js';
import { show } from '../../numbers.js';

/** @param {string} name */
export function share(name) {
  const columns = h('div', { class: 'columns-figure', role: 'img' });
  return {
    element: h('div', { class: 'share' }, h('p', { class: 'label' }, name), columns),
    /** @param {readonly number[]} weights */
    update(weights) {
      columns.setAttribute(
        'aria-label',
        `${name}: the largest of ${weights.length} weights is ${show(Math.max(...weights))}`,
      );
      while (columns.children.length > weights.length) columns.lastChild?.remove();
      while (columns.children.length < weights.length) columns.append(h('span', null));
      weights.forEach((w, i) =>
        vars(/** @type {HTMLElement} */ (columns.children[i]), { '--full': w }).setAttribute('title', show(w)),
      );
    },
  };
}
