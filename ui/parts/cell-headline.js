// The cell in one sentence, and two ways to take it along.

/** @import { Cell, Meta, Source } from '../contract.js' */
/** @import { View } from '../address.js' */
import { siteOf } from '../actions.js';
import { formatAddress } from '../address.js';
import { cellCommand } from '../command.js';
import { h } from '../dom.js';
import { copyButton, num, tokenChip } from '../figures.js';
import { sentence } from '../hidden.js';
import { precise } from '../numbers.js';
import { Part } from './part.js';
import { TakeAlong } from './take-along.js';

export class CellHeadline extends Part {
  begin() {
    this.watch(
      (s) => [s.cell, s.trace.value, s.view, s.sources.value],
      (cell, meta, view, sources) => {
        const source = sources?.find((s) => s.id === view.source);
        this.setAttribute('aria-busy', String(cell.busy));
        if (cell.error) return this.show(h('p', { class: 'trouble', role: 'alert' }, cell.error));
        // What is still shown of another source keeps its own command.
        if (meta && meta.source !== view.source && this.childElementCount > 0) return;
        if (!cell.value || !meta || !source || !meta.tokens[cell.value.query.index]) return this.show();
        this.show(
          says(cell.value, meta),
          place(cell.value, meta),
          tools(source, { ...view, query: cell.value.query.index, key: cell.value.key.index }),
          new TakeAlong('cell'),
        );
      },
    );
  }
}

/** @param {Cell} cell @param {Meta} meta */
function says(cell, meta) {
  const query = tokenChip(meta.tokens[cell.query.index], cell.query.index, 'q');
  const key = tokenChip(meta.tokens[cell.key.index], cell.key.index, 'k');
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

/** @param {Source} source @param {View} view */
function tools(source, view) {
  return h(
    'p',
    { class: 'tools' },
    copyButton('Copy as command', () => cellCommand(source, view), 'copy-command'),
    copyButton('Copy link', () => new URL(formatAddress(view), location.href).href, 'copy-link'),
    h('code', { class: 'command', id: 'command' }, cellCommand(source, view)),
  );
}

customElements.define('cell-headline', CellHeadline);
