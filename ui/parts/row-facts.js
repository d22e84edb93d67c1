// How a row spends its budget, in three numbers.

import { h } from '../dom.js';
import { num } from '../figures.js';
import { percent, show } from '../numbers.js';
import { effectiveNumber } from '../row-sum.js';

/**
 * @param {number} entropy       of the row's weights as they are, in nats
 * @param {number} sum           of its weights: 1, or less where a sink takes a part
 * @param {number | null} first  weight on the first token; null where that is hidden
 */
export function rowFacts(entropy, sum, first) {
  const effective = effectiveNumber(entropy, sum);
  const fact = (/** @type {string} */ name, /** @type {string} */ meaning, /** @type {Node | string} */ value) =>
    h('div', { title: meaning }, h('dt', null, name), h('dd', null, value));
  return h(
    'dl',
    { class: 'stats row-facts', 'aria-label': 'The row in three numbers' },
    fact('entropy', 'How spread the row’s weights are as they stand, in nats: 0 is one key, more is many.', num(entropy)),
    fact(
      'effective number of tokens',
      'exp(entropy) of the weights, made to sum to 1 where a sink takes a part: a row spread evenly over this many keys would have the same.',
      effective === null ? '—' : num(effective, null, show(effective)),
    ),
    fact(
      'on the first token',
      'Many heads rest their weight on the first token when they have nothing to say.',
      first === null ? 'hidden' : num(first, 'weight', percent(first)),
    ),
  );
}
