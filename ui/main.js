// Starts the page: its parts, its keys, and the address that follows what is in view.

import './parts/attention-map.js';
import './parts/cell-headline.js';
import './parts/head-facts.js';
import './parts/head-picker.js';
import './parts/map-legend.js';
import './parts/projection-board.js';
import './parts/source-bar.js';
import './parts/step-budget.js';
import './parts/step-mask.js';
import './parts/step-mix.js';
import './parts/step-softmax.js';
import './parts/step-vectors.js';
import './parts/theme-switch.js';
import './parts/token-ribbon.js';
import { openAddress, start } from './actions.js';
import { formatAddress } from './address.js';
import { listenToKeys } from './keyboard.js';
import { forClipboard } from './numbers.js';
import { get, set, watch } from './store.js';
import { lightTerms } from './term-light.js';

followView();
dimWhatIsOld();
listenToKeys();
lightTerms();
skipLink();
readableCopies();
start();

/** Writes the view into the address, not more often than browsers allow. */
function followView() {
  let timer = 0;
  const write = () => {
    timer = 0;
    const address = formatAddress(get().view);
    if (get().view.source !== null && location.hash !== address) history.replaceState(null, '', address);
  };
  watch((s) => [s.view], () => (timer ||= window.setTimeout(write, 120)));
  addEventListener('pagehide', write);
  addEventListener('hashchange', openAddress);
}

/** What is still shown of another source or text is dimmed, and cannot be used, until the new run is here. */
function dimWhatIsOld() {
  const main = document.querySelector('main');
  watch((s) => [s.trace.value, s.view.source, s.view.text], (meta, source, text) => {
    const old = meta !== null && (meta.source !== source || (text !== null && meta.text !== text));
    main?.toggleAttribute('inert', old);
  });
}

/** A link to an anchor would overwrite the address, which is the state. */
function skipLink() {
  const target = document.getElementById('working');
  document.querySelector('.skip')?.addEventListener('click', (event) => {
    event.preventDefault();
    target?.focus();
  });
}

/** Copied numbers can be pasted into a program. */
function readableCopies() {
  document.addEventListener('copy', (event) => {
    const text = getSelection()?.toString() ?? '';
    if (!text || event.target instanceof HTMLTextAreaElement) return;
    event.clipboardData?.setData('text/plain', forClipboard(text));
    event.preventDefault();
  });
}

addEventListener('resize', () => set({ hover: null }));
