// What tokens give to others or get from them: one vector of weights for each token asked about, with
// hidden cells as negative codes. Averages here are averages of weights; nothing is put through a softmax again.

/** @import { Facing, Joining } from './address.js' */

/** @typedef {Float32Array | Float64Array} Weights */

/**
 * @typedef {object} Spread
 * @property {Facing} facing
 * @property {number} layer
 * @property {readonly number[] | 'mean'} heads  of which each vector is the mean; one head alone is exact
 * @property {readonly number[]} tokens          asked about
 * @property {Weights[]} weights                 for each of them, one weight for each token of the text
 */

/**
 * The mean of several heads' weights. A mask hides a cell from all heads of a layer alike.
 * @param {Weights[]} vectors
 * @returns {Weights}
 */
export function meanOfHeads(vectors) {
  if (vectors.length === 1) return vectors[0];
  return Float64Array.from(vectors[0], (first, j) =>
    first < 0 ? first : vectors.reduce((sum, weights) => sum + weights[j], 0) / vectors.length,
  );
}

/**
 * Several tokens' weights as one shade: a weight hidden from one token counts as 0 for it; what is
 * hidden from all stays hidden.
 * @param {Weights[]} vectors
 * @param {Joining} joining
 * @returns {Weights}
 */
export function joined(vectors, joining) {
  if (vectors.length === 1) return vectors[0];
  return Float64Array.from(vectors[0], (first, j) => {
    let [sum, largest, seen] = [0, 0, false];
    for (const weights of vectors) {
      if (weights[j] < 0) continue;
      seen = true;
      sum += weights[j];
      largest = Math.max(largest, weights[j]);
    }
    if (!seen) return first;
    return joining === 'mean' ? sum / vectors.length : largest;
  });
}

/**
 * @param {Weights} weights
 * @returns {{sum: number, visible: number, entropy: number, order: number[]}}  order: strongest first, hidden ones not at all
 */
export function account(weights) {
  let [sum, entropy] = [0, 0];
  /** @type {number[]} */
  const order = [];
  weights.forEach((/** @type {number} */ w, /** @type {number} */ j) => {
    if (w < 0) return;
    order.push(j);
    sum += w;
    if (w > 0) entropy -= w * Math.log(w);
  });
  order.sort((a, b) => weights[b] - weights[a] || a - b);
  return { sum, visible: order.length, entropy, order };
}
