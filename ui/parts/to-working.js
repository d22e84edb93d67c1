// On a narrow page the calculation stands far below the map: a way there.

import { h } from '../dom.js';
import { Part } from './part.js';

export class ToWorking extends Part {
  begin() {
    this.watch(
      (s) => [s.cell.value !== null],
      (there) => this.show(there && h('button', { type: 'button', class: 'quiet', onclick: go }, 'Worked out below ↓')),
    );
  }
}

function go() {
  const working = document.getElementById('working');
  working?.scrollIntoView();
  working?.focus({ preventScroll: true });
}

customElements.define('to-working', ToWorking);
