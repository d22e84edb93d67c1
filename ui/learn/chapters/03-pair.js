// Chapter 3: one cell of the map, from two vectors to a score to a weight.

/** @import { Cell, Row } from '../../contract.js' */
/** @import { Example } from '../engine.js' */
import { h } from '../../dom.js';
import { named, num, tokenChip } from '../../figures.js';
import { call, fenced, math, op, over, root, sub, sym, val, vec } from '../../formula.js';
import { tidy, together } from '../../numbers.js';
import { Chapter } from '../chapter.js';
import { button, choice } from '../controls/choice.js';
import { example, oneCell, oneRow } from '../engine.js';
import { bars } from '../figures/bars.js';
import { heat } from '../figures/heat.js';
import { answer, inspect, lead, para, scene, stops, tryThis } from '../prose.js';
import { whole } from '../route.js';

const STEPS = ['Multiply', 'Add', 'Scale', 'Compare', 'Share'];

class Pair extends Chapter {
  open() {
    this.follow(
      (/** @type {null} */ _, signal) => example(false, signal),
      (found) => this.#build(found),
    )(null);
  }

  /** @param {Example} found */
  #build({ meta, worked }) {
    const n = meta.tokens.length;
    let at = { row: whole(this.params, 'query', 6, n), column: whole(this.params, 'key', 1, n) };
    let step = whole(this.params, 'step', 0, STEPS.length);
    /** @type {{cell: Cell, row: Row} | null} */
    let known = null;
    const panel = h('div', { class: 'panel' });
    const chain = h('p', { class: 'chain' });
    const told = answer('headline');
    const link = h('p', null);
    const onward = button('Next', () => {
      step = (step + 1) % STEPS.length;
      steps.set(String(step));
      draw();
    });
    const map = heat({
      label: 'Weights of the example: queries down, keys across',
      rows: meta.tokens,
      columns: meta.tokens,
      pick,
    });
    const list = bars({ label: 'The scores of the row', tokens: meta.tokens, term: 'score' });

    const ask = this.follow(
      async (/** @type {typeof at} */ where, signal) => {
        const [cell, row] = await Promise.all([
          oneCell(meta.id, where.row, where.column, signal),
          oneRow(meta.id, where.row, signal),
        ]);
        return { cell, row };
      },
      (answered) => {
        known = answered;
        draw();
      },
    );

    /** @param {number} row @param {number} column */
    function pick(row, column) {
      at = { row, column };
      colour();
      ask(at);
    }
    const colour = () => map.update({ values: worked.weights, kind: 'weight', at });

    const draw = () => {
      if (!known) return;
      const { cell } = known;
      this.keep({ query: at.row, key: at.column, step });
      told.says(
        tokenChip(meta.tokens[cell.query.index], cell.query.index, 'q'),
        ' → ',
        tokenChip(meta.tokens[cell.key.index], cell.key.index, 'k'),
        ': score ',
        num(cell.score, 'score'),
        ', weight ',
        num(cell.weight, 'weight'),
      );
      chain.replaceChildren(...progress(cell, step));
      panel.replaceChildren(...explained(step, known, worked.dims.qk, list));
      onward.textContent = step + 1 < STEPS.length ? `Next: ${STEPS[step + 1].toLowerCase()}` : 'From the beginning';
      link.replaceChildren(
        inspect({ source: 'example', query: cell.query.index, key: cell.key.index }, 'Open this cell in the inspector'),
      );
    };

    const steps = choice(
      'Step',
      STEPS.map((name, i) => ({ value: String(i), text: name })),
      String(step),
      (value) => {
        step = Number(value);
        draw();
      },
    );
    this.redraw(colour);
    colour();
    ask(at);
    this.page(
      'One pair, step by step',
      lead`Who was tired? To find out, “it” has to find its robot. Here is one cell of the map, worked out whole: two short vectors become one ${named('score', 'score')}, and the score becomes a ${named('weight', 'weight')}.`,
      told.element,
      scene(
        null,
        [steps.element, chain, panel, h('p', null, onward)],
        [
          map.element,
          h(
            'p',
            { class: 'note' },
            'Each row is one ',
            named('q', 'query'),
            ', each column one ',
            named('k', 'key'),
            '. Click any cell, or walk with the arrow keys.',
          ),
          link,
        ],
      ),
      stops(
        para`A high score says that two vectors point the same way. It does not say why they do. In this example the reason was built in by hand; in a trained model it was found by training and need not have a name.`,
      ),
      tryThis(
        'Find the strongest cell in the row of “patient”, then read its five steps.',
        'a single large product can decide a score, and a negative product can undo it. The weight then depends on the whole row: the same score gets a different weight in another row.',
      ),
    );
  }
}

