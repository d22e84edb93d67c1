// The style sheet's colours and font, for what is drawn on a canvas.

/** @import { Inks } from './map-painter.js' */

/** @type {{theme: string | undefined, inks: Inks, font: string} | null} */
let known = null;

/** @returns {{inks: Inks, font: string}} */
export function themeInks() {
  const root = document.documentElement;
  if (known && known.theme === root.dataset.theme) return known;
  const style = getComputedStyle(root);
  const read = (/** @type {string} */ name) => style.getPropertyValue(name).trim();
  known = {
    theme: root.dataset.theme,
    font: read('--sans'),
    inks: {
      page: read('--page'), ink: read('--ink'), soft: read('--ink-soft'), line: read('--line'),
      hatch: read('--hatch'), hatchLine: read('--hatch-line'), q: read('--q'), k: read('--k'), weight: read('--weight'),
    },
  };
  return known;
}
