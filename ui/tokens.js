// How a token is shown: as text a person can read, in which nothing is invisible.
// The result is data (pieces of text and what each is); the page only ever puts it in text nodes.

/** @import { Token } from './contract.js' */

/** @typedef {{text: string, kind: 'text' | 'space' | 'control' | 'special' | 'part'}} Piece */

/** @type {Record<string, string>} */
const NAMED = {
  ' ': '·',
  '\n': '↵',
  '\r': '␍',
  '\t': '⇥',
  '\u00a0': '⍽',
  '\u3000': '□',
};

// Characters that draw nothing, or that reorder what stands around them.
const UNSEEN = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Zs}]/u;

const RIGHT_TO_LEFT =
  /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Adlam}]/u;

/**
 * What to draw for one token.
 * @param {Token} token
 * @returns {Piece[]}
 */
export function pieces(token) {
  if (token.special) return [{ text: reveal(token.text) || 'special', kind: 'special' }];
  /** @type {Piece[]} */
  const out = [];
  for (const char of token.text) {
    const kind = kindOf(char, out.length > 0);
    const text = kind === 'text' ? char : reveal(char);
    const last = out.at(-1);
    if (last && last.kind === kind) last.text += text;
    else out.push({ text, kind });
  }
  if (token.part && out.length === 0) out.push({ text: '…', kind: 'control' });
  if (token.part) out.push({ text: `${token.part[0]}/${token.part[1]}`, kind: 'part' });
  if (out.length === 0) out.push({ text: '∅', kind: 'control' });
  return out;
}

/**
 * A joiner inside a word or an emoji belongs to it; alone, it has to be made visible.
 * @param {string} char
 * @param {boolean} inside
 * @returns {Piece['kind']}
 */
function kindOf(char, inside) {
  if (char === ' ') return 'space';
  if (inside && (char === '\u200d' || char === '\u200c')) return 'text';
  return UNSEEN.test(char) ? 'control' : 'text';
}

/** @param {string} text */
function reveal(text) {
  return [...text]
    .map((char) => {
      if (NAMED[char]) return NAMED[char];
      if (!UNSEEN.test(char)) return char;
      const code = /** @type {number} */ (char.codePointAt(0));
      return `‹${code.toString(16).toUpperCase().padStart(4, '0')}›`;
    })
    .join('');
}

/**
 * The same as one string, for the canvas and for labels.
 * @param {Token} token
 */
export function plain(token) {
  return pieces(token)
    .map((piece) => (piece.kind === 'part' ? ` ${piece.text}` : piece.text))
    .join('');
}

/**
 * The direction in which tokens run: that of the first letter of the text. Marks that a model adds do not count.
 * @param {readonly Token[]} tokens
 * @returns {'ltr' | 'rtl'}
 */
export function direction(tokens) {
  for (const { text, special } of tokens) {
    const [letter] = (special ? '' : text).match(/\p{L}/u) ?? [];
    if (letter) return RIGHT_TO_LEFT.test(letter) ? 'rtl' : 'ltr';
  }
  return 'ltr';
}

/**
 * The token for a screen reader: blanks are spelled out.
 * @param {Token} token
 */
export function spoken(token) {
  if (token.special) return `special token ${token.text}`;
  const trimmed = token.text.trim();
  if (trimmed) return token.part ? `${trimmed}, part ${token.part[0]} of ${token.part[1]}` : trimmed;
  if (token.part) return `part ${token.part[0]} of ${token.part[1]} of a character`;
  if (token.text === '') return 'empty';
  return token.text.includes('\n') ? 'line break' : token.text.includes('\t') ? 'tab' : 'space';
}
