// A number inside a sentence that can be dragged sideways. Under it is a real range input, so
// that arrow keys change it and a screen reader knows what it is.

/** @import { Term } from '../../store.js' */
import { h } from '../../dom.js';

/**
 * @param {{label: string, min: number, max: number, step: number, value: number, term?: Term | null, write: (value: number) => string, change: (value: number) => void, pixels?: number}} look
 *   `pixels`: how far the hand moves for one step
 */
export function scrub({ label, min, max, step, value, term = null, write, change, pixels = 6 }) {
  const input = h('input', { type: 'range', min, max, step, value, 'aria-label': label, class: 'unseen' });
  const text = h('span', { class: 'num', 'aria-hidden': 'true' });
  const element = h(
    'span',
    {
      class: `scrub${term ? ` t-${term}` : ''}`,
      'data-term': term,
      title: `${label}: drag sideways, or use the arrow keys`,
    },
    input,
    text,
  );
  const tell = () => {
    text.textContent = write(Number(input.value));
    input.setAttribute('aria-valuetext', text.textContent);
  };
  const put = (/** @type {number} */ next) => {
    const before = input.value;
    input.value = String(next);
    tell();
    if (input.value !== before) change(Number(input.value));
  };
  input.addEventListener('input', () => {
    tell();
    change(Number(input.value));
  });
  /** @type {{x: number, value: number} | null} */
  let held = null;
  element.addEventListener('pointerdown', (event) => {
    held = { x: event.clientX, value: Number(input.value) };
    element.setPointerCapture(event.pointerId);
    input.focus();
    event.preventDefault();
  });
  element.addEventListener('pointermove', (event) => {
    if (held) put(held.value + Math.round((event.clientX - held.x) / pixels) * step);
  });
  for (const end of ['pointerup', 'pointercancel']) element.addEventListener(end, () => (held = null));
  tell();
  return {
    element,
    set(/** @type {number} */ next) {
      input.value = String(next);
      tell();
    },
  };
}
