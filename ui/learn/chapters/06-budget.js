// Chapter 6: each row has 1 to spend. Raise one score, and the others pay.

/** @import { Example, Gradient } from '../engine.js' */
import { h } from '../../dom.js';
import { named, num, tokenChip } from '../../figures.js';
import { group, math, op, over, sub, sym } from '../../formula.js';
import { Chapter } from '../chapter.js';
import { button, tokenChoice } from '../controls/choice.js';
import { slider } from '../controls/slider.js';
import { example, gradient } from '../engine.js';
import { bars } from '../figures/bars.js';
import { hinton } from '../figures/hinton.js';
import { answer, inspect, lead, para, remark, scene, stops, tryThis } from '../prose.js';
import { numbersIn, unless, whole, written } from '../route.js';

const [LOWEST, HIGHEST] = [-12, 8];
/** Far enough down for a weight that 32-bit numbers can no longer hold. */
const FAR = -110;

/** The key picked at first. */
const ROBOT = 1;

class Budget extends Chapter {
  open() {
    this.follow(
      (/** @type {null} */ _, signal) => example(false, signal),
      (found) => this.#build(found),
    )(null);
  }

  /** @param {Example} found */
  #build({ meta, worked }) {
    const { tokens } = meta;
    let query = whole(this.params, 'query', 6, tokens.length);
    let scores = numbersIn(this.params, 'scores', worked.scores[query], 120);
    let picked = whole(this.params, 'key', ROBOT, tokens.length);
    /** @type {Gradient | null} */
    let now = null;
    const told = answer();
    const slopes = answer();
    const picture = h('div');
    const sliders = tokens.map((token, i) => {
      const one = slider({
        name: h('span', { class: 'unseen' }, `score of ${token.text}`),
        min: LOWEST,
        max: HIGHEST,
        step: 0.05,
        value: scores[i],
        term: 'score',
        write: (v) => v.toFixed(2).replace('-', '−'),
        change: (value) => {
          scores = scores.map((old, j) => (j === i ? value : old));
          picked = i;
          chooser.set(i);
          ask(scores);
        },
      });
      return one;
    });
    const list = bars({
      label: 'Scores and weights of the row',
      tokens,
      term: 'weight',
      control: (i) => sliders[i].element,
    });
    const ask = this.follow(
      (/** @type {number[]} */ wish, signal) => gradient(wish, signal),
      (answered) => {
        now = answered;
        draw();
      },
    );
    const chooser = tokenChoice(
      'Raise the score of',
      tokens,
      picked,
      (i) => {
        picked = i;
        draw();
      },
      'k',
    );

    const draw = () => {
      if (!now) return;
      const { weights, log_weights, jacobian } = now;
      list.update({
        values: weights,
        ghosts: worked.weights[query],
        at: picked,
        most: 1,
        write: (w, i) =>
          w.toFixed(3) === '0.000'
            ? h('span', { title: String(w) }, '0.000 = e', h('sup', null, log_weights[i].toFixed(1).replace('-', '−')))
            : num(w, 'weight', w.toFixed(3)),
      });
      const sum = weights.reduce((a, b) => a + b, 0);
      const was = worked.weights[query];
      const gain = weights[picked] - was[picked];
      told.says(
        tokenChip(tokens[picked], picked, 'k'),
        ' has ',
        num(weights[picked], 'weight'),
        Math.abs(gain) < 5e-4
          ? h('span', null, ', as in the example')
          : h('span', null, gain > 0 ? ', up ' : ', down ', num(Math.abs(gain), 'weight'), ' from the example'),
        '. The row adds up to ',
        num(sum, 'weight', sum.toFixed(6)),
        '.',
      );
      this.keep({ query, key: unless(picked, ROBOT), scores: written(scores, worked.scores[query]) });
      picture.replaceChildren(
        hinton({
          matrix: jacobian,
          tokens,
          column: picked,
          pick: (k) => {
            picked = k;
            chooser.set(k);
            draw();
          },
          says: `Slopes of every weight by every score. The score of ${tokens[picked].text} moves its own weight up and all others down.`,
        }),
      );
      const column = jacobian.map((row) => row[picked]);
      const payer = column.reduce((best, v, j) => (v < column[best] ? j : best), picked === 0 ? 1 : 0);
      slopes.says(
        'For each small step of the score of ',
        tokenChip(tokens[picked], picked, 'k'),
        ' its own weight moves by ',
        num(column[picked], 'weight'),
        ' of that step. ',
        tokenChip(tokens[payer], payer, 'k'),
        ' pays most: ',
        num(column[payer], 'weight'),
        '. All of them together: ',
        num(clean(column.reduce((a, b) => a + b, 0))),
        '.',
      );
    };

    /** @param {number[]} next */
    const put = (next) => {
      scores = next;
      next.forEach((v, i) => sliders[i].set(v));
      ask(scores);
    };
    const rows = tokenChoice('Whose row?', tokens, query, (i) => {
      query = i;
      put([...worked.scores[query]]);
    });
    put(scores);
    this.page(
      'Softmax is a budget',
      lead`Each row has exactly 1 to spend. Softmax takes the exponential of every ${named('score', 'score')} and divides by their sum. So no ${named('weight', 'weight')} is ever alone: what one key gains, the others lose.`,
      scene(
        null,
        [
          rows.element,
          para`Drag any score. The outlines show the weights of the example.`,
          told.element,
          h(
            'div',
            { class: 'row' },
            button('Back to the example', () => put([...worked.scores[query]])),
            button('All scores equal', () => put(scores.map(() => 0))),
            button('Add 2 to every score', () => put(scores.map((v) => v + 2))),
            button('Send the chosen key far down', () => put(scores.map((v, i) => (i === picked ? FAR : v)))),
          ),
          remark`No key that may be seen ever gets exactly 0. Where its weight rounds to 0.000, the logarithm is shown: e to that power.`,
        ],
        [list.element],
      ),
      scene(
        'Who pays, and how much',
        [
          para`Here is the slope of every weight by every score. A column is one score raised a little; down it stands what happens to each weight. Full squares grow, hollow squares shrink, and the area is how much.`,
          chooser.element,
          slopes.element,
          math(
            'the slope of weight j by score k is weight j times (delta minus weight k)',
            over(group(op('∂'), sub(sym('A', 'weight'), sym('j'))), group(op('∂'), sub(sym('s', 'score'), sym('k')))),
            op('='),
            sub(sym('A', 'weight'), sym('j')),
            op('('),
            sub(sym('δ'), sym('jk')),
            op('−'),
            sub(sym('A', 'weight'), sym('k')),
            op(')'),
          ),
          remark`δ is 1 where j = k and 0 elsewhere. So a key pays in proportion to what it has.`,
        ],
        [picture],
      ),
      stops(
        para`A budget suggests that spending little means caring little. But a row cannot spend less than 1. A head with nothing to look for still has to put its 1 somewhere, and in trained models it is often a token that hands over next to nothing. Chapter 13 comes back to this.`,
      ),
      tryThis(
        'Add 2 to every score. Then put all of them back and raise one score until its weight passes 0.99, watching the full squares.',
        'adding the same to all changes nothing: only differences count. And near 1 every square fades. A row that is sure of itself has almost no slope left, which is what chapter 5 was about.',
        h('p', null, inspect({ source: 'example', query, key: 1 }, 'This row in the inspector')),
      ),
    );
  }
}

/** A sum that is zero up to rounding is written as one. @param {number} v */
const clean = (v) => (Math.abs(v) < 1e-6 ? 0 : v);

customElements.define('lesson-budget', Budget);
