// A number to be dragged: a real range input, its name before it and its value after it.

/** @import { Term } from '../../store.js' */
import { h } from '../../dom.js';
import { show } from '../../numbers.js';

/**
 * @typedef {object} SliderLook
 * @property {string | Node} name
 * @property {number} min
 * @property {number} max
 * @property {number} step
 * @property {number} value
 * @property {(value: number) => void} change
 * @property {Term | null} [term]
 * @property {(value: number) => string} [write]  also said by screen readers
 */

/** @typedef {{element: HTMLElement, input: HTMLInputElement, set: (value: number) => void}} Slider */

/** @param {SliderLook} look @returns {Slider} */
export function slider({ name, min, max, step, value, change, term = null, write = show }) {
  const input = h('input', { type: 'range', min, max, step, value });
  const output = h('output', { class: `num${term ? ` t-${term}` : ''}` });
  // A value that was not dragged there may lie between two steps, or beyond the end; it is said as it is.
  const tell = (/** @type {number} */ exact) => {
    const text = write(exact);
    output.textContent = text;
    input.setAttribute('aria-valuetext', text);
  };
  input.addEventListener('input', () => {
    tell(Number(input.value));
    change(Number(input.value));
  });
  tell(value);
  return {
    element: h(
      'label',
      { class: `slider${term ? ` of-${term}` : ''}` },
      h('span', { class: 'slider-name' }, name),
      input,
      output,
    ),
    input,
    set(next) {
      input.value = String(next);
      tell(next);
    },
  };
}
