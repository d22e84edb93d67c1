// The running text as a person reads it: paragraphs of tokens, spaces between words as spaces,
// characters that several tokens make shown once and whole, and what cannot be seen made visible.

/** @import { Token } from './contract.js' */
/** @import { Piece } from './tokens.js' */
import { pieces } from './tokens.js';

/**
 * @typedef {object} Word        One token in the running text.
 * @property {number} index
 * @property {boolean} space     A space stands before it
 * @property {Piece[]} pieces
 */

/** @param {readonly Token[]} tokens @returns {Word[][]}  paragraphs */
export function paragraphs(tokens) {
  // Tokens without any space of their own (word pieces): one stands between words.
  const spaced = tokens.every((token) => !/\s/.test(token.text));
  const whole = spaced ? [] : characters(tokens);
  /** @type {Word[][]} */
  const all = [[]];
  tokens.forEach((token, index) => {
    all[all.length - 1].push(spaced ? wordPiece(token, index) : word(token, index, whole[index]));
    const last = !token.part || token.part[0] === token.part[1];
    if (token.text.includes('\n') && index < tokens.length - 1 && last) all.push([]);
  });
  return all;
}

/** @param {Token} token @param {number} index @param {string | number} whole @returns {Word} */
function word(token, index, whole) {
  if (typeof whole === 'number') return { index, space: false, pieces: [{ kind: 'part', text: String(whole) }] };
  if (token.special) return { index, space: false, pieces: pieces(token) };
  const space = whole.length > 1 && whole[0] === ' ';
  return { index, space, pieces: pieces({ ...token, text: space ? whole.slice(1) : whole, part: undefined }) };
}

/** @param {Token} token @param {number} index @returns {Word} */
function wordPiece(token, index) {
  const goesOn = !token.special && token.text.length > 2 && token.text.startsWith('##');
  const text = goesOn ? token.text.slice(2) : token.text;
  return { index, space: !goesOn && index > 0, pieces: pieces({ ...token, text }) };
}

/**
 * What each token shows of the text: its own characters, the whole of one that it begins, or the
 * number that it has among the tokens of one begun before.
 * @param {readonly Token[]} tokens
 * @returns {(string | number)[]}
 */
function characters(tokens) {
  const own = tokens.map((token) => (token.special || (token.part && token.part[0] > 1) ? '' : token.text));
  const begins = startsOf(own.join(''));
  /** @type {(string | number)[]} */
  const shown = [];
  let at = 0;
  let [first, count] = [0, 1];
  tokens.forEach((token, i) => {
    const from = at;
    at += own[i].length;
    const goesOn =
      !token.special &&
      i > 0 &&
      (own[i] === '' ? token.part !== undefined : !begins.has(from)) &&
      !token.text.includes('\n');
    const ends = own[i] === '' || lies(begins, from, at);
    if (goesOn && ends && typeof shown[first] === 'string' && !tokens[first].special) {
      shown[first] = `${shown[first]}${own[i]}`;
      shown.push(++count);
      return;
    }
    [first, count] = [i, 1];
    shown.push(token.special ? token.text : own[i] || token.text);
  });
  return shown;
}

/** Whether no character begins after `from` and before `to`. @param {Set<number>} begins @param {number} from @param {number} to */
function lies(begins, from, to) {
  for (let i = from + 1; i < to; i++) if (begins.has(i)) return false;
  return true;
}

/** Where each character begins, as a reader counts them: an emoji of many code points is one. @param {string} text */
function startsOf(text) {
  const starts = new Set();
  for (const { index } of new Intl.Segmenter(undefined, { granularity: 'grapheme' }).segment(text)) starts.add(index);
  return starts;
}
