// How a row spends its budget, in three numbers.

import { h } from '../dom.js';
import { num } from '../figures.js';
import { percent, show } from '../numbers.js';

/**
 * @param {number} entropy       of the row, in nats
 * @param {number | null} first  weight on the first token; null where that is hidden
 */
export function rowFacts(entropy, first) {
  const effective = Math.exp(entropy);
  const fact = (/** @type {string} */ name, /** @type {string} */ meaning, /** @type {Node | string} */ value) =>
    h('div', { title: meaning }, h('dt', null, name), h('dd', null, value));
  return h(
    'dl',
    { class: 'stats row-facts', 'aria-label': 'The row in three numbers' },
    fact('entropy', 'How spread the row is, in nats: 0 is one key, more is many.', num(entropy)),
    fact(
      'effective number of tokens',
      'exp(entropy): a row spread evenly over this many keys would have the same entropy.',
      num(effective, null, show(effective)),
    ),
    fact(
      'on the first token',
      'Many heads rest their weight on the first token when they have nothing to say.',
      first === null ? 'hidden' : num(first, 'weight', percent(first)),
    ),
  );
}
