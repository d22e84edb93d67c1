// A formula that points: while a quantity is pointed at anywhere, it lights up everywhere.

/** @import { Term } from './store.js' */
import { get, set } from './store.js';

export function lightTerms() {
  const light = (/** @type {EventTarget | null} */ target) => {
    const holder = target instanceof Element ? target.closest('[data-term]') : null;
    const lit = /** @type {Term | null} */ (holder?.getAttribute('data-term') || null);
    if (lit === get().lit) return;
    document.documentElement.dataset.lit = lit ?? '';
    set({ lit });
  };
  document.addEventListener('pointerover', (event) => light(event.target));
  document.documentElement.addEventListener('pointerleave', () => light(null));
}