/** @param {Cell} cell @param {number} step The numbers reached so far. */
function progress(cell, step) {
  const parts = [
    h('span', null, named('q', 'q'), ' × ', named('k', 'k')),
    h('span', null, num(cell.dot, 'score', tidy(cell.dot))),
    h('span', null, num(cell.score, 'score')),
    h('span', null, 'exp(', num(cell.log_weight), ')'),
    h('span', null, num(cell.weight, 'weight')),
  ];
  return parts.slice(0, step + 1).flatMap((part, i) => (i ? [h('span', { class: 'then' }, ' → '), part] : [part]));
}

/** @param {number} step @param {{cell: Cell, row: Row}} known @param {string[]} dims @param {ReturnType<typeof bars>} list */
function explained(step, { cell, row }, dims, list) {
  const [query, key] = [cell.query.token, cell.key.token];
  const write = together([...cell.q, ...cell.k]);
  const writeProduct = together(cell.products);
  switch (step) {
    case 0:
      return [
        para`Put the query of “${query}” above the key of “${key}” and multiply, entry by entry. Where both are large with the same sign, the product is large: asked for, and there.`,
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
                dims.map((d) => h('th', { scope: 'col' }, d)),
              ),
            ),
            h(
              'tbody',
              null,
              h(
                'tr',
                null,
                h('th', { scope: 'row' }, named('q', 'q'), ` of ${query}`),
                cell.q.map((v) => h('td', null, num(v, 'q', write(v)))),
              ),
              h(
                'tr',
                null,
                h('th', { scope: 'row' }, named('k', 'k'), ` of ${key}`),
                cell.k.map((v) => h('td', null, num(v, 'k', write(v)))),
              ),
            ),
            h(
              'tfoot',
              null,
              h(
                'tr',
                null,
                h('th', { scope: 'row' }, 'product'),
                cell.products.map((v) => h('td', null, num(v, 'score', writeProduct(v)))),
              ),
            ),
          ),
        ),
      ];
    case 1:
      return [
        para`Add the products. The sum is the dot product: one number for how well the question fits the offer.`,
        math(
          'q dot k',
          vec('q', 'q'),
          op('·'),
          vec('k', 'k'),
          op('='),
          ...cell.products.flatMap((v, i) => [...(i ? [op('+')] : []), fenced(round(v), 'score')]),
          op('='),
          val(cell.dot, 'score', tidy(cell.dot)),
        ),
      ];
    case 2:
      return [
        para`Divide by the root of the number of entries, here ${cell.q.length}. Chapter 5 shows why. The result is the ${named('score', 'score')}.`,
        math(
          'score',
          sym('s', 'score'),
          op('='),
          over(val(cell.dot, 'score', tidy(cell.dot)), root(val(cell.q.length, null, String(cell.q.length)))),
          op('='),
          val(cell.dot, 'score', tidy(cell.dot)),
          op('×'),
          val(cell.scale, null, tidy(cell.scale)),
          op('='),
          val(cell.score, 'score'),
        ),
      ];
    case 3:
      list.update({ values: shifted(row.scores), at: cell.key.index, write: (_, i) => num(row.scores[i], 'score') });
      return [
        para`Every key of the row has a score, and only the comparison counts. All of them go into one number, the logarithm of the sum of their exponentials: ${h('em', null, 'lse')} = ${num(row.lse)}.`,
        list.element,
      ];
    default:
      return [
        para`What this key has over the whole row, put through exp, is its share of the row’s attention: its ${named('weight', 'weight')}. All weights of the row add up to 1.`,
        math(
          'weight',
          sub(sym('A', 'weight'), sym('ij')),
          op('='),
          call('exp', sym('s', 'score'), op('−'), sym('lse')),
          op('='),
          call('exp', val(cell.score, 'score'), op('−'), fenced(cell.lse)),
          op('='),
          val(cell.weight, 'weight'),
        ),
      ];
  }
}

/** Free of the dust of 32-bit arithmetic, where a number is meant to be short. @param {number} v */
const round = (v) => Math.round(v * 1e5) / 1e5;

/** Bars begin at the lowest score. @param {(number | null)[]} scores */
function shifted(scores) {
  const low = Math.min(0, ...scores.map((v) => v ?? 0));
  return scores.map((v) => (v === null ? null : v - low));
}

customElements.define('lesson-pair', Pair);
