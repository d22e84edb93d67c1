// Change one word and see which outputs know of it: with the mask only those that come after.

/** @import { Chapter } from '../chapter.js' */
/** @import { Example } from '../engine.js' */
import { h } from '../../dom.js';
import { num, tokenChip } from '../../figures.js';
import { choice, tokenChoice } from '../controls/choice.js';
import { scratch } from '../engine.js';
import { answer } from '../prose.js';
import { unless, whole } from '../route.js';
import { bars } from './bars.js';

/** The changed word becomes a human thing that acts: unlike every word of the example. */
const STRANGER = [1, 1, 1, 0, 0, 0];

/** The word that is replaced at first. */
const LAST_WORD = 8;

/** @param {Chapter} chapter @param {Example} example @returns {{controls: HTMLElement, figure: HTMLElement}} */
export function peek(chapter, { meta, worked }) {
  const { tokens } = meta;
  let position = whole(chapter.params, 'change', LAST_WORD, tokens.length);
  let causal = chapter.params.get('peek') !== 'yes';
  const list = bars({ label: 'How much each output changed', tokens, role: 'plain' });
  const told = answer();
  const ask = chapter.follow(
    async (/** @type {{position: number, causal: boolean}} */ wish, signal) => {
      const x = worked.x.map((row, i) => (i === wish.position ? STRANGER : row));
      const [was, now] = await Promise.all([
        scratch({ causal: wish.causal }, signal),
        scratch({ causal: wish.causal, x }, signal),
      ]);
      return now.y.map((row, i) => Math.max(...row.map((v, c) => Math.abs(v - was.y[i][c]))));
    },
    (moved, wish) => {
      list.update({ values: moved, at: wish.position, write: (v) => (v === 0 ? 'exactly 0' : num(v)) });
      const early = moved.slice(0, wish.position).filter((v) => v !== 0).length;
      told.says(
        tokenChip(tokens[wish.position], wish.position),
        ' was replaced by another word. ',
        wish.position === 0
          ? 'Nothing comes before it.'
          : early === 0
            ? h('strong', null, `The ${wish.position} before it did not change by one bit.`)
            : h('strong', null, `${early} of the ${wish.position} before it changed: they had looked ahead.`),
      );
    },
  );
  const go = () => {
    chapter.keep({ change: unless(position, LAST_WORD), peek: causal ? null : 'yes' });
    ask({ position, causal });
  };
  go();
  const controls = h(
    'div',
    { class: 'stack-figure' },
    choice(
      'Mask',
      [
        { value: 'causal', text: 'Causal' },
        { value: 'none', text: 'None' },
      ],
      causal ? 'causal' : 'none',
      (v) => {
        causal = v === 'causal';
        go();
      },
    ).element,
    tokenChoice(
      'Replace the word',
      tokens,
      position,
      (i) => {
        position = i;
        go();
      },
      'plain',
    ).element,
    told.element,
  );
  return {
    controls,
    figure: h('div', null, h('p', { class: 'label' }, 'Largest change in the output of each position'), list.element),
  };
}
