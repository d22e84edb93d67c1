// From weights to the shades of words: the scale, palette and left-out columns chosen for the map hold
// for the text too.

/** @import { Meta } from './contract.js' */
/** @import { View } from './address.js' */
/** @import { Palette, Theme } from './palette.js' */
/** @import { Scale } from './scales.js' */
import { keysOf } from './axes.js';
import { columnsOf } from './map-left-out.js';
import { css, inkOn, rampAt } from './palette.js';
import { defaultScale, rowFractions } from './scales.js';

/** @param {View} view @param {Meta} meta @returns {{scale: Scale, palette: Palette}} */
export const lookOf = (view, meta) => ({
  scale: view.scale ?? defaultScale(meta.kind),
  palette: view.palette ?? 'amber',
});

/**
 * Where each weight stands on the ramp, 0 to 1. Negative weights are hidden cells.
 * @param {ArrayLike<number>} weights  of a row of the map, or of a column
 * @param {View} view
 * @param {Meta} meta
 * @param {boolean} row   A row's columns may be left out of its scale
 * @returns {number[]}
 */
export function placesOf(weights, view, meta, row) {
  const out = new Set(row ? columnsOf(view.leftOut, keysOf(meta, view)) : []);
  const counts = (/** @type {number} */ i) => weights[i] >= 0 && !out.has(i);
  let top = 1;
  if (view.range === 'largest') {
    top = 0;
    for (let i = 0; i < weights.length; i++) if (counts(i)) top = Math.max(top, weights[i]);
  }
  return rowFractions(lookOf(view, meta).scale, weights, counts, top);
}

/** Below this place on the ramp. */
const FADES = 0.12;

/** @type {Map<string, {ground: string, ink: string}>} */
const shades = new Map();

/**
 * @param {Theme} theme
 * @param {Palette} palette
 * @param {number} level   0 to `levels` - 1
 * @param {number} levels
 */
export function shadeOf(theme, palette, level, levels) {
  const name = `${theme} ${palette} ${level}/${levels}`;
  const known = shades.get(name);
  if (known) return known;
  const at = level / (levels - 1);
  const colour = rampAt(theme, at, palette);
  // Towards nothing a word's shade fades into the page, so that a text is not a row of boxes.
  const faint = Math.min(1, at / FADES);
  const ground = faint < 1 ? css(colour).replace(')', ` / ${faint.toFixed(3)})`) : css(colour);
  const shade = { ground, ink: inkOn(colour) };
  shades.set(name, shade);
  return shade;
}
