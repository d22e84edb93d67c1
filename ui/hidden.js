// Why a cell may be hidden, in words.

/** @import { HiddenReason, Site } from './contract.js' */

/** In a tile, -1 is the first of these, -2 the second, and so on. @type {readonly HiddenReason[]} */
export const REASONS = ['future', 'outside_window', 'padding', 'other_segment', 'knocked_out'];

/**
 * @param {number} weight  as it stands in a tile
 * @returns {HiddenReason | null}
 */
export const reasonOf = (weight) => (weight < 0 ? (REASONS[-weight - 1] ?? null) : null);

/** Every reason that occurs in a tile. @param {Float32Array} weights @returns {HiddenReason[]} */
export function reasonsIn(weights) {
  const seen = REASONS.map(() => false);
  for (const weight of weights) if (weight < 0) seen[-weight - 1] = true;
  return REASONS.filter((_, i) => seen[i]);
}

/** In the legend: why a cell is hidden. @type {Record<HiddenReason, string>} */
export const BECAUSE = {
  future: 'it comes later',
  outside_window: 'it is outside the window',
  padding: 'it is padding',
  other_segment: 'it is in another segment',
  knocked_out: 'it is cut',
};

/** @type {Record<HiddenReason, string>} */
export const SHORT = {
  future: 'comes later',
  outside_window: 'outside the window',
  padding: 'padding',
  other_segment: 'another segment',
  knocked_out: 'cut',
};

/** @type {Record<HiddenReason, (n: number) => string>} */
const COUNTED = {
  future: (n) => `${n} that ${n === 1 ? 'comes' : 'come'} later`,
  outside_window: (n) => `${n} outside the window`,
  padding: (n) => `${n} of padding`,
  other_segment: (n) => `${n} of another segment`,
  knocked_out: (n) => `${n} cut`,
};

/**
 * What hides how many keys of a row.
 * @param {readonly (HiddenReason | null)[]} mask
 * @returns {string[]}
 */
export const hiddenCounts = (mask) =>
  REASONS.flatMap((reason) => {
    const n = mask.filter((why) => why === reason).length;
    return n > 0 ? [COUNTED[reason](n)] : [];
  });

/**
 * How far a window reaches to one side; Infinity where it has no end there.
 * @param {number | null | undefined} side
 * @param {Site} site
 */
const reach = (side, site) => (side == null || side >= site.kv_len ? Infinity : side);

/** A layer's window in a few words; null where it hides nothing. @param {Site} site @returns {string | null} */
export function windowWords(site) {
  if (!site.window) return null;
  const [left, right] = [reach(site.window.left, site), site.causal ? 0 : reach(site.window.right, site)];
  if (left < Infinity && right < Infinity) return `window of ${left + right + 1}`;
  if (left < Infinity) return `window of ${left} to the left`;
  return right < Infinity && !site.causal ? `window of ${right} to the right` : null;
}

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
      const far = (/** @type {number | null | undefined} */ side) =>
        site && reach(side, site) < Infinity ? side : 'any number of';
      const [left, right] = [far(window?.left), far(window?.right)];
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
