// The example's own small version of one word in two sentences: the same "it", another carrier.

/** @import { Chapter } from '../chapter.js' */
/** @import { Example, Scratch } from '../engine.js' */
import { h } from '../../dom.js';
import { choice } from '../controls/choice.js';
import { scratch } from '../engine.js';
import { answer } from '../prose.js';
import { oneOf, unless } from '../route.js';
import { vector } from './vector.js';

const IT = 6;
const CARRIER = 1;
/** In the example's own dimensions: thing, human, action, state, pointer, glue. */
const CARRIERS = [
  { value: 'robot', x: [1, -1, 0, 0, 0, 0] },
  { value: 'nurse', x: [1, 1, 0, 0, 0, 0] },
  { value: 'crate', x: [1, 0, 0, 0, 0, 0] },
];

/**
 * @param {Chapter} chapter
 * @param {Example} example
 * @returns {{controls: HTMLElement, figure: HTMLElement}}
 */
export function exampleWord(chapter, { worked }) {
  const going = vector({ name: '“it”, going in', term: null, dims: worked.dims.x, notes: worked.dim_notes.x, most: 1 });
  const coming = vector({
    name: '“it”, coming out',
    term: null,
    dims: worked.dims.x,
    notes: worked.dim_notes.x,
    most: 1,
  });
  const told = answer();
  const ask = chapter.follow(
    (/** @type {typeof CARRIERS[number]} */ carrier, signal) =>
      scratch({ causal: false, x: worked.x.map((row, i) => (i === CARRIER ? carrier.x : row)) }, signal),
    (/** @type {Scratch} */ now, carrier) => {
      going.update(now.x[IT], worked.x[IT]);
      coming.update(now.y[IT], worked.y[IT]);
      told.says(
        `“The ${carrier.value} carried the patient because it was tired.” “it” goes in as `,
        h('strong', null, 'the same six numbers'),
        carrier.value === 'robot'
          ? '.'
          : ' as with “robot”, and comes out different. The outlines show where it stood with “robot”.',
      );
    },
  );
  const names = CARRIERS.map((c) => c.value);
  const first = oneOf(chapter.params, 'carrier', names, 'robot');
  const go = (/** @type {string} */ name) => ask(CARRIERS.find((c) => c.value === name) ?? CARRIERS[0]);
  go(first);
  return {
    controls: choice(
      'Who carried the patient?',
      CARRIERS.map((c) => ({ value: c.value, text: c.value })),
      first,
      (value) => {
        chapter.keep({ carrier: unless(value, 'robot') });
        go(value);
      },
    ).element,
    figure: h(
      'div',
      { class: 'stack-figure' },
      h('div', { class: 'pair' }, going.element, coming.element),
      told.element,
    ),
  };
}
