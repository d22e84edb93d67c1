// Says what has changed, for those who listen to the page.

/** @import { Cell } from './contract.js' */
import { endsOf } from './axes.js';
import { SHORT } from './hidden.js';
import { show } from './numbers.js';
import { get } from './store.js';
import { spoken } from './tokens.js';

/** @param {string} text */
export function say(text) {
  const line = document.getElementById('said');
  if (line) line.textContent = text;
}

/**
 * @param {Cell | null} cell
 * @param {boolean} busy
 */
export function announce(cell, busy) {
  const meta = get().trace.value;
  if (!cell || busy || !meta) return;
  const [query, key] = endsOf(meta, cell);
  if (!query || !key) return;
  const what = cell.mask ? `hidden, ${SHORT[cell.mask]}` : `weight ${show(cell.weight)}`;
  say(`Query ${cell.query.index} ${spoken(query)}, key ${cell.key.index} ${spoken(key)}: ${what}`);
}
