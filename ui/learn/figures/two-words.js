// One word in two sentences, followed through the layers of a real model.

/** @import { Source } from '../../contract.js' */
/** @import { Words } from '../engine.js' */
/** @import { Chapter } from '../chapter.js' */
import { h } from '../../dom.js';
import { num } from '../../figures.js';
import { choice } from '../controls/choice.js';
import { slider } from '../controls/slider.js';
import { words } from '../engine.js';
import { answer } from '../prose.js';
import { whole } from '../route.js';
import { angle } from './angle.js';
import { fans } from './fans.js';

const PAIRS = [
  {
    word: 'bank',
    texts: ['The bank of the river was green.', 'The bank approved the loan.'],
    names: ['by the river', 'with the loan'],
  },
  {
    word: 'bat',
    texts: ['The bat flew out of the cave.', 'The bat broke when he hit the ball.'],
    names: ['in the cave', 'with the ball'],
  },
  {
    word: 'spring',
    texts: ['The spring in the mattress broke.', 'The spring was warm and full of flowers.'],
    names: ['in the mattress', 'with flowers'],
  },
];

/** Where the reader’s own sentences have no names. */
const OWN = ['in the first', 'in the second'];

/**
 * @param {Chapter} chapter
 * @param {Source} source
 * @returns {{controls: HTMLElement, figure: HTMLElement}}
 */
export function twoWords(chapter, source) {
  const { params } = chapter;
  const pair = PAIRS.find((p) => p.word === params.get('word')) ?? PAIRS[0];
  const own = params.has('text1') && params.has('text2');
  const fields = [0, 1].map((i) =>
    h('input', {
      type: 'text',
      value: own ? params.get(`text${i + 1}`)?.slice(0, 200) : pair.texts[i],
      maxlength: 200,
      'aria-label': `Sentence ${i + 1}`,
      class: 'sentence',
    }),
  );
  const word = h('input', {
    type: 'text',
    value: own ? (params.get('word') ?? '').slice(0, 40) : pair.word,
    maxlength: 40,
    'aria-label': 'The word in both',
    class: 'sentence word',
  });
  /** @type {string[]} */
  let names = own ? OWN : pair.names;
  const place = h('div', { class: 'angle-place' });
  const told = answer();
  /** @type {Words | null} */
  let found = null;
  const layer = slider({
    name: 'after layer',
    min: 0,
    max: 6,
    step: 1,
    value: whole(params, 'layer', 0, 1000),
    write: (v) => (v === 0 ? '0, going in' : String(v)),
    change: draw,
  });
  const every = fans((at) => {
    layer.set(at);
    draw();
  });
  const figure = h('div', { class: 'stack-figure' }, layer.element, place, told.element, every.element);
  const ask = chapter.follow(
    (/** @type {string[]} */ texts, signal) => words({ source: source.id, texts, word: word.value.trim() }, signal),
    (answered) => {
      found = answered;
      layer.input.max = String(answered.layers.length - 1);
      layer.set(Math.min(Number(layer.input.value), answered.layers.length - 1));
      draw();
    },
    figure,
  );
  const go = () => {
    const texts = fields.map((f) => f.value.trim());
    const ready = names !== OWN;
    chapter.keep({ word: word.value.trim(), text1: ready ? null : texts[0], text2: ready ? null : texts[1] });
    ask(texts);
  };

  function draw() {
    if (!found) return;
    const at = Math.min(Number(layer.input.value), found.layers.length - 1);
    const { cosine, equal } = found.layers[at];
    const degrees = degreesOf(found.layers[at]);
    every.update(found.layers.map(degreesOf), at);
    const says = equal ? 'the two vectors are the same' : `the two vectors are ${degrees} degrees apart`;
    place.replaceChildren(angle({ cosine: equal ? 1 : cosine, names: /** @type {[string, string]} */ (names), says }));
    chapter.keep({ layer: at });
    const moment = at === 0 ? 'Going in' : `After layer ${at}`;
    const quoted = `“${word.value.trim()}”`;
    if (equal) told.says(`${moment}, both vectors of ${quoted} are `, h('strong', null, 'the same, bit for bit'), '.');
    else
      told.says(
        `${moment}, the two vectors of ${quoted} stand `,
        h('strong', null, `${degrees}° apart`),
        ' (cosine ',
        num(cosine),
        at === 0 && found.same_word_embedding ? '): the word is the same, its place in the sentence is not.' : ').',
      );
  }

  const pairs = choice(
    'A word with two meanings',
    PAIRS.map((p) => ({ value: p.word, text: p.word })),
    own ? '' : pair.word,
    (value) => {
      const chosen = PAIRS.find((p) => p.word === value) ?? PAIRS[0];
      word.value = chosen.word;
      chosen.texts.forEach((text, i) => (fields[i].value = text));
      names = chosen.names;
      go();
    },
  );
  for (const field of [...fields, word])
    field.addEventListener('change', () => {
      names = OWN;
      go();
    });
  go();
  return {
    controls: h(
      'div',
      null,
      pairs.element,
      h('div', { class: 'sentences' }, h('label', null, h('span', { class: 'label' }, 'Word'), word), fields),
    ),
    figure,
  };
}

/** @param {{cosine: number, equal: boolean}} layer */
const degreesOf = ({ cosine, equal }) =>
  equal ? 0 : Math.round((Math.acos(Math.max(-1, Math.min(1, cosine))) * 180) / Math.PI);
