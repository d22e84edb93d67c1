// The small things that sentences and tables are made of: a number, a token, a chip.

/** @import { Token } from './contract.js' */
/** @import { Term } from './store.js' */
import { h } from './dom.js';
import { show } from './numbers.js';
import { pieces, spoken } from './tokens.js';

/**
 * A number in its quantity's colour. The exact value is kept in `value` and in the tooltip.
 * @param {number | null} value
 * @param {Term | null} [term]
 * @param {string} [text]  as it is to be written
 */
export function num(value, term = null, text = show(value)) {
  const exact = value === null ? '-inf' : String(value);
  return h('data', { class: `num${term ? ` t-${term}` : ''}`, value: exact, title: exact, 'data-term': term }, text);
}

/**
 * A letter or word that names a quantity, in its colour.
 * @param {Term} term
 * @param {string} text
 */
export const named = (term, text) => h('span', { class: `name t-${term}`, 'data-term': term }, text);

/**
 * A token's text with everything in it visible.
 * @param {Token} token
 * @returns {HTMLElement}
 */
export function tokenText(token) {
  return h(
    'bdi',
    { class: 'tok-text' },
    pieces(token).map((piece) =>
      piece.kind === 'text' ? piece.text : h('span', { class: `tok-${piece.kind}` }, piece.text),
    ),
  );
}

/**
 * A token as a chip, with its place in the text.
 * @param {Token} token
 * @param {number} index
 * @param {Term | null} [term]  'q' where it asks, 'k' where it answers
 */
export function tokenChip(token, index, term = null) {
  return h(
    'span',
    {
      class: `tok${term ? ` tok-${term} t-${term}` : ''}`,
      'data-term': term,
      title: `token ${index}: ${spoken(token)}`,
    },
    tokenText(token),
    h('sub', null, index),
  );
}

/** Said of the example wherever it appears. */
export const handMade = () =>
  h(
    'span',
    { class: 'hand', title: 'A person chose these numbers so that the story is easy to follow.' },
    'hand-designed, not trained',
  );

/**
 * One step of the calculation.
 * @param {number} index
 * @param {string} title
 * @param {...(Node | string | null | false)} body
 */
export function stepBlock(index, title, ...body) {
  return h(
    'section',
    { class: 'step' },
    h('h3', null, h('span', { class: 'step-no', 'aria-hidden': 'true' }, index), title, chapterLink(index)),
    h('div', { class: 'step-body' }, ...body),
  );
}

/** Where the lesson explains a step. @type {Record<number, [number, string]>} */
const CHAPTER_OF = {
  1: [3, 'Why multiply?'],
  2: [5, 'Why divide by √d?'],
  3: [9, 'Why a mask?'],
  4: [6, 'Why softmax?'],
  6: [7, 'Why an average?'],
};

/** @param {number} step */
function chapterLink(step) {
  const [chapter, name] = CHAPTER_OF[step] ?? [];
  if (chapter === undefined) return null;
  return h(
    'a',
    { class: 'chapter-link', href: `/ui/learn.html#/${chapter}`, title: `Chapter ${chapter} of the lesson` },
    name,
  );
}

/**
 * A button that copies a text and says so.
 * @param {string} label
 * @param {() => string} text
 * @param {string} focus  its name, for keeping the focus
 */
export function copyButton(label, text, focus) {
  const copy = async (/** @type {Event} */ event) => {
    const button = /** @type {HTMLButtonElement} */ (event.currentTarget);
    // Browsers give the clipboard to pages from this machine or over https only.
    const copied = await Promise.resolve(navigator.clipboard?.writeText(text())).then(
      () => Boolean(navigator.clipboard),
      () => false,
    );
    button.textContent = copied ? 'Copied' : 'Select the text to copy it';
    setTimeout(() => (button.textContent = label), 1600);
  };
  return h('button', { type: 'button', class: 'quiet', 'data-focus': focus, onclick: copy }, label);
}
