// What can be unfolded, and is made only while it is: most readers leave most of it folded.

import { h } from './dom.js';
import { patch } from './patch.js';

/** What lies inside. It draws itself, so that what takes its place need not be made first. */
class FoldedInside extends HTMLElement {
  /** @type {() => Node[]} */
  make = () => [];
  #fill = () => {
    if (this.parentElement instanceof HTMLDetailsElement && this.parentElement.open) patch(this, this.make());
  };

  connectedCallback() {
    this.parentElement?.addEventListener('toggle', this.#fill);
    this.#fill();
  }

  disconnectedCallback() {
    this.parentElement?.removeEventListener('toggle', this.#fill);
  }

  /** @param {FoldedInside} next */
  become(next) {
    this.make = next.make;
    this.#fill();
  }
}

customElements.define('folded-inside', FoldedInside);

/**
 * @param {string} name  for keeping it as a person left it
 * @param {string} summary
 * @param {() => Node[]} make
 * @param {boolean} [open]  at first
 */
export function folded(name, summary, make, open = false) {
  const inside = /** @type {FoldedInside} */ (document.createElement('folded-inside'));
  inside.make = make;
  return h('details', { class: 'meanings', open, 'data-keep': name }, h('summary', null, summary), inside);
}
