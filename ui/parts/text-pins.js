// The pinned tokens one by one: what each attends to, or who attends to it, in numbers.

/** @import { Token } from '../contract.js' */
/** @import { Spread } from '../spread.js' */
/** @import { View } from '../address.js' */
import { openInMap, pin, unpinAll } from '../actions.js';
import { ofTwoTexts, queriesOf } from '../axes.js';
import { h, vars } from '../dom.js';
import { num, tokenChip } from '../figures.js';
import { account } from '../spread.js';
import { rowFacts } from './row-facts.js';
import { Part } from './part.js';
import { markOf } from './text-view.js';

/** Listed of each. */
const LISTED = 6;

export class TextPins extends Part {
  begin() {
    this.watch(
      (s) => [s.trace.value, s.view, s.spread.value],
      (meta, view, spread) => {
        if (!meta || !spread || ofTwoTexts(meta, view)) return this.show();
        const tokens = queriesOf(meta, view);
        const pinned = view.pins.length;
        // One measure for all of them, so that their bars can be compared.
        const most = spread.weights.reduce((top, weights) => Math.max(top, largest(weights)), 0);
        this.show(
          pinned > 1 ? together(view) : null,
          ...spread.tokens.map((_, i) => one({ tokens, spread, i, pinned: pinned > 0, most })),
          pinned > 1
            ? h(
                'button',
                { type: 'button', class: 'quiet', 'data-focus': 'unpin-all', onclick: () => unpinAll() },
                'Let all go',
              )
            : null,
          pinned === 0
            ? h(
                'p',
                { class: 'note' },
                'Point at a word to see what it attends to; click to pin it. Several can be pinned.',
              )
            : null,
        );
      },
    );
  }
}

/** @param {View} view */
const together = (view) =>
  h(
    'p',
    { class: 'note' },
    view.joining === 'mean'
      ? `The shade is the mean of the ${view.pins.length} pinned tokens’ weights: each counts the same, a hidden weight counts as 0.`
      : `The shade is the largest of the ${view.pins.length} pinned tokens’ weights.`,
  );

/** Hidden ones are below 0. @param {ArrayLike<number>} weights */
function largest(weights) {
  let most = 0;
  for (let j = 0; j < weights.length; j++) if (weights[j] > most) most = weights[j];
  return most;
}

/** @param {{tokens: readonly Token[], spread: Spread, i: number, pinned: boolean, most: number}} look  most: the weight of a full bar */
function one({ tokens, spread, i, pinned, most }) {
  const token = spread.tokens[i];
  const weights = spread.weights[i];
  const to = spread.facing === 'to';
  const { order, sum, visible, entropy } = account(weights);
  const rest = order.slice(LISTED).reduce((left, j) => left + weights[j], 0);
  const mean = spread.heads === 'mean' || spread.heads.length > 1;
  if (!tokens[token]) return null;
  return h(
    'section',
    { class: 'pin', 'data-token': token },
    h(
      'h3',
      null,
      pinned ? h('span', { class: 'pin-mark', 'aria-hidden': 'true' }, markOf(i)) : null,
      tokenChip(tokens[token], token, to ? 'q' : 'k'),
      h('span', { class: 'note' }, to ? ' attends to' : ' is attended to by', mean ? ' (mean)' : ''),
      pinned
        ? h(
            'button',
            {
              type: 'button',
              class: 'arrow',
              'aria-label': `let go of token ${token}`,
              'data-focus': `unpin${token}`,
              onclick: () => pin(token),
            },
            '×',
          )
        : null,
    ),
    h(
      'ol',
      { class: 'budget' },
      order.slice(0, LISTED).map((j) =>
        h(
          'li',
          { 'data-key': j },
          h(
            'button',
            {
              type: 'button',
              class: 'link',
              'data-focus': `pin${token}.${j}`,
              title: 'Work this cell out',
              onclick: () => openInMap(to ? { query: token, key: j } : { query: j, key: token }),
            },
            tokenChip(tokens[j], j, to ? 'k' : 'q'),
          ),
          bar(weights[j], most),
          num(weights[j], 'weight'),
        ),
      ),
      order.length > LISTED
        ? h(
            'li',
            { class: 'rest' },
            h(
              'span',
              null,
              `${(order.length - LISTED).toLocaleString('en')} ${order.length - LISTED === 1 ? 'other' : 'others'}`,
            ),
            // All of them together may be far more than a full bar.
            to && rest <= most ? bar(rest, most) : h('span', null),
            num(rest, 'weight'),
          )
        : null,
      to ? null : h('li', { class: 'total' }, h('span', null, 'received'), h('span', null), num(sum, 'weight')),
    ),
    to && visible > 0 ? rowFacts(entropy, sum, weights[0] < 0 ? null : weights[0]) : null,
    to
      ? null
      : h(
          'p',
          { class: 'note' },
          `From ${visible.toLocaleString('en')} queries. A column is no budget: it may sum to anything.`,
        ),
  );
}

/** @param {number} weight @param {number} most */
const bar = (weight, most) =>
  h(
    'span',
    { class: 'measure', 'aria-hidden': 'true' },
    vars(h('span', { class: 'bar' }), { '--full': most > 0 ? weight / most : 0 }),
  );

customElements.define('text-pins', TextPins);
