// Figures and text point at each other: a quantity pointed at lights up wherever it is, and a key
// pointed at in a list is shown on the map.

/** @import { Term } from './store.js' */
import { get, set } from './store.js';

export function lightTerms() {
  document.addEventListener('pointerover', (event) => {
    const target = event.target instanceof Element ? event.target : null;
    light(target?.closest('[data-term]') ?? null);
    pointAt(target?.closest('[data-key]') ?? null);
  });
  document.documentElement.addEventListener('pointerleave', () => {
    light(null);
    pointAt(null);
  });
}

/** @param {Element | null} holder */
function light(holder) {
  const lit = /** @type {Term | null} */ (holder?.getAttribute('data-term') || null);
  if (lit === get().lit) return;
  document.documentElement.dataset.lit = lit ?? '';
  set({ lit });
}

let pointing = false;

/** @param {Element | null} line  of a list of keys, all for the query in view */
function pointAt(line) {
  const { query } = get().view;
  if (line && query !== null) set({ hover: { query, key: Number(line.getAttribute('data-key')) } });
  else if (pointing) set({ hover: null });
  pointing = line !== null;
}
