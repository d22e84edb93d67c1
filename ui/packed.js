// A row or a column as it comes: what is said about it in JSON, then its weights as bytes.

/** @import { HiddenReason } from './contract.js' */
import { reasonOf } from './hidden.js';

/** @typedef {{weights: number[], mask: (HiddenReason | null)[]}} Weights  A hidden weight is 0. */

/**
 * @param {ArrayBuffer} bytes
 * @returns {Weights}  and all that the JSON says
 */
export function unpack(bytes) {
  const view = new DataView(bytes);
  const [length, count] = [view.getUint32(0, true), view.getUint32(4, true)];
  const about = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, 8, length)));
  const weights = new Array(count);
  const mask = new Array(count).fill(null);
  for (let i = 0; i < count; i++) {
    const weight = view.getFloat64(8 + length + 8 * i, true);
    if (weight < 0) mask[i] = reasonOf(weight);
    weights[i] = Math.max(0, weight);
  }
  return { ...about, weights, mask };
}
