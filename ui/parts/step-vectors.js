// Step 1: the two vectors, their products entry by entry, and the sum.

/** @import { Cell, Meta, Token, Worked } from '../contract.js' */
import { keysOf, queriesOf } from '../axes.js';
import { h } from '../dom.js';
import { named, num, stepBlock, tokenChip } from '../figures.js';
import { folded } from '../folded.js';
import { group, math, op, val, vec } from '../formula.js';
import { show, together } from '../numbers.js';
import { dimStrips } from './dim-strips.js';
import { Part } from './part.js';

/** Up to this many entries a vector is written out as a table. */
const WRITTEN_OUT = 8;
/** Of a longer one, this many of the largest products. */
const LARGEST = 5;

export class StepVectors extends Part {
  begin() {
    this.watchInSight(
      (s) => [s.cell.value, s.trace.value, s.worked.value],
      (cell, meta, worked) => {
        if (!cell || !meta || !queriesOf(meta, cell)[cell.query.index]) return this.update();
        const body = cell.q.length <= WRITTEN_OUT ? writtenOut(cell, meta, worked) : longVectors(cell, meta);
        this.update(stepBlock(1, 'Two vectors meet, entry by entry', ...body));
      },
    );
  }
}

/** @param {Cell} cell @param {Meta} meta */
function intro(cell, meta) {
  const query = tokenChip(queriesOf(meta, cell)[cell.query.index], cell.query.index, 'q');
  const key = tokenChip(keysOf(meta, cell)[cell.key.index], cell.key.index, 'k');
  return h(
    'p',
    null,
    query,
    ' asks with its query ',
    named('q', 'q'),
    '; ',
    key,
    ' answers with its key ',
    named('k', 'k'),
    '. Multiply them entry by entry and add up.',
  );
}

/** @param {Cell} cell @param {Meta} meta @param {Worked | null} worked */
function writtenOut(cell, meta, worked) {
  const names = worked?.dims.qk ?? cell.q.map((_, i) => String(i));
  const notes = worked?.dim_notes.qk;
  const write = together([cell.q, cell.k, cell.products].flat());
  const line = (
    /** @type {Node | string} */ name,
    /** @type {number[]} */ values,
    /** @type {'q' | 'k' | 'score'} */ term,
  ) =>
    h(
      'tr',
      null,
      h('th', { scope: 'row' }, name),
      values.map((v) => h('td', null, num(v, term, write(v)))),
    );
  return [
    intro(cell, meta),
    h(
      'div',
      { class: 'wide' },
      h(
        'table',
        { class: 'vectors' },
        h(
          'thead',
          null,
          h(
            'tr',
            null,
            h('td', null),
            names.map((name, i) => h('th', { scope: 'col', title: notes?.[i] }, name)),
          ),
        ),
        h(
          'tbody',
          null,
          line(ofToken('q', queriesOf(meta, cell)[cell.query.index], cell.query.index), cell.q, 'q'),
          line(ofToken('k', keysOf(meta, cell)[cell.key.index], cell.key.index), cell.k, 'k'),
        ),
        h('tfoot', null, line(h('span', null, named('q', 'q'), ' × ', named('k', 'k')), cell.products, 'score')),
      ),
    ),
    sumLine(cell, write),
    notes
      ? folded('dims', 'What these dimensions mean', () => [
          h(
            'dl',
            null,
            names.flatMap((name, i) => [h('dt', null, name), h('dd', null, notes[i])]),
          ),
        ])
      : null,
  ];
}

/** The products added up. @param {Cell} cell @param {(v: number) => string} write */
function sumLine(cell, write) {
  const terms = cell.products.flatMap((p, i) => [
    ...(i ? [op('+')] : []),
    p < 0 ? group(op('('), val(p, 'score', write(p)), op(')')) : val(p, 'score', write(p)),
  ]);
  return math(
    `q·k = ${cell.products.map(write).join(' plus ')} = ${show(cell.dot)}`,
    vec('q', 'q'),
    op('·'),
    vec('k', 'k'),
    op('='),
    ...terms,
    op('='),
    val(cell.dot, 'score'),
  );
}

/** @param {'q' | 'k'} term @param {Token} token @param {number} index */
function ofToken(term, token, index) {
  return h('span', null, named(term, term), ' of ', h('span', { class: 'of' }, tokenChip(token, index)));
}

/** @param {Cell} cell @param {Meta} meta */
function longVectors(cell, meta) {
  const strips = dimStrips(
    [
      { name: 'q', term: 'q', values: cell.q },
      { name: 'k', term: 'k', values: cell.k },
      { name: 'q × k', term: 'score', values: cell.products },
    ],
    'Each bar is one entry; below the line it is negative. Point at one to read it.',
  );
  const order = cell.products.map((_, i) => i).sort((a, b) => Math.abs(cell.products[b]) - Math.abs(cell.products[a]));
  const top = order.slice(0, LARGEST);
  const rest = order.slice(LARGEST).reduce((sum, i) => sum + cell.products[i], 0);
  return [
    intro(cell, meta),
    strips,
    h(
      'div',
      { class: 'wide' },
      h(
        'table',
        { class: 'vectors tall' },
        h(
          'thead',
          null,
          h(
            'tr',
            null,
            h('th', { scope: 'col' }, 'entry'),
            h('th', { scope: 'col' }, named('q', 'q')),
            h('th', { scope: 'col' }, named('k', 'k')),
            h('th', { scope: 'col' }, 'product'),
          ),
        ),
        h(
          'tbody',
          null,
          top.map((i) =>
            h(
              'tr',
              null,
              h('th', { scope: 'row' }, i),
              h('td', null, num(cell.q[i], 'q')),
              h('td', null, num(cell.k[i], 'k')),
              h('td', null, num(cell.products[i], 'score')),
            ),
          ),
          h(
            'tr',
            null,
            h('th', { scope: 'row', colspan: '3' }, `the other ${order.length - top.length} entries together`),
            h('td', null, num(rest, 'score')),
          ),
        ),
        h(
          'tfoot',
          null,
          h(
            'tr',
            null,
            h(
              'th',
              { scope: 'row', colspan: '3' },
              `sum of all ${order.length}: `,
              named('q', 'q'),
              ' · ',
              named('k', 'k'),
            ),
            h('td', null, num(cell.dot, 'score')),
          ),
        ),
      ),
    ),
    allEntries(cell),
  ];
}

/** @param {Cell} cell */
const allEntries = (cell) =>
  folded('all', `All ${cell.q.length} entries`, () => [h('div', { class: 'wide' }, entries(cell))]);

/** @param {Cell} cell */
function entries(cell) {
  return h(
    'table',
    { class: 'vectors tall' },
    cell.q.map((q, i) =>
      h(
        'tr',
        null,
        h('th', { scope: 'row' }, i),
        h('td', null, num(q, 'q')),
        h('td', null, num(cell.k[i], 'k')),
        h('td', null, num(cell.products[i], 'score')),
      ),
    ),
  );
}

customElements.define('step-vectors', StepVectors);
