// Step 5: the row as a budget. Every query has exactly 1 to give away.

/** @import { Meta, Row } from '../contract.js' */
import { choose } from '../actions.js';
import { keysOf, queriesOf } from '../axes.js';
import { h, vars } from '../dom.js';
import { named, num, stepBlock, tokenChip } from '../figures.js';
import { SHORT } from '../hidden.js';
import { percent, show } from '../numbers.js';
import { fitsLse, shared } from '../row-sum.js';
import { plain } from '../tokens.js';
import { failed } from './failed.js';
import { Part } from './part.js';
import { rowFacts } from './row-facts.js';
import { TakeAlong } from './take-along.js';

/** Rows of at most this many keys are listed whole. */
const WHOLE = 12;
/** Of longer rows, the strongest. */
const LISTED = 10;

export class StepBudget extends Part {
  begin() {
    this.watchInSight(
      (s) => [s.row.value, s.row.error, s.trace.value, s.view.key, s.worked.value, s.view.causal],
      (row, error, meta, key, worked, causal) => {
        if (error)
          return this.update(stepBlock(5, 'The row is a budget', failed(error, 'row-again')));
        if (!row || !meta || row.weights.length !== keysOf(meta, row).length || !queriesOf(meta, row)[row.query.index])
          return this.update();
        const before = causal && worked ? worked.weights_unmasked[row.query.index] : null;
        const title = fitsLse(row) ? 'The row is a budget of exactly 1' : 'The row is a budget';
        this.update(stepBlock(5, title, ...budget(row, meta, key, before)));
      },
    );
  }
}

/**
 * @param {Row} row
 * @param {Meta} meta
 * @param {number | null} key
 * @param {number[] | null} before  its weights before the causal mask
 */
function budget(row, meta, key, before) {
  const order = row.weights
    .map((_, j) => j)
    .filter((j) => row.mask[j] === null)
    .sort((a, b) => row.weights[b] - row.weights[a]);
  const hidden = row.mask.length - order.length;
  const listed = order.slice(0, order.length <= WHOLE ? WHOLE : LISTED);
  if (key !== null && row.mask[key] === null && !listed.includes(key)) listed.push(key);
  const rest = order.length - listed.length;
  const given = listed.reduce((sum, j) => sum + row.weights[j], 0);
  const sink = row.sink ?? 0;
  const remainder = Math.max(0, row.row_sum - given);
  // One measure for all, so that the bars can be compared.
  const most = Math.max(row.strongest[0]?.weight ?? 0, ...(before ?? []), remainder, sink, 1e-9);
  const query = tokenChip(queriesOf(meta, row)[row.query.index], row.query.index, 'q');
  if (row.visible === 0 && row.sink === null)
    return [h('p', null, query, ' sees nothing: every weight is 0, and so is the output.')];
  return [
    fitsLse(row) ? null : damaged(row),
    row.visible === 0
      ? h('p', null, query, ' sees no key: the head’s sink takes it all, every weight is 0, and so is the output.')
      : h(
          'p',
          null,
          query,
          ` sees ${row.visible} ${row.visible === 1 ? 'key' : 'keys'}`,
          hidden ? ` (${hidden} hidden)` : '',
          ` and shares out 1 between them${row.sink === null ? '' : ' and the head’s sink'}. Every `,
          named('weight', 'weight'),
          ' given to one is taken from the others.',
        ),
    stack(row, meta, order, key),
    h(
      'ol',
      { class: 'budget' },
      listed.map((j) => entry(row, meta, j, key, most, before)),
      rest > 0
        ? h(
            'li',
            { class: 'rest' },
            h('span', null, `the other ${rest} together`),
            measure(remainder, most),
            num(remainder, 'weight'),
          )
        : null,
      row.sink !== null
        ? h(
            'li',
            { class: 'rest' },
            h('span', null, 'to the head’s sink, no token'),
            measure(sink, most),
            num(sink, 'weight'),
          )
        : null,
      h(
        'li',
        { class: 'total' },
        h('span', null, 'sum'),
        h('span', null),
        num(shared(row), 'weight'),
      ),
    ),
    rowFacts(row.entropy, row.row_sum, row.mask[0] === null ? row.weights[0] : null),
    before ? h('p', { class: 'note' }, 'The outline is the weight before the causal mask.') : null,
    hidden && row.mask.length <= WHOLE
      ? h(
          'p',
          { class: 'note' },
          'Weight 0: ',
          row.mask.flatMap((why, j) =>
            why ? [h('span', { class: 'hidden-key' }, tokenChip(keysOf(meta, row)[j], j), ` ${SHORT[why]}`), ' '] : [],
          ),
        )
      : null,
    new TakeAlong('row'),
  ];
}

/** @param {Row} row */
const damaged = (row) =>
  h(
    'p',
    { class: 'trouble' },
    `This row’s weights${row.sink === null ? '' : ' and its sink'} sum to ${show(shared(row))}: its lse does not fit its scores; the trace is damaged or was made by other arithmetic.`,
  );

/**
 * The whole row as one bar.
 * @param {Row} row
 * @param {Meta} meta
 * @param {number[]} order
 * @param {number | null} key
 */
function stack(row, meta, order, key) {
  const parts = order.filter((j) => row.weights[j] >= 0.004);
  const rest = row.row_sum - parts.reduce((sum, j) => sum + row.weights[j], 0);
  const one = (
    /** @type {number} */ weight,
    /** @type {string} */ name,
    /** @type {string} */ title,
    /** @type {string} */ text = '',
  ) => vars(h('span', { class: name, title }, text), { '--share': weight });
  return h(
    'div',
    { class: 'stack', 'aria-hidden': 'true' },
    parts.map((j) =>
      one(
        row.weights[j],
        j === key ? 'here' : '',
        `token ${j}: ${percent(row.weights[j])}`,
        row.weights[j] > 0.12 ? `${plain(keysOf(meta, row)[j]).slice(0, 24)} ${percent(row.weights[j])}` : '',
      ),
    ),
    rest > 0.001 ? one(rest, 'dust', `all smaller ones: ${percent(rest)}`) : null,
    row.sink ? one(row.sink, 'sink', `the head’s sink: ${percent(row.sink)}`, row.sink > 0.12 ? 'sink' : '') : null,
  );
}

/**
 * @param {Row} row
 * @param {Meta} meta
 * @param {number} j
 * @param {number | null} key
 * @param {number} most
 * @param {number[] | null} before
 */
function entry(row, meta, j, key, most, before) {
  return h(
    'li',
    { class: j === key ? 'here' : '', 'data-key': j },
    h(
      'button',
      {
        type: 'button',
        class: 'link',
        'data-focus': `budget${j}`,
        'aria-pressed': String(j === key),
        onclick: () => choose({ key: j }),
      },
      tokenChip(keysOf(meta, row)[j], j, j === key ? 'k' : null),
    ),
    measure(row.weights[j], most, before?.[j]),
    num(row.weights[j], 'weight'),
  );
}

/** @param {number} weight @param {number} most @param {number} [before] */
function measure(weight, most, before) {
  const bar = vars(h('span', { class: 'bar' }), { '--full': weight / most });
  const ghost = before === undefined ? null : vars(h('span', { class: 'ghost' }), { '--full': before / most });
  return h('span', { class: 'measure', 'aria-hidden': 'true' }, bar, ghost);
}

customElements.define('step-budget', StepBudget);
