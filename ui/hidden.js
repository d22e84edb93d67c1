// Why a cell may be hidden, in words.

/** @import { HiddenReason, Site } from './contract.js' */

/** In a tile, -1 is the first of these, -2 the second, and so on. @type {readonly HiddenReason[]} */
export const REASONS = ['future', 'outside_window', 'padding', 'other_segment', 'knocked_out'];

/**
 * @param {number} weight  as it stands in a tile
 * @returns {HiddenReason | null}
 */
export const reasonOf = (weight) => (weight < 0 ? (REASONS[-weight - 1] ?? null) : null);

/** @type {Record<HiddenReason, string>} */
export const SHORT = {
  future: 'comes later',
  outside_window: 'outside the window',
  padding: 'padding',
  other_segment: 'another segment',
  knocked_out: 'cut',
};

/**
 * @param {HiddenReason} reason
 * @param {Site | undefined} site
 */
export function sentence(reason, site) {
  switch (reason) {
    case 'future':
      return 'The key comes later in the text, and this head is causal: a token sees itself and what came before it.';
    case 'outside_window': {
      const window = site?.window;
      const left = window?.left == null ? 'any number of' : window.left;
      const right = window?.right == null ? 'any number of' : window.right;
      return window
        ? `This layer has a sliding window: a token sees ${left} tokens to the left and ${right} to the right, and the key lies outside.`
        : 'The key lies outside this layer’s sliding window.';
    }
    case 'padding':
      return 'The key is padding: it fills the input up to length and carries no text.';
    case 'other_segment':
      return 'Query and key belong to different texts packed into one input.';
    case 'knocked_out':
      return 'This edge was cut on purpose, to see what changes without it.';
  }
}
