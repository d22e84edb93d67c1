// What a head does, named: statistics, and patterns found in them by stated thresholds.

/** @import { HeadFacts, Site } from './contract.js' */
import { show, tiny } from './numbers.js';

/** @typedef {'entropy' | 'first' | 'self' | 'previous' | 'distance' | 'proof'} Statistic */
/** @typedef {'previous' | 'first' | 'self' | 'local' | 'uniform'} Pattern */

/** @type {Record<Statistic, {name: string, says: string, of: (facts: HeadFacts) => number | null, write: (value: number) => string}>} */
export const STATISTICS = {
  entropy: {
    name: 'entropy',
    says: 'How spread the rows are, in nats: 0 looks at one key, more looks at many.',
    of: (f) => f.entropy,
    write: show,
  },
  first: { name: 'first', says: 'Mean weight on the first token.', of: (f) => f.first, write: show },
  self: { name: 'self', says: 'Mean weight on the token itself.', of: (f) => f.self, write: show },
  previous: { name: 'previous', says: 'Mean weight on the token before.', of: (f) => f.previous, write: show },
  distance: {
    name: 'distance',
    says: 'Mean distance between query and key, in tokens.',
    of: (f) => f.distance,
    write: show,
  },
  proof: {
    name: 'proof',
    says: 'The larger of the two errors of its proof: how far its row sums and its output are from what they must be.',
    // An error that is not finite is the worst.
    of: (f) => Math.max(f.proof.row_sum_error ?? Infinity, f.proof.output_error ?? Infinity),
    write: tiny,
  },
};

/** @param {string | null} name @returns {name is Statistic} */
export const isStatistic = (name) => name !== null && Object.hasOwn(STATISTICS, name);

/** A head with one of these means at least this high has its name from it. */
const MOSTLY = 0.5;
/** Near is at most this many tokens away on average ... */
const NEAR = 8;
/** ... and at most this part of the distance that even attention would have. */
const NEARER = 0.25;
/** Even attention has at least this part of the highest entropy that the mask allows. */
const EVEN = 0.95;

/**
 * @typedef {object} PatternRule
 * @property {string} name
 * @property {string} many    What several such heads are called
 * @property {(even: Even) => string} says
 * @property {Statistic} by   The statistic that decides
 * @property {boolean} rising The clearest ones have the smallest
 * @property {(even: Even) => string} rule  with its threshold
 * @property {(facts: HeadFacts, even: Even) => boolean} fits
 */

/** @type {Record<Pattern, PatternRule>} */
export const PATTERNS = {
  previous: {
    name: 'Previous token',
    many: 'previous-token heads',
    says: () => 'On average, at least half of a row’s weight goes to the token just before.',
    by: 'previous',
    rising: false,
    rule: () => `previous ≥ ${MOSTLY}`,
    fits: (f) => f.previous !== null && f.previous >= MOSTLY,
  },
  first: {
    name: 'First-token sink',
    many: 'first-token sinks',
    says: () => 'On average, at least half of a row’s weight rests on the first token, whatever it is.',
    by: 'first',
    rising: false,
    rule: () => `first ≥ ${MOSTLY}`,
    fits: (f) => f.first >= MOSTLY,
  },
  self: {
    name: 'Self',
    many: 'self heads',
    says: () => 'On average, at least half of a row’s weight stays on the token itself.',
    by: 'self',
    rising: false,
    rule: () => `self ≥ ${MOSTLY}`,
    fits: (f) => f.self !== null && f.self >= MOSTLY,
  },
  local: {
    name: 'Local',
    many: 'local heads',
    says: () =>
      `Keys are near: at most ${NEAR} tokens away on average, and at most a quarter of the distance that even attention would have in this text. Previous-token and self heads are local too.`,
    by: 'distance',
    rising: true,
    rule: (even) => `distance ≤ ${show(nearIn(even))}`,
    fits: (f, even) => f.distance !== null && f.distance <= nearIn(even),
  },
  uniform: {
    name: 'Uniform',
    many: 'uniform heads',
    says: (even) =>
      `Attention is spread almost evenly: the entropy is at least ${EVEN} of the highest that the mask allows in this text, ${show(even.entropy)} nats.`,
    by: 'entropy',
    rising: false,
    rule: (even) => `entropy ≥ ${show(EVEN * even.entropy)}`,
    fits: (f, even) => even.entropy > 0 && f.entropy >= EVEN * even.entropy,
  },
};

/** @param {string | null} name @returns {name is Pattern} */
export const isPattern = (name) => name !== null && Object.hasOwn(PATTERNS, name);

/** @param {Even} even */
const nearIn = (even) => Math.min(NEAR, NEARER * even.distance);

/**
 * @param {HeadFacts} facts
 * @param {Even} even
 * @returns {Pattern[]}
 */
export function patternsOf(facts, even) {
  return /** @type {Pattern[]} */ (Object.keys(PATTERNS)).filter((name) => PATTERNS[name].fits(facts, even));
}

/**
 * The entropy and the distance that a head would have if it looked evenly at all it may see.
 * @typedef {{entropy: number, distance: number}} Even
 */

/**
 * @param {Pick<Site, 'q_len' | 'kv_len' | 'causal' | 'window'>} site
 * @returns {Even}
 */
export function evenAttention({ q_len, kv_len, causal, window }) {
  let [entropy, distance] = [0, 0];
  for (let i = 0; i < q_len; i++) {
    const p = kv_len - q_len + i;
    const from = Math.max(0, p - (window?.left ?? Infinity));
    const to = Math.min(kv_len - 1, causal ? p : p + (window?.right ?? Infinity));
    const count = to - from + 1;
    if (count <= 0) continue;
    entropy += Math.log(count);
    distance += (triangle(p - from) + triangle(to - p)) / count;
  }
  return { entropy: entropy / q_len, distance: distance / q_len };
}

/** 1 + 2 + ... + n @param {number} n */
const triangle = (n) => (Math.max(0, n) * (Math.max(0, n) + 1)) / 2;

/**
 * What the heads are asked for.
 * @typedef {object} Wish
 * @property {Statistic | null} sort
 * @property {boolean} rising
 * @property {Pattern | null} pattern
 * @property {number | null} least
 * @property {number | null} most
 */

/**
 * @param {HeadFacts} facts
 * @param {Wish} wish
 * @param {Even} even
 */
export function fits(facts, { sort, pattern, least, most }, even) {
  if (pattern && !PATTERNS[pattern].fits(facts, even)) return false;
  if (!sort || (least === null && most === null)) return true;
  const value = STATISTICS[sort].of(facts);
  return value !== null && value >= (least ?? -Infinity) && value <= (most ?? Infinity);
}

/**
 * In the order asked for; heads without that statistic stand last, equal ones layer by layer.
 * @param {readonly HeadFacts[]} all
 * @param {Statistic | null} sort
 * @param {boolean} rising
 * @returns {HeadFacts[]}
 */
export function sorted(all, sort, rising) {
  const place = (/** @type {HeadFacts} */ a, /** @type {HeadFacts} */ b) => a.layer - b.layer || a.head - b.head;
  if (!sort) return [...all].sort(place);
  const { of } = STATISTICS[sort];
  return [...all].sort((a, b) => {
    const [x, y] = [of(a), of(b)];
    if (x === null || y === null) return (x === null ? 1 : 0) - (y === null ? 1 : 0) || place(a, b);
    return (rising ? x - y : y - x) || place(a, b);
  });
}
