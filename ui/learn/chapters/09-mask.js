// Chapter 9: why a generator may not peek, and what the mask does to a row.

/** @import { Example } from '../engine.js' */
import { h } from '../../dom.js';
import { named, num, tokenChip } from '../../figures.js';
import { Chapter } from '../chapter.js';
import { choice } from '../controls/choice.js';
import { slider } from '../controls/slider.js';
import { example } from '../engine.js';
import { bars } from '../figures/bars.js';
import { heat } from '../figures/heat.js';
import { maskStyles } from '../figures/mask-styles.js';
import { peek } from '../figures/peek.js';
import { answer, inspect, lead, para, scene, stops, tryThis } from '../prose.js';
import { unless, whole } from '../route.js';

class Mask extends Chapter {
  open() {
    this.follow(
      async (/** @type {null} */ _, signal) => {
        const [open, causal] = await Promise.all([example(false, signal), example(true, signal)]);
        return { open, causal };
      },
      ({ open, causal }) => this.#build(open, causal),
    )(null);
  }

  /** @param {Example} open @param {Example} causal */
  #build(open, causal) {
    const { tokens } = open.meta;
    let at = {
      row: whole(this.params, 'query', 4, tokens.length),
      column: whole(this.params, 'key', 1, tokens.length),
    };
    let masked = this.params.get('mask') !== 'none';
    const list = bars({ label: 'The row before (outlines) and after the mask', tokens, term: 'weight' });
    const told = answer();
    const map = heat({
      label: 'Weights of the example: queries down, keys across',
      rows: tokens,
      columns: tokens,
      pick: (row, column) => {
        at = { row, column };
        query.set(row);
        draw();
      },
    });
    const query = slider({
      name: h('span', { class: 't-q' }, 'query'),
      min: 0,
      max: tokens.length - 1,
      step: 1,
      value: at.row,
      term: 'q',
      write: (i) => `${tokens[i].text} ${i}`,
      change: (row) => {
        at = { ...at, row };
        draw();
      },
    });
    const draw = () => {
      const { worked } = masked ? causal : open;
      const shut = (/** @type {number} */ i, /** @type {number} */ j) => worked.m[i][j] === null;
      map.update({ values: worked.weights, kind: 'weight', hidden: shut, at });
      const before = worked.weights_unmasked[at.row];
      list.update({
        values: worked.weights[at.row].map((w, j) => (shut(at.row, j) ? null : w)),
        ghosts: masked ? before : null,
        at: at.column,
        most: 1,
      });
      const hidden = before.filter((_, j) => shut(at.row, j));
      told.says(
        tokenChip(tokens[at.row], at.row, 'q'),
        ' sees ',
        h('strong', null, String(tokens.length - hidden.length)),
        ` of ${tokens.length} tokens. `,
        hidden.length
          ? h(
              'span',
              null,
              'The hidden ones had ',
              num(
                hidden.reduce((a, b) => a + b, 0),
                'weight',
              ),
              ' of the row between them. The others now share it, and the row is 1 again.',
            )
          : masked
            ? 'It comes last, so the mask takes nothing from it.'
            : 'Nothing is hidden.',
      );
      this.keep({ query: at.row, key: unless(at.column, 1), mask: masked ? null : 'none' });
    };
    const peeking = peek(this, open);
    const styles = maskStyles(this);
    this.redraw(draw);
    draw();
    const which = choice(
      'Mask',
      [
        { value: 'causal', text: 'Causal' },
        { value: 'none', text: 'None' },
      ],
      masked ? 'causal' : 'none',
      (value) => {
        masked = value === 'causal';
        draw();
      },
    );
    this.page(
      'The mask',
      lead`A model that writes has only the past. If in training a token could look at the one it is to predict, it would learn to copy, and then have nothing to copy from. So every key that comes later is hidden: its ${named('score', 'score')} becomes −∞, and its ${named('weight', 'weight')} 0.`,
      scene(
        'A row before and after',
        [
          which.element,
          query.element,
          told.element,
          list.element,
          para`As a formula one adds M to the scores: 0 where a key may be seen, −∞ where not. Our engine does not add anything. It leaves hidden keys out, because a large negative number is no substitute: real scores can be lower.`,
        ],
        [
          map.element,
          h(
            'p',
            null,
            inspect({ source: 'example', causal: true, query: 6, key: 8 }, 'A hidden cell in the inspector'),
          ),
        ],
      ),
      scene(
        'Proof that nobody peeks',
        [
          para`Replace a word and compare all outputs with those of before. With the mask, no position before it can tell, not in the last bit. Without the mask, all of them can.`,
          para`This is what makes training honest and fast: one pass over a text gives a prediction at every position, and none of them has seen its answer.`,
          peeking.controls,
        ],
        [peeking.figure],
      ),
      scene(
        'Three places, two styles',
        [
          para`The design of 2017 had both kinds of attention and a bridge between them. Most models since use one of the two alone.`,
          styles.controls,
        ],
        [styles.figure],
      ),
      stops(
        para`“Causal” here means only “earlier in the text”. It says nothing about causes. And a model that may not see the rest of your text has been trained on a great many texts, with the rest of each as the answer.`,
      ),
      tryThis(
        'Slide the query from first to last, with the mask on.',
        'the first token can only see itself, so its weight on itself is exactly 1, whatever the scores say. Early rows have few to share with; many trained heads lean on that first token.',
      ),
    );
  }
}

customElements.define('lesson-mask', Mask);
