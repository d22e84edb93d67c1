// Generation step by step: which keys and values were already there, and which had to be made.

/** @import { Source } from '../../contract.js' */
/** @import { Chapter } from '../chapter.js' */
/** @import { Cache } from '../engine.js' */
import { h } from '../../dom.js';
import { tokenText } from '../../figures.js';
import { button } from '../controls/choice.js';
import { slider } from '../controls/slider.js';
import { asToken, cache } from '../engine.js';
import { answer } from '../prose.js';
import { unless, whole } from '../route.js';

const TOKENS = 8;
/** So many are shown at first. */
const SHOWN = 4;
/** The longest beginning, in characters. */
const LONGEST = 120;
export const FIRST = 'The robot carried the patient because';

/** @param {Chapter} chapter @param {Source} source @returns {{controls: HTMLElement, figure: HTMLElement}} */
export function cacheSteps(chapter, source) {
  const field = h('input', {
    type: 'text',
    class: 'sentence',
    value: (chapter.params.get('text') || FIRST).slice(0, LONGEST),
    maxlength: LONGEST,
    'aria-label': 'Beginning of a text',
  });
  const place = h('div', { class: 'cache wide' });
  const told = answer();
  /** @type {Cache | null} */
  let found = null;
  let wanted = Math.max(1, whole(chapter.params, 'written', SHOWN, TOKENS + 1));
  const box = h('div', { class: 'stack-figure' });
  const ask = chapter.follow(
    (/** @type {string} */ text, signal) => cache({ source: source.id, text, max_tokens: TOKENS }, signal),
    (answered) => {
      found = answered;
      step.input.max = String(answered.steps.length);
      step.set(Math.min(wanted, answered.steps.length));
      draw();
    },
    box,
  );
  const step = slider({
    name: 'tokens written',
    min: 1,
    max: TOKENS,
    step: 1,
    value: wanted,
    write: String,
    change: (v) => {
      wanted = v;
      chapter.keep({ written: unless(wanted, SHOWN) });
      draw();
    },
  });

  function draw() {
    if (!found) return;
    const shown = Number(step.input.value);
    const steps = found.steps.slice(0, shown);
    place.replaceChildren(table(found, shown));
    const made = steps.reduce((sum, one) => sum + one.computes, 0);
    const without = steps.reduce((sum, one) => sum + one.reads, 0);
    const same = steps.every((one) => one.keys_unchanged);
    told.says(
      `${source.label} wrote “${steps
        .map((one) => one.token)
        .join('')
        .trim()}”. It computed keys and values for `,
      h('strong', null, `${made} positions`),
      `; without a cache it would have been ${without}. `,
      same
        ? 'At every step the earlier keys and values in the cache were the same, bit for bit.'
        : 'At some step an earlier key or value in the cache was not the same.',
    );
  }

  const go = () => {
    chapter.keep({ text: unless(field.value, FIRST) });
    ask(field.value);
  };
  field.addEventListener('change', go);
  box.append(place, told.element);
  ask(field.value);
  return {
    controls: h(
      'div',
      { class: 'stack-figure' },
      h('div', { class: 'inline-field' }, field, button('Write on', go)),
      step.element,
    ),
    figure: box,
  };
}

/** @param {Cache} found @param {number} shown */
function table({ prompt_tokens, steps }, shown) {
  const texts = [...prompt_tokens, ...steps.slice(0, shown).map((one) => one.token)];
  return h(
    'table',
    { class: 'cache-table', 'aria-label': 'Keys and values at each step: filled were kept, outlined were computed' },
    h(
      'thead',
      null,
      h(
        'tr',
        null,
        h('td', null),
        texts.map((text, i) =>
          h(
            'th',
            { scope: 'col', class: i >= prompt_tokens.length ? 'written' : '' },
            h('span', null, tokenText(asToken(text))),
          ),
        ),
      ),
    ),
    h(
      'tbody',
      null,
      steps.slice(0, shown).map((one, i) =>
        h(
          'tr',
          null,
          h('th', { scope: 'row' }, `step ${i + 1}`),
          texts.map((_, j) => {
            if (j >= one.reads) return h('td', null);
            const fresh = j >= one.reads - one.computes;
            return h(
              'td',
              null,
              h(
                'span',
                { class: fresh ? 'kv fresh' : 'kv', title: fresh ? 'computed now' : 'read from the cache' },
                h('span', { class: 'unseen' }, fresh ? 'computed' : 'kept'),
              ),
            );
          }),
        ),
      ),
    ),
  );
}
