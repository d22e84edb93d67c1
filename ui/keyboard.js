// The keys. Arrows move the cell where nothing else wants them; [ ] change the head, { } the layer.

import { choose, step } from './actions.js';
import { siteOf } from './axes.js';
import { get } from './store.js';

/** @type {Record<string, ['query' | 'key' | 'head' | 'layer', number]>} */
const ANYWHERE = { '[': ['head', -1], ']': ['head', 1], '{': ['layer', -1], '}': ['layer', 1] };

/** @type {Record<string, ['query' | 'key' | 'head' | 'layer', number]>} */
const ON_THE_MAP = {
  ArrowUp: ['query', -1],
  ArrowDown: ['query', 1],
  ArrowLeft: ['key', -1],
  ArrowRight: ['key', 1],
  PageUp: ['layer', -1],
  PageDown: ['layer', 1],
};

export function listenToKeys() {
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const at = event.target instanceof Element ? event.target : document.body;
    if (at.closest('input, textarea, select, [contenteditable]')) return;
    const onMap = at.matches('attention-map canvas');
    const free = at === document.body && get().view.tab === 'cell';
    const arrow = event.key.startsWith('Arrow');
    const act = ANYWHERE[event.key] ?? (onMap || (free && arrow) ? ON_THE_MAP[event.key] : undefined);
    if (act) {
      event.preventDefault();
      step(act[0], act[1]);
    } else if (onMap && (event.key === 'Home' || event.key === 'End')) {
      event.preventDefault();
      const { trace, view } = get();
      const site = trace.value && siteOf(trace.value, view);
      if (site) choose({ key: event.key === 'Home' ? 0 : site.kv_len - 1 });
    }
  });
}
