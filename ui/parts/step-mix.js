// Step 6: what the weights are for. Each value vector comes in by its weight; the sum is z.

/** @import { Cell, Meta, Row, Values, Worked } from '../contract.js' */
import { choose } from '../actions.js';
import { keysOf, queriesOf } from '../axes.js';
import { MOST_VALUES } from '../cell-loading.js';
import { h } from '../dom.js';
import { named, num, stepBlock, tokenChip } from '../figures.js';
import { folded } from '../folded.js';
import { math, op, sub, sym, vec } from '../formula.js';
import { matrix } from '../matrix.js';
import { percent, together } from '../numbers.js';
import { sameRow } from '../same-row.js';
import { dimStrips } from './dim-strips.js';
import { Part } from './part.js';

const WRITTEN_OUT = 8;
const LISTED = 5;

export class StepMix extends Part {
  begin() {
    this.watchInSight(
      (s) => [s.cell.value, s.row.value, s.values.value, s.values.error, s.trace.value, s.worked.value],
      (cell, row, values, error, meta, worked) => {
        if (!cell || !row || !meta || !queriesOf(meta, cell)[cell.query.index] || row.weights.length !== keysOf(meta, cell).length)
          return this.update();
        // The other one is on its way.
        if (!sameRow(cell, row)) return;
        const short = cell.v.length <= WRITTEN_OUT;
        // Those of the head before stay until the new ones are here.
        const fitting = values?.v.length === row.weights.length ? values : null;
        this.update(
          stepBlock(
            6,
            'What is mixed in',
            ...intro(cell, meta),
            error ? h('p', { class: 'trouble', role: 'alert' }, error) : null,
            short && fitting ? table(cell, row, fitting, meta, worked) : strips(cell, row, fitting, meta),
            worked ? added(cell, worked) : null,
          ),
        );
      },
    );
  }
}

/** @param {Cell} cell @param {Meta} meta */
function intro(cell, meta) {
  const key = tokenChip(keysOf(meta, cell)[cell.key.index], cell.key.index, 'k');
  return [
    h(
      'p',
      null,
      'Each key’s token offers a value vector ',
      named('v', 'v'),
      '. Each comes in by its ',
      named('weight', 'weight'),
      '; the sum is ',
      h('em', null, 'z'),
      ', what this head hands on.',
    ),
    math(
      'z = sum over keys of weight times v',
      vec('z'),
      op('='),
      sub(op('∑'), sym('j')),
      sub(sym('w', 'weight'), sym('j')),
      sub(vec('v', 'v'), sym('j')),
    ),
    cell.mask
      ? null
      : h(
          'p',
          null,
          key,
          ' accounts for ',
          h('strong', null, percent(cell.share)),
          ' of what is mixed in, measured by length: its weight times the length of its ',
          named('v', 'v'),
          ', over the sum of all such.',
        ),
  ];
}

/**
 * @param {Cell} cell
 * @param {Row} row
 * @param {Values} values
 * @param {Meta} meta
 * @param {Worked | null} worked
 */
function table(cell, row, values, meta, worked) {
  const names = worked?.dims.v ?? cell.v.map((_, i) => String(i));
  const notes = worked?.dim_notes.v;
  const write = together(values.v.flat());
  const order = row.weights
    .map((_, j) => j)
    .filter((j) => row.mask[j] === null)
    .sort((a, b) => row.weights[b] - row.weights[a]);
  return h(
    'div',
    { class: 'wide' },
    h(
      'table',
      { class: 'vectors tall mix' },
      h(
        'thead',
        null,
        h(
          'tr',
          null,
          h('th', { scope: 'col' }, 'key'),
          h('th', { scope: 'col' }, named('weight', 'w')),
          names.map((name, i) => h('th', { scope: 'col', title: notes?.[i], class: 't-v' }, name)),
        ),
      ),
      h(
        'tbody',
        null,
        order.map((j) =>
          h(
            'tr',
            { class: j === cell.key.index ? 'is-key' : '', 'data-key': j },
            h(
              'th',
              { scope: 'row' },
              h(
                'button',
                { type: 'button', class: 'link', 'data-focus': `mix${j}`, onclick: () => choose({ key: j }) },
                tokenChip(keysOf(meta, cell)[j], j, j === cell.key.index ? 'k' : null),
              ),
            ),
            h('td', null, num(row.weights[j], 'weight')),
            values.v[j].map((v) => h('td', null, num(v, 'v', write(v)))),
          ),
        ),
      ),
      h(
        'tfoot',
        null,
        h(
          'tr',
          null,
          h('th', { scope: 'row' }, h('em', null, 'z'), ' = sum of w × v'),
          h('td', null),
          cell.out.map((z) => h('td', null, num(z))),
        ),
      ),
    ),
  );
}

