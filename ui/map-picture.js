// The cells as pixels: one pixel a cell, hidden cells left clear so that what lies beneath shows.

/** @import { Span } from './api.js' */
/** @import { Theme } from './palette.js' */
/** @import { Scale } from './scales.js' */
/** @import { Tile } from './tiles.js' */
import { rampBytes } from './palette.js';
import { fraction } from './scales.js';

/**
 * @param {Span} part    of the map
 * @param {Tile[]} tiles that cover it, or some of it
 * @param {Scale} scale
 * @param {Theme} theme
 * @returns {ImageData}
 */
export function picture(part, tiles, scale, theme) {
  const width = part.k1 - part.k0;
  const image = new ImageData(width, part.q1 - part.q0);
  const ramp = new Uint32Array(rampBytes(theme).buffer);
  const out = new Uint32Array(image.data.buffer);
  const top = ramp.length - 1;
  for (const { span, weights } of tiles) {
    const stride = span.k1 - span.k0;
    const k0 = Math.max(part.k0, span.k0);
    const k1 = Math.min(part.k1, span.k1);
    for (let q = Math.max(part.q0, span.q0); q < Math.min(part.q1, span.q1); q++) {
      let from = (q - span.q0) * stride + k0 - span.k0;
      let to = (q - part.q0) * width + k0 - part.k0;
      for (let k = k0; k < k1; k++, from++, to++) {
        const weight = weights[from];
        if (weight >= 0) out[to] = ramp[Math.round(fraction(scale, weight) * top)];
      }
    }
  }
  return image;
}
