// The three places of attention in the original design, as who may look at whom.

/** @import { Chapter } from '../chapter.js' */
import { h } from '../../dom.js';
import { s } from '../svg.js';
import { choice } from '../controls/choice.js';
import { answer } from '../prose.js';
import { oneOf, unless } from '../route.js';

/** @typedef {{value: string, text: string, rows: number, columns: number, rowName: string, columnName: string, open: (i: number, j: number) => boolean, says: string}} Style */

/** @type {Style[]} */
const STYLES = [
  {
    value: 'encoder',
    text: 'Encoder',
    rows: 7,
    columns: 7,
    rowName: 'source asks',
    columnName: 'source is asked',
    open: () => true,
    says: 'The encoder reads a text that is all there. Every token sees every token. BERT and MiniLM are built of this alone.',
  },
  {
    value: 'decoder',
    text: 'Decoder',
    rows: 5,
    columns: 5,
    rowName: 'target asks',
    columnName: 'target is asked',
    open: (i, j) => j <= i,
    says: 'The decoder writes, and may see only what is written: itself and what came before. GPT, Llama and SmolLM2 are built of this alone.',
  },
  {
    value: 'cross',
    text: 'Cross-attention',
    rows: 5,
    columns: 7,
    rowName: 'target asks',
    columnName: 'source is asked',
    open: () => true,
    says: 'Between the two, queries come from the target, keys and values from the source. The square becomes a rectangle, and nothing is hidden: the source is all there.',
  },
];

/** @param {Chapter} chapter @returns {{controls: HTMLElement, figure: HTMLElement}} */
export function maskStyles(chapter) {
  const told = answer();
  const place = h('div');
  const draw = (/** @type {string} */ value) => {
    const style = STYLES.find((one) => one.value === value) ?? STYLES[0];
    place.replaceChildren(picture(style));
    told.says(style.says);
  };
  const names = STYLES.map((one) => one.value);
  const first = oneOf(chapter.params, 'style', names, 'decoder');
  const chooser = choice('Where', STYLES, first, (value) => {
    chapter.keep({ style: unless(value, 'decoder') });
    draw(value);
  });
  draw(first);
  return { controls: h('div', { class: 'stack-figure' }, chooser.element, told.element), figure: place };
}

/** @param {Style} style */
function picture({ rows, columns, rowName, columnName, open, says }) {
  const [cell, left, top] = [34, 30, 30];
  return s(
    'svg',
    {
      class: 'mask-style',
      viewBox: `0 0 ${left + 7 * cell + 4} ${top + rows * cell + 4}`,
      role: 'img',
      'aria-label': says,
    },
    s('text', { class: 'k-name', x: left, y: 18 }, `${columnName} →`),
    s('text', { class: 'q-name', transform: `translate(18 ${top}) rotate(-90)`, 'text-anchor': 'end' }, `← ${rowName}`),
    Array.from({ length: rows }, (_, i) =>
      Array.from({ length: columns }, (__, j) =>
        s('rect', {
          class: open(i, j) ? 'open' : 'shut',
          x: left + j * cell + 1,
          y: top + i * cell + 1,
          width: cell - 3,
          height: cell - 3,
          rx: 4,
        }),
      ),
    ).flat(),
  );
}
