// A line of words that are buttons, which scrolls: of a longer text, the words around one of them. One of them is the stop of
// the Tab key; from there arrows go from word to word.

/** @import { Token } from './contract.js' */
/** @import { Attributes } from './dom.js' */
import { h } from './dom.js';
import { tokenText } from './figures.js';
import { spoken } from './tokens.js';

/** More words than this are not a line any more. */
const MOST = 240;

/**
 * The words that are shown around one.
 * @param {readonly Token[]} tokens
 * @param {number} at
 * @returns {{from: number, shown: readonly Token[]}}
 */
export function around(tokens, at) {
  const from = Math.max(0, Math.min(tokens.length - MOST, at - MOST / 2));
  return { from, shown: tokens.slice(from, from + MOST) };
}

/** What a word is called. @param {Token} token @param {number} index */
export const nameOf = (token, index) => `token ${index}, ${spoken(token)}`;

/**
 * A word to press.
 * @param {Token} token
 * @param {number} index
 * @param {() => unknown} press
 * @param {Attributes} [more]
 */
export const wordButton = (token, index, press, more) =>
  h(
    'button',
    {
      type: 'button',
      class: 'word',
      tabindex: '-1',
      'aria-pressed': 'false',
      'aria-label': nameOf(token, index),
      onclick: press,
      ...more,
    },
    tokenText(token),
  );

/** Where an arrow leads, in the order of the text. @param {KeyboardEvent} event @returns {1 | -1 | null}  null for other keys */
export function arrow(event) {
  if (event.key !== 'ArrowLeft' && event.key !== 'ArrowRight') return null;
  event.preventDefault();
  const rtl = event.target instanceof Element && getComputedStyle(event.target).direction === 'rtl';
  return (event.key === 'ArrowRight') === rtl ? -1 : 1;
}

/** Keeps a word in sight. @param {HTMLElement} line @param {HTMLElement} word */
export function scrollTo(line, word) {
  const top = word.offsetTop - line.offsetTop;
  if (top < line.scrollTop || top + word.offsetHeight > line.scrollTop + line.clientHeight)
    line.scrollTop = top - line.clientHeight / 3;
}
