// One of a few: radio buttons that look like a switch, or like the words of a text.

/** @import { Token } from '../../contract.js' */
/** @import { Term } from '../../store.js' */
import { h } from '../../dom.js';
import { tokenText } from '../../figures.js';

let groups = 0;

/** @typedef {{element: HTMLElement, set: (value: string) => void}} Choice */

/**
 * @param {string} legend
 * @param {readonly {value: string, text: string | Node}[]} options
 * @param {string} value
 * @param {(value: string) => void} change
 * @param {string} [look]
 * @returns {Choice}
 */
export function choice(legend, options, value, change, look = 'switch') {
  const name = `choice${groups++}`;
  const inputs = options.map((option) =>
    h('input', {
      type: 'radio',
      name,
      value: option.value,
      class: 'unseen',
      onchange: () => change(option.value),
    }),
  );
  const set = (/** @type {string} */ next) => {
    for (const input of inputs) input.checked = input.value === next;
  };
  set(value);
  const element = h(
    'fieldset',
    { class: `choice ${look}-choice` },
    h('legend', { class: 'label' }, legend),
    h(
      'div',
      { class: look },
      options.map((option, i) => h('label', null, inputs[i], h('span', { class: 'side' }, option.text))),
    ),
  );
  return { element, set };
}

/**
 * The words of a text, one of which is chosen.
 * @param {string} legend
 * @param {readonly Token[]} tokens
 * @param {number} value
 * @param {(index: number) => void} change
 * @param {Term | 'plain'} [term]
 */
export function tokenChoice(legend, tokens, value, change, term = 'q') {
  const options = tokens.map((token, i) => ({
    value: String(i),
    text: h('span', null, tokenText(token), h('sub', null, i)),
  }));
  const { element, set } = choice(legend, options, String(value), (next) => change(Number(next)), `words of-${term}`);
  return { element, set: (/** @type {number} */ index) => set(String(index)) };
}

/** A button. @param {string | Node} text @param {() => void} act @param {string} [look] */
export const button = (text, act, look = 'quiet') => h('button', { type: 'button', class: look, onclick: act }, text);
