// Step 3: the mask. On the example also the whole row before and after it, and the matrix M.

/** @import { Cell, Meta, Row, Worked } from '../contract.js' */
import { choose, chooseMask } from '../actions.js';
import { keysOf, queriesOf, siteOf } from '../axes.js';
import { h } from '../dom.js';
import { named, num, stepBlock, tokenChip, tokenText } from '../figures.js';
import { folded } from '../folded.js';
import { math, op, sub, sym, val } from '../formula.js';
import { hiddenCounts, sentence } from '../hidden.js';
import { together } from '../numbers.js';
import { sameRow } from '../same-row.js';
import { Part } from './part.js';

export class StepMask extends Part {
  begin() {
    this.watchInSight(
      (s) => [s.cell.value, s.trace.value, s.worked.value, s.row.value],
      (cell, meta, worked, row) => {
        const site = cell && meta && siteOf(meta, cell);
        if (!cell || !meta || !queriesOf(meta, cell)[cell.query.index] || !site) return this.update();
        this.update(
          stepBlock(
            3,
            'The mask',
            ...about(cell, meta, row && sameRow(cell, row) ? row : null),
            ...(worked ? example(cell, meta, worked, site.causal) : []),
          ),
        );
      },
    );
  }
}

/** @param {Cell} cell @param {Meta} meta @param {Row | null} row  null while it is on its way */
function about(cell, meta, row) {
  const query = tokenChip(queriesOf(meta, cell)[cell.query.index], cell.query.index, 'q');
  const key = tokenChip(keysOf(meta, cell)[cell.key.index], cell.key.index, 'k');
  const m = sub(sym('M'), sym(`${cell.query.index},${cell.key.index}`));
  if (cell.mask) {
    return [
      h(
        'p',
        null,
        h('strong', null, 'Hidden. '),
        sentence(cell.mask, siteOf(meta, cell)),
        ' The score exists but takes no part: it is left out, as if minus infinity were added to it.',
      ),
      math(
        'M is minus infinity: hidden',
        m,
        op('='),
        val(null),
        op(','),
        sym('s', 'score'),
        op('+'),
        m,
        op('='),
        val(null),
      ),
    ];
  }
  const hiding = row ? hiddenCounts(row.mask) : [];
  const why = row && hiding.length === 0 ? ' may look at every token, so also at ' : ' may look at ';
  return [
    h(
      'p',
      null,
      query,
      why,
      key,
      ': the mask adds 0, and the ',
      named('score', 'score'),
      ' stays ',
      num(cell.score, 'score'),
      '.',
      hiding.length > 0 ? ` Hidden from it: ${hiding.join(', ')}.` : '',
    ),
  ];
}

/** @param {Cell} cell @param {Meta} meta @param {Worked} worked @param {boolean} causal */
function example(cell, meta, worked, causal) {
  return [
    folded(
      `row ${causal}`,
      'The row before and after the mask',
      () => [
        h('div', { class: 'wide' }, wholeRow(cell, meta, worked)),
        h(
          'p',
          { class: 'note' },
          causal
            ? 'What the hidden keys would have taken is shared out among the rest in proportion: the row sums to 1 again.'
            : 'Nothing is hidden, so both columns are the same. Switch the mask to see the row renormalise.',
        ),
      ],
      causal,
    ),
    folded('m', 'The whole matrix M', () => [matrixM(meta, worked, cell)]),
    h(
      'p',
      null,
      h(
        'button',
        { type: 'button', class: 'quiet', 'data-focus': 'mask-here', onclick: () => chooseMask(!causal) },
        causal ? 'Take the mask away (bidirectional)' : 'Put the causal mask on',
      ),
    ),
  ];
}

/** @param {Cell} cell @param {Meta} meta @param {Worked} worked */
function wholeRow(cell, meta, worked) {
  const i = cell.query.index;
  const write = together(worked.scores[i]);
  const head = (/** @type {string | Node} */ text, /** @type {string} */ title) =>
    h('th', { scope: 'col', title }, text);
  const lines = meta.tokens.map((token, j) => {
    const hidden = worked.m[i][j] === null;
    return h(
      'tr',
      { class: `${hidden ? 'is-hidden' : ''}${j === cell.key.index ? ' is-key' : ''}`, 'data-key': j },
      h(
        'th',
        { scope: 'row' },
        h(
          'button',
          { type: 'button', class: 'link', 'data-focus': `mask-key${j}`, onclick: () => choose({ key: j }) },
          tokenText(token),
          h('sub', null, j),
        ),
      ),
      h('td', null, num(worked.scores[i][j], 'score', write(worked.scores[i][j]))),
      h('td', { class: 'm' }, num(worked.m[i][j])),
      h('td', null, num(worked.weights_unmasked[i][j], 'weight')),
      h('td', null, num(worked.weights[i][j], 'weight')),
    );
  });
  const sum = (/** @type {number[]} */ row) => row.reduce((a, b) => a + b, 0);
  return h(
    'table',
    { class: 'vectors tall mask-row' },
    h(
      'thead',
      null,
      h(
        'tr',
        null,
        h('th', { scope: 'col' }, 'key'),
        head(named('score', 's'), 'score'),
        head('M', 'the mask: 0 or minus infinity'),
        head('without mask', 'weight if nothing were hidden'),
        head('with mask', 'weight'),
      ),
    ),
    h('tbody', null, lines),
    h(
      'tfoot',
      null,
      h(
        'tr',
        null,
        h('th', { scope: 'row' }, 'sum'),
        h('td', null),
        h('td', null),
        h('td', null, num(sum(worked.weights_unmasked[i]), 'weight')),
        h('td', null, num(sum(worked.weights[i]), 'weight')),
      ),
    ),
  );
}

/** @param {Meta} meta @param {Worked} worked @param {Cell} cell */
function matrixM(meta, worked, cell) {
  return h(
    'div',
    { class: 'wide' },
    h(
      'table',
      { class: 'matrix-m', 'aria-label': 'M: queries in rows, keys in columns' },
      h(
        'thead',
        null,
        h(
          'tr',
          null,
          h('td', null),
          meta.tokens.map((_, j) => h('th', { scope: 'col' }, j)),
        ),
      ),
      h(
        'tbody',
        null,
        worked.m.map((line, i) =>
          h(
            'tr',
            null,
            h('th', { scope: 'row' }, tokenText(meta.tokens[i]), h('sub', null, i)),
            line.map((v, j) =>
              h(
                'td',
                {
                  class: `${v === null ? 'is-hidden' : ''}${i === cell.query.index && j === cell.key.index ? ' here' : ''}`,
                },
                num(v),
              ),
            ),
          ),
        ),
      ),
    ),
  );
}

customElements.define('step-mask', StepMask);
