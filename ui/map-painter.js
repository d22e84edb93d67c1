// Draws the map on its canvas: cells, names, the cell in view. Knows nothing of where they come from.

/** @import { Token } from './contract.js' */
/** @import { Span } from './api.js' */
/** @import { Geometry } from './map-geometry.js' */
/** @import { Spot, Term } from './store.js' */
/** @import { Theme } from './palette.js' */
/** @import { Scale } from './scales.js' */
/** @import { Tile } from './tiles.js' */
import { picture } from './map-picture.js';
import { paintNames } from './map-names.js';
import { inkOn, rampAt } from './palette.js';
import { fraction } from './scales.js';
import { weightAt } from './tiles.js';

/**
 * @typedef {object} Scene
 * @property {Geometry} g
 * @property {{x: number, y: number, width: number, height: number}} window  what is scrolled into view
 * @property {Span} part
 * @property {Tile[]} tiles
 * @property {Token[]} queries
 * @property {Token[]} keys
 * @property {Spot | null} chosen
 * @property {Spot | null} hover
 * @property {Term | null} lit
 * @property {Scale} scale
 * @property {Theme} theme
 * @property {Inks} inks
 * @property {string} font
 * @property {number} nameSize  Of names, in CSS pixels
 */

/** @typedef {Record<'page' | 'ink' | 'soft' | 'line' | 'hatch' | 'hatchLine' | 'q' | 'k' | 'weight', string>} Inks */

const offscreen = document.createElement('canvas');

/**
 * @param {CanvasRenderingContext2D} ctx  scaled to CSS pixels
 * @param {Scene} scene
 */
export function paint(ctx, scene) {
  const { g, window, inks } = scene;
  ctx.clearRect(0, 0, window.width, window.height);
  ctx.save();
  ctx.beginPath();
  ctx.rect(g.left, g.top, Math.min(window.width - g.left, g.columns * g.cell - window.x + 1), window.height - g.top);
  ctx.clip();
  ctx.translate(g.left - window.x, g.top - window.y);
  cells(ctx, scene);
  if (g.cell >= 12) gaps(ctx, scene);
  if (g.cell >= 34) figures(ctx, scene);
  if (scene.hover) cross(ctx, scene, scene.hover, inks.soft, 1);
  if (scene.chosen) bands(ctx, scene, scene.chosen);
  ctx.restore();
  paintNames(ctx, scene);
}

/** @param {CanvasRenderingContext2D} ctx @param {Scene} scene */
function cells(ctx, { g, part, tiles, scale, theme, inks }) {
  for (const { span } of tiles) {
    const rect = /** @type {const} */ ([
      span.k0 * g.cell,
      span.q0 * g.cell,
      (span.k1 - span.k0) * g.cell,
      (span.q1 - span.q0) * g.cell,
    ]);
    ctx.fillStyle = inks.hatch;
    ctx.fillRect(...rect);
    ctx.fillStyle = hatching(ctx, inks.hatchLine);
    ctx.fillRect(...rect);
  }
  develop(part, tiles, scale, theme);
  ctx.imageSmoothingEnabled = false;
  ctx.drawImage(offscreen, part.k0 * g.cell, part.q0 * g.cell, offscreen.width * g.cell, offscreen.height * g.cell);
}

/** What the offscreen canvas holds. @type {unknown[]} */
let developed = [];

/**
 * Puts the cells on the offscreen canvas; most redraws only move a frame and need no new picture.
 * @param {Span} part
 * @param {Tile[]} tiles
 * @param {Scale} scale
 * @param {Theme} theme
 */
function develop(part, tiles, scale, theme) {
  const wanted = [part.q0, part.q1, part.k0, part.k1, scale, theme, ...tiles];
  if (wanted.length === developed.length && wanted.every((item, i) => item === developed[i])) return;
  developed = wanted;
  const image = picture(part, tiles, scale, theme);
  Object.assign(offscreen, { width: image.width, height: image.height });
  offscreen.getContext('2d')?.putImageData(image, 0, 0);
}

/** @type {Map<string, CanvasPattern>} */
const hatchings = new Map();

