// Says which cell is in view, for those who listen to the page.

/** @import { Cell } from './contract.js' */
import { SHORT } from './hidden.js';
import { show } from './numbers.js';
import { get } from './store.js';
import { spoken } from './tokens.js';

/**
 * @param {Cell | null} cell
 * @param {boolean} busy
 */
export function announce(cell, busy) {
  const line = document.getElementById('said');
  const tokens = get().trace.value?.tokens;
  if (!line || !cell || busy || !tokens) return;
  const [query, key] = [tokens[cell.query.index], tokens[cell.key.index]];
  if (!query || !key) return;
  const what = cell.mask ? `hidden, ${SHORT[cell.mask]}` : `weight ${show(cell.weight)}`;
  line.textContent = `Query ${cell.query.index} ${spoken(query)}, key ${cell.key.index} ${spoken(key)}: ${what}`;
}
