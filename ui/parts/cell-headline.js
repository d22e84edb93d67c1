// The cell in one sentence, and two ways to take it along.

/** @import { Cell, Meta } from '../contract.js' */
/** @import { State } from '../store.js' */
/** @import { View } from '../address.js' */
import { formatAddress } from '../address.js';
import { keysOf, queriesOf, siteOf } from '../axes.js';
import { cellCommand } from '../command.js';
import { h } from '../dom.js';
import { copyButton, num, tokenChip } from '../figures.js';
import { sentence } from '../hidden.js';
import { precise } from '../numbers.js';
import { get } from '../store.js';
import { failed } from './failed.js';
import { Part } from './part.js';
import { TakeAlong } from './take-along.js';

export class CellHeadline extends Part {
  begin() {
    this.watch(
      (s) => [s.cell.busy],
      (busy) => this.asks(busy),
    );
    this.watch(
      (s) => [s.cell.value, s.cell.error, s.trace.value, commandOf(s)],
      (cell, error, meta, command) => {
        if (error) return this.update(failed(error, 'cell-again'));
        if (!cell || !meta || command === null || !queriesOf(meta, cell)[cell.query.index]) return this.update();
        this.update(says(cell, meta), place(cell, meta), tools(cell, command), new TakeAlong('cell'));
      },
    );
  }
}

/** @param {Cell} cell @param {Meta} meta */
function says(cell, meta) {
  const query = tokenChip(queriesOf(meta, cell)[cell.query.index], cell.query.index, 'q');
  const key = tokenChip(keysOf(meta, cell)[cell.key.index], cell.key.index, 'k');
  if (cell.mask) {
    return h(
      'div',
      null,
      h('h2', null, query, ' cannot see ', key),
      h('p', { class: 'lead' }, sentence(cell.mask, siteOf(meta, cell))),
    );
  }
  return h('h2', null, query, ' gives ', key, ' a weight of ', num(cell.weight, 'weight'));
}

/** @param {Cell} cell @param {Meta} meta */
function place(cell, meta) {
  const site = siteOf(meta, cell);
  const shared = site && site.q_heads > site.kv_heads;
  return h(
    'p',
    { class: 'note' },
    `Layer ${cell.layer}, head ${cell.head}${shared ? ` (kv head ${cell.kv_head})` : ''}, query ${cell.query.index}, key ${cell.key.index}. `,
    cell.mask ? null : h('span', null, 'To six digits: ', num(cell.weight, 'weight', precise(cell.weight)), '. '),
    meta.kind === 'example' ? null : meta.note || null,
  );
}

/** The view of the cell that is shown, which is not always the one asked for. @param {Cell} cell @param {View} view */
const viewOf = (cell, view) => ({ ...view, query: cell.query.index, key: cell.key.index });

/** @param {State} state @returns {string | null} */
function commandOf({ cell, view, sources }) {
  const source = sources.value?.find((s) => s.id === view.source);
  return cell.value && source ? cellCommand(source, viewOf(cell.value, view)) : null;
}

/** @param {Cell} cell @param {string} command */
function tools(cell, command) {
  return h(
    'p',
    { class: 'tools' },
    copyButton('Copy as command', () => command, 'copy-command'),
    copyButton('Copy link', () => new URL(formatAddress(viewOf(cell, get().view)), location.href).href, 'copy-link'),
    h('code', { class: 'command', id: 'command' }, command),
  );
}

customElements.define('cell-headline', CellHeadline);
