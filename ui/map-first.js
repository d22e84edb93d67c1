// What looks at every weight of a layer takes all of the machine for a while when the text is long.
// It waits until the map has been drawn and left alone for a moment.

import { siteOf } from './axes.js';
import { get, watch } from './store.js';

/** Texts up to this long are measured in no time. */
const LONG = 1024;
/** Milliseconds without a change of what the map shows. */
const QUIET = 700;

/**
 * @param {AbortSignal} signal
 * @returns {Promise<void>}
 */
export function afterTheMap(signal) {
  const { trace, view } = get();
  const site = trace.value && siteOf(trace.value, view);
  if (!site || Math.max(site.q_len, site.kv_len) <= LONG || view.tab !== 'cell') return Promise.resolve();
  return new Promise((resolve) => {
    let timer = 0;
    const end = () => {
      clearTimeout(timer);
      stop();
      resolve();
    };
    const stop = watch(
      (s) => [s.shown, s.tiles.error],
      (shown, error) => {
        clearTimeout(timer);
        if (shown?.sharp || error) timer = window.setTimeout(end, QUIET);
      },
    );
    signal.addEventListener('abort', end);
  });
}