/** Diagonal lines: hidden is not the same as small. @param {CanvasRenderingContext2D} ctx @param {string} ink */
function hatching(ctx, ink) {
  const known = hatchings.get(ink);
  if (known) return known;
  const square = document.createElement('canvas');
  square.width = square.height = 6;
  const brush = /** @type {CanvasRenderingContext2D} */ (square.getContext('2d'));
  brush.strokeStyle = ink;
  brush.lineWidth = 1;
  for (const at of [-6, 0, 6]) {
    brush.moveTo(at - 1, 7);
    brush.lineTo(at + 7, -1);
  }
  brush.stroke();
  const pattern = /** @type {CanvasPattern} */ (ctx.createPattern(square, 'repeat'));
  hatchings.set(ink, pattern);
  return pattern;
}

/** @param {CanvasRenderingContext2D} ctx @param {Scene} scene */
function gaps(ctx, { g, part, inks }) {
  ctx.fillStyle = inks.page;
  const width = g.cell >= 28 ? 2 : 1;
  for (let k = part.k0; k <= part.k1; k++)
    ctx.fillRect(k * g.cell - width / 2, part.q0 * g.cell, width, (part.q1 - part.q0) * g.cell);
  for (let q = part.q0; q <= part.q1; q++)
    ctx.fillRect(part.k0 * g.cell, q * g.cell - width / 2, (part.k1 - part.k0) * g.cell, width);
}

/** The weight itself, where a cell has room for it. @param {CanvasRenderingContext2D} ctx @param {Scene} scene */
function figures(ctx, { g, part, tiles, scale, theme, font, nameSize }) {
  ctx.font = `${Math.round(Math.min(nameSize * 1.1, g.cell * 0.27))}px ${font}`;
  ctx.textAlign = 'center';
  ctx.textBaseline = 'middle';
  for (let q = part.q0; q < part.q1; q++) {
    for (let k = part.k0; k < part.k1; k++) {
      const weight = weightAt(tiles, q, k);
      if (weight === null || weight < 0) continue;
      ctx.fillStyle = inkOn(rampAt(theme, fraction(scale, weight)));
      ctx.fillText(brief(weight), (k + 0.5) * g.cell, (q + 0.5) * g.cell + 1);
    }
  }
}

/** @param {number} weight */
function brief(weight) {
  if (weight === 0) return '0';
  if (weight < 0.005) return '<.01';
  return weight > 0.995 ? '1' : weight.toFixed(2).slice(1);
}

/** @param {CanvasRenderingContext2D} ctx @param {Scene} scene @param {Spot} spot @param {string} ink @param {number} width */
function cross(ctx, { g }, spot, ink, width) {
  ctx.strokeStyle = ink;
  ctx.lineWidth = width;
  ctx.strokeRect(0, spot.query * g.cell, g.columns * g.cell, g.cell);
  ctx.strokeRect(spot.key * g.cell, 0, g.cell, g.rows * g.cell);
}

/**
 * The row of the query in q's colour, the column of the key in k's, and the cell where they meet.
 * @param {CanvasRenderingContext2D} ctx
 * @param {Scene} scene
 * @param {Spot} spot
 */
function bands(ctx, { g, inks, lit, part }, spot) {
  const thick = (/** @type {Term} */ term) => (lit === term ? 3 : 1.5);
  const edge = 0.75;
  ctx.strokeStyle = inks.q;
  ctx.lineWidth = thick('q');
  ctx.strokeRect(edge, spot.query * g.cell, g.columns * g.cell - 2 * edge, g.cell);
  ctx.strokeStyle = inks.k;
  ctx.lineWidth = thick('k');
  ctx.strokeRect(spot.key * g.cell, edge, g.cell, g.rows * g.cell - 2 * edge);
  // A cell of a few pixels needs a frame around it rather than in it.
  const grow = g.cell < 10 ? 3 : 0;
  const [x, y, side] = [spot.key * g.cell - grow, spot.query * g.cell - grow, g.cell + 2 * grow];
  if (spot.query < part.q0 || spot.query >= part.q1) return;
  ctx.strokeStyle = inks.page;
  ctx.lineWidth = 5;
  ctx.strokeRect(x, y, side, side);
  ctx.strokeStyle = inks.ink;
  ctx.lineWidth = lit === 'weight' || lit === 'score' ? 4 : 2.5;
  ctx.strokeRect(x, y, side, side);
}
