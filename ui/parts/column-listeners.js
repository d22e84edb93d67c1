// The column of the chosen key: who listens to this token.

/** @import { Column, Meta } from '../contract.js' */
import { choose } from '../actions.js';
import { keysOf, queriesOf } from '../axes.js';
import { h, vars } from '../dom.js';
import { named, num, tokenChip } from '../figures.js';
import { columnProfile } from './column-profile.js';
import { Part } from './part.js';
import { TakeAlong } from './take-along.js';

/** Columns of at most this many queries are listed whole; of longer ones the strongest. */
const LISTED = 10;

export class ColumnListeners extends Part {
  begin() {
    this.watch(
      (s) => [s.column.busy],
      (busy) => this.asks(busy),
    );
    this.watchInSight(
      (s) => [s.column.value, s.column.error, s.trace.value, s.view.query],
      (column, error, meta, query) => {
        if (error) return this.update(h('p', { class: 'trouble', role: 'alert' }, error));
        if (!column || !meta || column.weights.length !== queriesOf(meta, column).length || !keysOf(meta, column)[column.key.index])
          return this.update();
        this.update(...listeners(column, meta, query));
      },
    );
  }
}

/** @param {Column} column @param {Meta} meta @param {number | null} query */
function listeners(column, meta, query) {
  const key = tokenChip(keysOf(meta, column)[column.key.index], column.key.index, 'k');
  const order = column.weights
    .map((_, i) => i)
    .filter((i) => column.mask[i] === null)
    .sort((a, b) => column.weights[b] - column.weights[a] || a - b);
  const listed = order.slice(0, order.length <= LISTED + 2 ? LISTED + 2 : LISTED);
  if (query !== null && column.mask[query] === null && !listed.includes(query)) listed.push(query);
  const rest = order.length - listed.length;
  const others = column.received - listed.reduce((sum, i) => sum + column.weights[i], 0);
  const most = Math.max(column.weights[order[0]] ?? 0, 1e-9);
  const hidden = column.mask.length - order.length;
  return [
    h('h3', null, 'The column: who listens to ', key),
    h(
      'p',
      null,
      `${order.length.toLocaleString('en')} ${order.length === 1 ? 'query' : 'queries'} may see it`,
      hidden ? ` (it is hidden from ${hidden.toLocaleString('en')})` : '',
      ' and together they give it ',
      num(column.received, 'weight'),
      ', on average ',
      num(order.length ? column.received / order.length : 0, 'weight'),
      '. A column is no budget: each ',
      named('weight', 'weight'),
      ' here was taken from another row, so the sum may be anything.',
    ),
    columnProfile(column, query),
    h(
      'ol',
      { class: 'budget' },
      listed.map((i) =>
        h(
          'li',
          { class: i === query ? 'here' : '', 'data-query': i },
          h(
            'button',
            {
              type: 'button',
              class: 'link',
              'data-focus': `listener${i}`,
              'aria-pressed': String(i === query),
              onclick: () => choose({ query: i }),
            },
            tokenChip(queriesOf(meta, column)[i], i, i === query ? 'q' : null),
          ),
          measure(column.weights[i], most),
          num(column.weights[i], 'weight'),
        ),
      ),
      rest > 0
        ? h(
            'li',
            { class: 'rest' },
            h('span', null, `the other ${rest.toLocaleString('en')} together`),
            h('span', null),
            num(others, 'weight'),
          )
        : null,
      h('li', { class: 'total' }, h('span', null, 'received'), h('span', null), num(column.received, 'weight')),
    ),
    new TakeAlong('column'),
  ];
}

/** @param {number} weight @param {number} most */
const measure = (weight, most) =>
  h(
    'span',
    { class: 'measure', 'aria-hidden': 'true' },
    vars(h('span', { class: 'bar' }), { '--full': weight / most }),
  );

customElements.define('column-listeners', ColumnListeners);
