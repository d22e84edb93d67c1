// Which columns are left out of the map's scale: the first token, special tokens, the chosen key.

/** @import { Token } from '../contract.js' */
/** @import { View } from '../address.js' */
import { dressMap } from '../actions.js';
import { keysOf } from '../axes.js';
import { h } from '../dom.js';
import { tokenText } from '../figures.js';
import { parts, toggled } from '../map-left-out.js';
import { get } from '../store.js';
import { spoken } from '../tokens.js';
import { Part } from './part.js';

export class LeftOutChoice extends Part {
  begin() {
    this.className = 'leave-out';
    this.role = 'group';
    this.ariaLabel = 'Columns left out of the colour scale';
    this.watch(
      (s) => [s.trace.value, s.view.site, s.view.leftOut, s.view.key],
      (meta, ..._rest) => this.update(...(meta ? choices(keysOf(meta, get().view), get().view) : [])),
    );
  }
}

/** @param {readonly Token[]} tokens @param {View} view */
function choices(tokens, view) {
  const out = parts(view.leftOut);
  const { key } = view;
  const chosen = key !== null && key < tokens.length ? [key] : [];
  const columns = [...new Set([...out.filter((part) => /^\d/.test(part)).map(Number), ...chosen])].sort(
    (a, b) => a - b,
  );
  const special = tokens.some((token) => token.special);
  return [
    h('span', { class: 'label' }, 'Leave out of the scale'),
    toggle('first', out.includes('first'), 'The first token, which often takes most of the weight', 'first token'),
    special ? toggle('special', out.includes('special'), 'Every special token', 'special tokens') : null,
    ...columns
      .filter((column) => column < tokens.length)
      .map((column) =>
        toggle(
          String(column),
          out.includes(String(column)),
          `Column ${column}, ${spoken(tokens[column])}${column === key ? ', the chosen key (key x)' : ''}`,
          h('span', null, 'column ', tokenText(tokens[column]), h('sub', null, column)),
        ),
      ),
  ];
}

/**
 * @param {string} part
 * @param {boolean} on
 * @param {string} says
 * @param {Node | string} label
 */
const toggle = (part, on, says, label) =>
  h(
    'button',
    {
      type: 'button',
      class: 'toggle',
      'data-focus': `without-${part}`,
      'aria-pressed': String(on),
      title: says,
      onclick: () => dressMap({ leftOut: toggled(get().view.leftOut, part) }),
    },
    label,
  );

customElements.define('left-out-choice', LeftOutChoice);
