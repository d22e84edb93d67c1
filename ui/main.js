// Starts the page: the parts around every view, its keys, and the address that follows what is in view.
// The parts of the view that is seen first were sent for by first-parts.js.

import './parts/source-bar.js';
import './parts/take-along.js';
import './parts/theme-switch.js';
import './parts/view-tabs.js';
/** @import { State } from './store.js' */
import { formatAddress, parseAddress } from './address.js';
import { endsOf } from './axes.js';
import { vars } from './dom.js';
import { complete } from './heads-loading.js';
import { listenToKeys } from './keyboard.js';
import { forClipboard, show } from './numbers.js';
import { openAddress, start } from './opening.js';
import { get, isAnswerDue, set, watch } from './store.js';
import { lightTerms } from './term-light.js';
import { plain } from './tokens.js';

/** Milliseconds from a change of the view to the address. Browsers take their time over a new address, and allow so many. */
const REST = 300;
/** Milliseconds without what is seen first. */
const LONG = 900;

openTab();
followView();
nameTheTab();
dimWhatIsOld();
keepMapInSight();
listenToKeys();
lightTerms();
skipLink();
readableCopies();
start();
bringTheRest();

/**
 * A browser takes milliseconds for each file, so the parts further down and those of other tabs come
 * when what is seen first is there; when they are wanted; or when it takes long.
 */
function bringTheRest() {
  const { tab } = parseAddress(location.hash);
  let asked = false;
  const bring = () => {
    if (asked) return;
    asked = true;
    import('./rest.js');
  };
  const seen = (/** @type {State} */ s) => (tab === 'heads' ? complete(s.grid.value) : (s.cell.value ?? s.spread.value));
  watch(
    (s) => [(s.trace.value && s.view.tab !== tab) || Boolean(seen(s)) || [s.sources, s.trace, s.cell].some((one) => one.error !== null)],
    // After the picture that is due.
    (now) => now && requestAnimationFrame(() => setTimeout(bring)),
  );
  setTimeout(bring, LONG);
}

/** Writes the view into the address. */
function followView() {
  let timer = 0;
  /** @type {string | null} */
  let place = null;
  // The address that the page has read or written last.
  let known = location.hash;
  const write = () => {
    timer = 0;
    // The reader is on the way to another entry of the history: what is in view until then is not written over it.
    if (location.hash !== known) return;
    const { view, wanted } = get();
    // The address of a run that is waited for is written when it is here, or that of what stays where it fails.
    if (wanted) return;
    const address = formatAddress(view);
    if (view.source === null) return;
    // Another run, or another view of it, is a place to come back to; another cell is not.
    const now = JSON.stringify([view.source, view.text, view.tab]);
    const here = place === null || place === now;
    place = now;
    if (location.hash !== address) history[here ? 'replaceState' : 'pushState'](null, '', address);
    known = location.hash;
  };
  // An answer that someone waits for comes first.
  const whenAnswered = () => (isAnswerDue() ? (timer = window.setTimeout(write, REST / 3)) : write());
  watch(
    (s) => [s.view, s.wanted],
    () => (timer ||= window.setTimeout(whenAnswered, REST)),
  );
  addEventListener('pagehide', write);
  addEventListener('hashchange', () => {
    // The reader came back here: what is still filled in is no new place.
    place = null;
    known = location.hash;
    openAddress();
  });
}

/** Shows the panel of the tab in view; the others rest. */
function openTab() {
  const panels = document.querySelectorAll('[data-tab]');
  watch(
    (s) => [s.view.tab],
    (tab) => {
      for (const panel of panels) if (panel instanceof HTMLElement) panel.hidden = panel.dataset.tab !== tab;
    },
  );
}

/** The tab says which cell it shows. */
function nameTheTab() {
  watch(
    (s) => [s.cell.value, s.trace.value, s.view.tab],
    (cell, meta, tab) => {
      if (tab !== 'cell')
        return void (document.title = `${tab === 'heads' ? 'Heads' : 'Text'}${meta ? ` of ${meta.model.name}` : ''} · attnscope`);
      const [query, key] = cell && meta ? endsOf(meta, cell) : [];
      document.title =
        cell && query && key ? `${plain(query)} → ${plain(key)} ${show(cell.weight)} · attnscope` : 'attnscope';
    },
  );
}

/** What is still shown of another source or text is dimmed, and cannot be used, until the new run is here. */
function dimWhatIsOld() {
  const main = document.querySelector('main');
  watch(
    (s) => [s.trace.value, s.wanted],
    (meta, wanted) => {
      const another = meta && wanted && (meta.source !== wanted.source || (wanted.text ?? meta.text) !== meta.text);
      main?.toggleAttribute('inert', Boolean(another));
    },
  );
}

/** How far the map's column may scroll away: until its lower end is in sight. */
function keepMapInSight() {
  const picture = document.querySelector('.picture');
  if (!(picture instanceof HTMLElement)) return;
  const place = () => vars(picture, { '--stick': `${Math.min(16, innerHeight - picture.offsetHeight - 16)}px` });
  new ResizeObserver(place).observe(picture);
  addEventListener('resize', place);
}

/** A link to an anchor would overwrite the address, which is the state. */
function skipLink() {
  document.querySelector('.skip')?.addEventListener('click', (event) => {
    event.preventDefault();
    const { tab } = get().view;
    document.getElementById(tab === 'cell' ? 'working' : `panel-${tab}`)?.focus();
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
