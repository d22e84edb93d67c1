// The row in one sentence: what this token attends to most, and the weight to the digits it has.

/** @import { Meta, Row } from '../contract.js' */
/** @import { View } from '../address.js' */
import { choose } from '../actions.js';
import { keysOf, queriesOf } from '../axes.js';
import { h } from '../dom.js';
import { num, tokenChip } from '../figures.js';
import { precise } from '../numbers.js';
import { Part } from './part.js';

export class RowAnswer extends Part {
  begin() {
    this.watch(
      ({ row, trace, view }) => [row.value, trace.value, view.site, view.layer, view.head, view.query, view.key],
      (row, meta, site, layer, head, query, key) => {
        const [most] = row?.strongest ?? [];
        // While the next row is on its way the last answer keeps its place, unseen: the map below must not move.
        const here = row !== null && meta !== null && fits(row, meta, { site, layer, head, query });
        this.classList.toggle('on-its-way', !here);
        if (!here) return;
        if (!most) return this.show();
        this.show(
          h(
            'p',
            null,
            tokenChip(queriesOf(meta, row)[row.query.index], row.query.index, 'q'),
            ' attends most to ',
            h(
              'button',
              {
                type: 'button',
                class: 'link',
                'data-focus': 'most',
                title: 'Work this cell out',
                onclick: () => choose({ key: most.index }),
              },
              tokenChip(keysOf(meta, row)[most.index], most.index, 'k'),
            ),
            ': ',
            num(most.weight, 'weight', precise(most.weight)),
            key === null || key === most.index ? null : h('span', { class: 'note' }, ' another is chosen below'),
          ),
        );
      },
    );
  }
}

/** Whether the row is of what is in view: a new one may still be on its way. @param {Row} row @param {Meta} meta @param {Pick<View, 'site' | 'layer' | 'head' | 'query'>} view */
const fits = (row, meta, view) =>
  row.weights.length === keysOf(meta, row).length &&
  row.query.index === view.query &&
  row.site === view.site &&
  row.layer === view.layer &&
  row.head === view.head;

customElements.define('row-answer', RowAnswer);
