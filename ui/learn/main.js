// Starts the lesson: shows the chapter that the address names.

import '../parts/theme-switch.js';
import './contents.js';
import { readableCopies } from './copies.js';
import { CHAPTERS } from './chapters.js';
import { h } from '../dom.js';
import { lightTerms } from '../term-light.js';
import { parseRoute } from './route.js';

const main = /** @type {HTMLElement} */ (document.getElementById('chapter'));
/** @type {number | null} */
let shown = null;

lightTerms();
readableCopies();
addEventListener('hashchange', () => open(true));
document.querySelector('.skip')?.addEventListener('click', (event) => {
  event.preventDefault();
  main.focus();
});
open(false);

/** @param {boolean} moved  the reader came here from another chapter */
async function open(moved) {
  const { chapter } = parseRoute(location.hash, CHAPTERS.length);
  // A link to other choices in this chapter opens it anew; what the reader chooses does not come this way.
  const another = chapter !== shown;
  shown = chapter;
  const entry = CHAPTERS[chapter - 1];
  document.title = `${chapter}. ${entry.name} · Learn · attnscope`;
  try {
    await entry.load();
  } catch {
    if (shown === chapter)
      main.replaceChildren(
        h('p', { class: 'trouble', role: 'alert' }, 'This chapter could not be loaded. Is attnscope still running?'),
      );
    return;
  }
  // Another chapter may have been opened meanwhile.
  if (shown !== chapter) return;
  main.replaceChildren(document.createElement(entry.tag));
  if (another) scrollTo(0, 0);
  if (moved) main.focus({ preventScroll: true });
}