/**
 * @param {Cell} cell
 * @param {Row} row
 * @param {Values | null} values
 * @param {Meta} meta
 */
function strips(cell, row, values, meta) {
  const top = values ? row.strongest.slice(0, LISTED) : [];
  return h(
    'div',
    { class: 'column' },
    h('p', { class: 'note' }, 'This key’s value, and what it brings in:'),
    dimStrips([
      { name: 'v', term: 'v', values: cell.v },
      { name: 'w × v', term: 'weight', values: cell.v.map((v) => v * cell.weight) },
    ]),
    h('p', { class: 'note' }, 'The sum over all keys:'),
    dimStrips([{ name: 'z', term: 'v', values: cell.out }]),
    top.length
      ? h(
          'p',
          { class: 'note' },
          'The strongest keys, and how much each brings in: its ',
          named('weight', 'weight'),
          ' × the length of its ',
          named('v', 'v'),
          '.',
        )
      : null,
    top.length
      ? h(
          'ol',
          { class: 'budget' },
          top.map(({ index, weight }) => {
            const length = Math.hypot(...(values?.v[index] ?? []));
            return h(
              'li',
              { class: 'mixed' },
              h(
                'button',
                { type: 'button', class: 'link', 'data-focus': `mix${index}`, onclick: () => choose({ key: index }) },
                tokenChip(keysOf(meta, cell)[index], index, index === cell.key.index ? 'k' : null),
              ),
              h('span', null, num(weight, 'weight'), ' × ', num(length, 'v')),
              num(weight * length),
            );
          }),
        )
      : null,
    row.weights.length > MOST_VALUES
      ? h(
          'p',
          { class: 'note' },
          `The list of all values is left out beyond ${MOST_VALUES} keys; each key’s own value is shown when you choose it.`,
        )
      : null,
  );
}

/** The residual: what the token becomes. @param {Cell} cell @param {Worked} worked */
function added(cell, worked) {
  const i = cell.query.index;
  const write = together(worked.x[i]);
  const line = (/** @type {string} */ name, /** @type {number[]} */ values, /** @type {(v: number) => string} */ how) =>
    h(
      'tr',
      null,
      h('th', { scope: 'row' }, name),
      values.map((v) => h('td', null, num(v, null, how(v)))),
    );
  const two = (/** @type {number} */ v) => together([v, 0.001])(v);
  return h(
    'div',
    { class: 'column' },
    h(
      'p',
      null,
      'The output matrix turns ',
      h('em', null, 'z'),
      ' back into the dimensions of the token, and the result is added to it: what stood there stays, and something is mixed in.',
    ),
    h(
      'div',
      { class: 'wide' },
      h(
        'table',
        { class: 'vectors tall residual' },
        h(
          'thead',
          null,
          h(
            'tr',
            null,
            h('td', null),
            worked.dims.x.map((name, c) => h('th', { scope: 'col', title: worked.dim_notes.x[c] }, name)),
          ),
        ),
        h('tbody', null, line('x, the token', worked.x[i], write), line('z W_O, mixed in', worked.zo[i], two)),
        h('tfoot', null, line('x + z W_O', worked.y[i], two)),
      ),
    ),
    folded('w_o', 'The output matrix W_O', () => [
      h(
        'div',
        { class: 'wide' },
        matrix({
          name: 'W_O',
          values: worked.w_o,
          term: null,
          columns: worked.dims.x,
          notes: worked.dim_notes.x,
          rows: worked.dims.v,
          markedRow: null,
          markedColumn: null,
          pick: null,
        }),
      ),
    ]),
  );
}

customElements.define('step-mix', StepMix);
