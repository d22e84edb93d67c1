// The style sheet's colours and font, for what is drawn on a canvas.

/** @import { Inks } from './map-painter.js' */

/** @type {{theme: string | undefined, inks: Inks, font: string, nameSize: number, width: number} | null} */
let known = null;

/** @returns {{inks: Inks, font: string, nameSize: number}} */
export function themeInks() {
  const root = document.documentElement;
  if (known && known.theme === root.dataset.theme && known.width === innerWidth) return known;
  const style = getComputedStyle(root);
  const read = (/** @type {string} */ name) => style.getPropertyValue(name).trim();
  known = {
    theme: root.dataset.theme,
    // The page's type grows with the window, and so do names.
    width: innerWidth,
    font: read('--sans'),
    nameSize: Math.round(parseFloat(style.fontSize) * 7.6) / 10,
    inks: {
      page: read('--page'),
      ink: read('--ink'),
      soft: read('--ink-soft'),
      line: read('--line'),
      pending: read('--card'),
      hatch: read('--hatch'),
      hatchLine: read('--hatch-line'),
      q: read('--q'),
      k: read('--k'),
      weight: read('--weight'),
      v: read('--v'),
      score: read('--score'),
      bar: read('--bar'),
    },
  };
  return known;
}
