// From a weight to a place on the colour ramp. A scale changes what is seen, never what is stored.

/** @typedef {'linear' | 'sqrt' | 'log' | 'row' | 'rank'} Scale */

/** The smallest part of the top that the logarithmic scale still tells from nothing. */
export const LOG_FLOOR = 1e-5;

/**
 * `ticks` are parts of the scale's top. A scale of rows has a top in each row: the largest weight there.
 * @type {Record<Scale, {name: string, says: string, rows: boolean, ticks: number[]}>}
 */
export const SCALES = {
  linear: { name: 'linear', says: 'colour grows with the weight', rows: false, ticks: [0, 0.25, 0.5, 0.75, 1] },
  sqrt: {
    name: 'square root',
    says: 'colour grows with the square root of the weight',
    rows: false,
    ticks: [0, 0.01, 0.1, 0.25, 0.5, 1],
  },
  log: {
    name: 'log',
    says: 'each step of colour is ten times the weight',
    rows: false,
    ticks: [1e-5, 1e-4, 1e-3, 0.01, 0.1, 1],
  },
  row: {
    name: 'per row',
    says: 'each row from 0 to its own largest weight; colours of different rows cannot be compared',
    rows: true,
    ticks: [0, 0.25, 0.5, 0.75, 1],
  },
  rank: {
    name: 'rank in row',
    says: 'each row in order, from its smallest visible weight to its largest; sizes are not shown',
    rows: true,
    ticks: [0, 0.5, 1],
  },
};

/**
 * @param {Scale} scale
 * @param {number} weight  0 to 1
 * @param {number} [top]   where the ramp ends; beyond it the colour stays the last one
 * @returns {number}       0 to 1. A rank needs the whole row: see `rowFractions`.
 */
export function fraction(scale, weight, top = 1) {
  if (weight <= 0 || top <= 0) return 0;
  const part = weight / top;
  if (scale === 'sqrt') return Math.min(1, Math.sqrt(part));
  if (scale === 'log') return Math.min(1, Math.max(0, 1 - Math.log10(part) / Math.log10(LOG_FLOOR)));
  return Math.min(1, part);
}

/** Colours of a ramp, less one: a rank is told as finely as it can be seen. */
const STEPS = 255;

/**
 * What a row's ranks are read from: the rank of a weight, in steps of the ramp, is how many of
 * these cuts lie below it. The rank of a weight is how many others are smaller.
 * @param {Float32Array} sorted  the visible weights that count, smallest first
 * @param {Float32Array} cuts    255 numbers, to be filled in
 */
export function cutsOf(sorted, cuts) {
  const steps = sorted.length - 1;
  for (let i = 0; i < STEPS; i++) {
    const below = Math.ceil(((i + 1) * steps) / STEPS);
    // A weight that is alone in its row is the largest of it.
    cuts[i] = below === 0 ? -1 : sorted[below - 1];
  }
}

/**
 * @param {Float32Array} cuts
 * @param {number} from    where the row's 255 cuts begin
 * @param {number} weight
 * @returns {number} 0 to 255
 */
export function rankIn(cuts, from, weight) {
  let low = 0;
  let high = STEPS;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (cuts[from + middle] < weight) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * The places of one whole row on the ramp.
 * @param {Scale} scale
 * @param {ArrayLike<number>} weights
 * @param {(index: number) => boolean} [counts]  false for hidden cells and for columns left out
 * @param {number} [top]  of a scale that all rows share
 * @returns {number[]}
 */
export function rowFractions(scale, weights, counts = () => true, top = 1) {
  const all = Array.from(weights);
  if (!SCALES[scale].rows) return all.map((weight) => fraction(scale, weight, top));
  const sorted = Float32Array.from(all.filter((_, i) => counts(i))).sort();
  if (scale === 'row') return all.map((weight) => fraction(scale, weight, sorted[sorted.length - 1] ?? 0));
  const cuts = new Float32Array(STEPS);
  cutsOf(sorted, cuts);
  return all.map((weight) => rankIn(cuts, 0, Math.fround(weight)) / STEPS);
}

/**
 * @param {string | null | undefined} name
 * @returns {name is Scale}
 */
export function isScale(name) {
  return name !== null && name !== undefined && Object.hasOwn(SCALES, name);
}

/**
 * The worked example's weights are few and large; a model's are many and small.
 * @param {string} kind  of the source
 * @returns {Scale}
 */
export const defaultScale = (kind) => (kind === 'example' ? 'linear' : 'sqrt');
