// From a weight to a place on the colour ramp. A scale changes what is seen, never what is stored.

/** @typedef {'linear' | 'sqrt' | 'log'} Scale */

/** The smallest weight that the logarithmic scale still tells from nothing. */
export const LOG_FLOOR = 1e-5;

/** @type {Record<Scale, {name: string, says: string, ticks: number[]}>} */
export const SCALES = {
  linear: { name: 'linear', says: 'colour grows with the weight', ticks: [0, 0.25, 0.5, 0.75, 1] },
  sqrt: {
    name: 'square root',
    says: 'colour grows with the square root of the weight',
    ticks: [0, 0.01, 0.1, 0.25, 0.5, 1],
  },
  log: { name: 'log', says: 'each step of colour is ten times the weight', ticks: [1e-5, 1e-4, 1e-3, 0.01, 0.1, 1] },
};

/**
 * @param {Scale} scale
 * @param {number} weight  0 to 1
 * @returns {number}       0 to 1
 */
export function fraction(scale, weight) {
  if (weight <= 0) return 0;
  if (scale === 'sqrt') return Math.min(1, Math.sqrt(weight));
  if (scale === 'log') return Math.min(1, Math.max(0, 1 - Math.log10(weight) / Math.log10(LOG_FLOOR)));
  return Math.min(1, weight);
}

/**
 * @param {string | null | undefined} name
 * @returns {name is Scale}
 */
export function isScale(name) {
  return name === 'linear' || name === 'sqrt' || name === 'log';
}

/**
 * The worked example's weights are few and large; a model's are many and small.
 * @param {string} kind  of the source
 * @returns {Scale}
 */
export const defaultScale = (kind) => (kind === 'example' ? 'linear' : 'sqrt');
