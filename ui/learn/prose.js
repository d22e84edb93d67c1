// The pieces a chapter is written with.

/** @import { Child } from '../dom.js' */
/** @import { View } from '../address.js' */
import { EMPTY_VIEW, formatAddress } from '../address.js';
import { h } from '../dom.js';
import { say } from '../speech.js';

/** @typedef {Child | Child[]} Piece */

/** @param {readonly string[]} texts @param {Piece[]} parts @returns {Child[]} */
const woven = (texts, parts) => texts.flatMap((text, i) => [text, ...[parts[i] ?? null].flat()]);

/**
 * A paragraph: para`Each ${named('weight', 'weight')} is a share.`
 * @param {TemplateStringsArray} texts
 * @param {...Piece} parts
 */
export const para = (texts, ...parts) => h('p', null, ...woven(texts, parts));

/** The first sentences of a chapter. @param {TemplateStringsArray} texts @param {...Piece} parts */
export const lead = (texts, ...parts) => h('p', { class: 'lead' }, ...woven(texts, parts));

/** A remark below a figure. @param {TemplateStringsArray} texts @param {...Piece} parts */
export const remark = (texts, ...parts) => h('p', { class: 'note' }, ...woven(texts, parts));

/**
 * One idea: words, and beside them what they are about.
 * @param {string | null} title
 * @param {(Node | string | null)[]} words
 * @param {(Node | string | null)[]} figure
 */
export const scene = (title, words, figure) =>
  h(
    'section',
    { class: 'scene' },
    h('div', { class: 'words' }, title ? h('h3', null, title) : null, words),
    h('div', { class: 'figure' }, figure),
  );

/**
 * What the chapter leaves to the reader.
 * @param {Piece} act     what to do
 * @param {Piece} notice  what to look for
 * @param {...(Node | null)} more
 */
export const tryThis = (act, notice, ...more) =>
  h(
    'section',
    { class: 'try' },
    h('h3', null, 'Try:'),
    h('p', null, ...[act].flat()),
    h('p', { class: 'notice-this' }, h('strong', null, 'Notice: '), ...[notice].flat()),
    ...more,
  );

/** Where a picture in the mind ends and only the arithmetic is left. @param {...(Node | string)} body */
export const stops = (...body) => h('aside', { class: 'stops' }, h('h3', null, 'Where the intuition stops'), ...body);

/**
 * A sentence that answers what the reader did. It is spoken once the hand rests.
 * @param {string} [className]
 * @param {...Piece} opening  what stays, such as a number that can be dragged
 */
export function answer(className = '', ...opening) {
  const rest = h('span', null);
  const element = h('p', { class: `answer ${className}` }, ...opening, rest);
  let timer = 0;
  let first = true;
  return {
    element,
    /** @param {...Piece} pieces */
    says(...pieces) {
      rest.replaceChildren(...h('span', null, ...pieces).childNodes);
      clearTimeout(timer);
      // What stands there at the start is read with the page.
      if (!first) timer = window.setTimeout(() => element.isConnected && say(element.textContent ?? ''), 500);
      first = false;
    },
  };
}

/**
 * A link to exactly this cell in the inspector.
 * @param {Partial<View>} view
 * @param {string} [text]
 */
export const inspect = (view, text = 'Open in the inspector') =>
  h(
    'a',
    { class: 'inspect', href: `/${formatAddress({ ...EMPTY_VIEW, ...view })}` },
    text,
    ' ',
    h('span', { 'aria-hidden': 'true' }, '→'),
  );

/** How to get a model that is not here. @param {string} sentence  saying that it is not @param {string} path */
export const getModel = (sentence, path) =>
  h(
    'p',
    { class: 'note get-model' },
    `${sentence} To get it: `,
    h('code', null, 'tools/fetch-models'),
    ', then ',
    h('code', null, `attnscope view ${path}`),
    '.',
  );
