// Chapter 4: all scores as one matrix product: Q on the left, K lying on its side above.

/** @import { Example, Scratch } from '../engine.js' */
import { h, vars } from '../../dom.js';
import { num, tokenText } from '../../figures.js';
import { title } from '../../matrix.js';
import { tidy, together } from '../../numbers.js';
import { Chapter } from '../chapter.js';
import { choice } from '../controls/choice.js';
import { example, scratch } from '../engine.js';
import { heat } from '../figures/heat.js';
import { answer, inspect, lead, para, remark, scene, stops, tryThis } from '../prose.js';
import { oneOf, unless, whole } from '../route.js';

/** @typedef {'product' | 'scores' | 'weights'} Stage */

/** @type {Stage[]} */
const STAGES = ['product', 'scores', 'weights'];

class AllPairs extends Chapter {
  open() {
    this.follow(
      async (/** @type {null} */ _, signal) => {
        const [found, raw] = await Promise.all([example(false, signal), scratch({ causal: false, scale: 1 }, signal)]);
        return { found, raw };
      },
      ({ found, raw }) => this.#build(found, raw),
    )(null);
  }

  /** @param {Example} found @param {Scratch} raw  without the division */
  #build({ meta, worked }, raw) {
    const n = meta.tokens.length;
    let at = { row: whole(this.params, 'query', 6, n), column: whole(this.params, 'key', 1, n) };
    let stage = oneOf(this.params, 'show', STAGES, 'product');
    const q = strip(worked.q, 'q', meta.tokens);
    const k = strip(worked.k, 'k', meta.tokens);
    const told = answer();
    const link = h('p', null);
    const show = () => draw();
    const map = heat({
      label: 'Queries down, keys across',
      rows: meta.tokens,
      columns: meta.tokens,
      names: false,
      pick: (row, column) => {
        at = { row, column };
        draw();
      },
      point: (row, column) => {
        at = { row, column };
        draw();
      },
    });
    const name = h('div', { class: 'crossing-name' });

    const draw = () => {
      const values = { product: raw.scores, scores: worked.scores, weights: worked.weights }[stage];
      map.update({ values, kind: stage === 'weights' ? 'weight' : 'score', at });
      q.mark(at.row);
      k.mark(at.column);
      name.replaceChildren(...product(stage));
      told.says(...sentence(stage, at, meta.tokens, worked, raw));
      this.keep({ query: at.row, key: at.column, show: unless(stage, 'product') });
      link.replaceChildren(
        inspect({ source: 'example', query: at.row, key: at.column }, 'Open this cell in the inspector'),
      );
    };

    const stages = choice(
      'Show',
      [
        { value: 'product', text: h('span', null, 'Q K', h('sup', null, 'T')) },
        { value: 'scores', text: '÷ √d' },
        { value: 'weights', text: 'softmax of each row' },
      ],
      stage,
      (value) => {
        stage = /** @type {Stage} */ (value);
        draw();
      },
    );
    this.redraw(show);
    draw();
    this.page(
      'All pairs at once',
      lead`Nothing in the last chapter needed a special pair. Put all queries below one another as ${title('Q', 'q')}, lay all keys on their side as ${title('K', 'k')}${h('sup', null, 'T')}, and one matrix product gives every score at once.`,
      scene(
        null,
        [
          para`Row ${h('em', null, 'i')} of ${title('Q', 'q')} meets column ${h('em', null, 'j')} of ${title('K', 'k')}${h('sup', null, 'T')} where they cross. Move over the square and watch which two vectors light up.`,
          stages.element,
          told.element,
          remark`A full cell is above 0, a hatched or grey one below; the deeper, the larger.`,
          link,
        ],
        [
          h(
            'div',
            { class: 'crossing' },
            name,
            h('div', { class: 'crossing-k' }, k.element),
            h('div', { class: 'crossing-q' }, q.element),
            h('div', { class: 'crossing-map' }, map.element),
          ),
        ],
      ),
      stops(
        para`The square looks like one thing, and a machine does not have to keep it. Every cell depends on one row of ${title('Q', 'q')} and one of ${title('K', 'k')} only, so it can be made, used and thrown away piece by piece. Chapter 12 shows what that saves.`,
      ),
      tryThis(
        'Walk down one column with the arrow keys. Then along one row.',
        'down a column the key stays and the questions change: who listens to this token? Along a row the question stays: whom does this token listen to? Softmax works along rows only, so columns need not add up to anything.',
      ),
    );
  }
}

/** What the square holds. @param {Stage} stage @returns {(Node | string)[]} */
function product(stage) {
  const both = [title('Q', 'q'), ' ', title('K', 'k'), h('sup', null, 'T')];
  if (stage === 'product') return both;
  return stage === 'scores' ? [...both, ' / √d'] : [title('A', 'weight')];
}

/**
 * A matrix of a few columns as coloured cells, a token in each row (Q) or in each column (K).
 * @param {number[][]} values
 * @param {'q' | 'k'} term
 * @param {import('../../contract.js').Token[]} tokens
 */
function strip(values, term, tokens) {
  const most = Math.max(...values.flat().map(Math.abs));
  const lines = values.map((row, i) =>
    h(
      'div',
      { class: 'strip-line' },
      h('span', { class: 'strip-name' }, tokenText(tokens[i]), h('sub', null, i)),
      row.map((v) =>
        vars(h('span', { class: `strip-cell${v < 0 ? ' below' : ''}`, title: tidy(v) }), {
          '--at': Math.abs(v) / most,
        }),
      ),
    ),
  );
  return {
    element: h('div', { class: `strip of-${term}` }, lines),
    /** @param {number} at */
    mark(at) {
      lines.forEach((line, i) => line.classList.toggle('on', i === at));
    },
  };
}

/**
 * @param {Stage} stage
 * @param {{row: number, column: number}} at
 * @param {import('../../contract.js').Token[]} tokens
 * @param {import('../../contract.js').Worked} worked
 * @param {Scratch} raw
 */
function sentence(stage, { row, column }, tokens, worked, raw) {
  const [q, k] = [worked.q[row], worked.k[column]];
  const write = together([...q, ...k]);
  const names = [
    h('strong', { class: 't-q' }, tokens[row].text),
    ' · ',
    h('strong', { class: 't-k' }, tokens[column].text),
    ' = ',
  ];
  const product = num(raw.scores[row][column], 'score', tidy(raw.scores[row][column]));
  if (stage === 'product')
    return [
      ...names,
      ...q.flatMap((v, i) => [i ? ' + ' : '', signed(v, 'q', write), ' × ', signed(k[i], 'k', write)]),
      ' = ',
      product,
    ];
  const score = num(worked.scores[row][column], 'score');
  if (stage === 'scores') return [...names, product, ` ÷ √${q.length} = `, score];
  return [
    'exp(',
    score,
    ') over the sum of the exps of row ',
    h('strong', { class: 't-q' }, tokens[row].text),
    ' = ',
    num(worked.weights[row][column], 'weight'),
  ];
}

/** @param {number} v @param {'q' | 'k'} term @param {(v: number) => string} write */
const signed = (v, term, write) => (v < 0 ? h('span', null, '(', num(v, term, write(v)), ')') : num(v, term, write(v)));

customElements.define('lesson-all-pairs', AllPairs);
