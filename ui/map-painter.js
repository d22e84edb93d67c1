// Draws the map on its canvas: cells, names, the cell in view. Knows nothing of where they come from.

/** @import { Span } from './api.js' */
/** @import { Token } from './contract.js' */
/** @import { Camera } from './map-camera.js' */
/** @import { Frame } from './map-geometry.js' */
/** @import { Look } from './map-picture.js' */
/** @import { Rows } from './map-rows.js' */
/** @import { Spot, Term } from './store.js' */
/** @import { Tile } from './tiles.js' */
import { EDGE } from './map-geometry.js';
import { hatching } from './map-hatching.js';
import { paintNames } from './map-names.js';
import { placeOnRamp } from './map-picture.js';
import { show } from './numbers.js';
import { inkOn, rampAt } from './palette.js';

/** A tile and its colours. @typedef {{tile: Tile, canvas: HTMLCanvasElement, rows: Rows | null}} Layer */

/**
 * @typedef {object} Scene
 * @property {Frame} f
 * @property {Camera} c
 * @property {Span} part      The cells in view
 * @property {Layer[]} layers The later ones cover the earlier
 * @property {Look} look
 * @property {Token[]} queries
 * @property {Token[]} keys
 * @property {Spot | null} chosen
 * @property {Spot | null} hover
 * @property {Span | null} block  What stands behind the pixel under the pointer, where that is more than one cell
 * @property {number[]} leftOut   Columns that are not in the scale
 * @property {Term | null} lit
 * @property {Inks} inks
 * @property {string} font
 * @property {number} nameSize  Of names, in CSS pixels
 */

/** @typedef {Record<'page' | 'ink' | 'soft' | 'line' | 'pending' | 'hatch' | 'hatchLine' | 'q' | 'k' | 'weight' | 'v' | 'score' | 'bar', string>} Inks */

/** From this side on, cells stand apart. */
const APART = 12;
/** From this side on, a cell has room for its number, */
const WRITTEN = 34;
/** and from this one for all of its digits. */
const IN_FULL = 58;

/**
 * @param {CanvasRenderingContext2D} ctx  scaled to CSS pixels
 * @param {Scene} scene
 */
export function paint(ctx, scene) {
  const { f, c, inks } = scene;
  ctx.clearRect(0, 0, f.left + f.width + f.right, f.top + f.height + EDGE);
  ctx.save();
  ctx.beginPath();
  ctx.rect(f.left, f.top, Math.min(f.width, f.columns * c.cell - c.x) + 1, f.height + 1);
  ctx.clip();
  // What has not come yet is neither hidden nor small.
  ctx.fillStyle = inks.pending;
  ctx.fillRect(f.left, f.top, f.width + 1, f.height + 1);
  cells(ctx, scene);
  if (c.cell >= APART) gaps(ctx, scene);
  if (c.cell >= WRITTEN) figures(ctx, scene);
  leftOut(ctx, scene);
  if (scene.hover) cross(ctx, scene, scene.hover, inks.soft);
  ctx.restore();
  ctx.save();
  // The frame of a cell at the edge reaches over it.
  ctx.beginPath();
  ctx.rect(f.left - 4, f.top - 4, f.width + EDGE + 2, f.height + EDGE + 2);
  ctx.clip();
  if (scene.block) around(ctx, scene, scene.block);
  if (scene.chosen) bands(ctx, scene, scene.chosen);
  ctx.restore();
  marks(ctx, scene);
  paintNames(ctx, scene);
}

/** Where a column begins, on a device pixel. @param {Scene} scene @param {number} key */
const across = ({ f, c }, key) => Math.round((f.left + key * c.cell - c.x) * f.ratio) / f.ratio;
/** Where a row begins. @param {Scene} scene @param {number} query */
const down = ({ f, c }, query) => Math.round((f.top + query * c.cell - c.y) * f.ratio) / f.ratio;

/** @param {CanvasRenderingContext2D} ctx @param {Scene} scene */
function cells(ctx, scene) {
  const { layers, part, inks } = scene;
  ctx.imageSmoothingEnabled = false;
  for (const { tile, canvas } of layers) {
    const { place, rows, columns } = tile.plan;
    // Only what can be seen of it: a tile may be far larger than the screen.
    const [high, wide] = [(place.q1 - place.q0) / rows, (place.k1 - place.k0) / columns];
    const r0 = Math.max(0, Math.floor((part.q0 - place.q0) / high));
    const r1 = Math.min(rows, Math.ceil((part.q1 - place.q0) / high));
    const c0 = Math.max(0, Math.floor((part.k0 - place.k0) / wide));
    const c1 = Math.min(columns, Math.ceil((part.k1 - place.k0) / wide));
    if (r0 >= r1 || c0 >= c1 || canvas.width === 0) continue;
    const [x0, x1] = [across(scene, place.k0 + c0 * wide), across(scene, place.k0 + c1 * wide)];
    const [y0, y1] = [down(scene, place.q0 + r0 * high), down(scene, place.q0 + r1 * high)];
    if (tile.hides) hatched(ctx, scene, x0, y0, x1 - x0, y1 - y0, inks.hatch, hatching(ctx, inks.hatchLine));
    ctx.drawImage(canvas, c0, r0, c1 - c0, r1 - r0, x0, y0, x1 - x0, y1 - y0);
  }
}

/**
 * Lines that move with the map.
 * @param {CanvasRenderingContext2D} ctx @param {Scene} scene
 * @param {number} x @param {number} y @param {number} width @param {number} height
 * @param {string | null} ground @param {CanvasPattern} lines
 */
function hatched(ctx, { c }, x, y, width, height, ground, lines) {
  if (ground) {
    ctx.fillStyle = ground;
    ctx.fillRect(x, y, width, height);
  }
  const [dx, dy] = [Math.round(-c.x) % 6, Math.round(-c.y) % 6];
  ctx.translate(dx, dy);
  ctx.fillStyle = lines;
  ctx.fillRect(x - dx, y - dy, width, height);
  ctx.translate(-dx, -dy);
}

/** @param {CanvasRenderingContext2D} ctx @param {Scene} scene */
function gaps(ctx, scene) {
  const { c, part, inks } = scene;
  ctx.fillStyle = inks.page;
  const width = c.cell >= 28 ? 2 : 1;
  const [left, top] = [across(scene, part.k0), down(scene, part.q0)];
  const [wide, high] = [across(scene, part.k1) - left, down(scene, part.q1) - top];
  for (let k = part.k0; k <= part.k1; k++) ctx.fillRect(across(scene, k) - width / 2, top, width, high);
  for (let q = part.q0; q <= part.q1; q++) ctx.fillRect(left, down(scene, q) - width / 2, wide, width);
}

/** The weight itself, where a cell has room for it. @param {CanvasRenderingContext2D} ctx @param {Scene} scene */
function figures(ctx, scene) {
  const { c, part, layers, look, font, nameSize } = scene;
  ctx.font = `${Math.round(Math.min(nameSize * 1.1, c.cell * 0.27))}px ${font}`;
  ctx.textAlign = 'center';
  ctx.textBaseline = 'middle';
  for (const { tile, rows } of layers) {
    if (tile.plan.level.kind !== 'exact') continue;
    const { span, columns } = tile.plan;
    for (let q = Math.max(part.q0, span.q0); q < Math.min(part.q1, span.q1); q++) {
      for (let k = Math.max(part.k0, span.k0); k < Math.min(part.k1, span.k1); k++) {
        const weight = tile.most[(q - span.q0) * columns + k - span.k0];
        if (weight < 0) continue;
        ctx.fillStyle = inkOn(rampAt(look.theme, placeOnRamp(weight, q - span.q0, look, rows), look.palette));
        ctx.fillText(
          c.cell >= IN_FULL ? show(weight) : brief(weight),
          across(scene, k) + c.cell / 2,
          down(scene, q) + c.cell / 2 + 1,
        );
      }
    }
  }
}

/** @param {number} weight */
function brief(weight) {
  if (weight === 0) return '0';
  if (weight < 0.005) return '<.01';
  return weight > 0.995 ? '1' : weight.toFixed(2).slice(1);
}

/** Columns that are not in the scale: crossed by lines of the page, and framed. @param {CanvasRenderingContext2D} ctx @param {Scene} scene */
function leftOut(ctx, scene) {
  const { f, c, part, inks } = scene;
  if (c.cell < 4) return;
  const [top, high] = [down(scene, part.q0), down(scene, part.q1) - down(scene, part.q0)];
  for (const column of scene.leftOut) {
    if (column < part.k0 || column >= part.k1) continue;
    const [x0, x1] = [across(scene, column), across(scene, column + 1)];
    const lines = hatching(ctx, inks.page, true);
    // Not across a number.
    const strip = c.cell >= WRITTEN ? Math.max(4, 0.13 * c.cell) : (x1 - x0) / 2;
    hatched(ctx, scene, x0, top, strip, high, null, lines);
    hatched(ctx, scene, x1 - strip, top, strip, high, null, lines);
    ctx.strokeStyle = inks.soft;
    ctx.lineWidth = 1;
    ctx.setLineDash([4, 3]);
    ctx.strokeRect(x0 + 0.5, f.top + 0.5, x1 - x0 - 1, f.height - 1);
    ctx.setLineDash([]);
  }
}

/** Over such a column, at the edge of the map: a mark that can be seen at any size. @param {CanvasRenderingContext2D} ctx @param {Scene} scene */
function marks(ctx, scene) {
  const { f, inks } = scene;
  ctx.fillStyle = inks.ink;
  for (const column of scene.leftOut) {
    const [x0, x1] = [across(scene, column), across(scene, column + 1)];
    const width = Math.max(3, x1 - x0 - 2);
    const x = (x0 + x1 - width) / 2;
    if (x + width < f.left || x > f.left + f.width) continue;
    ctx.fillRect(Math.max(f.left - 1, x), f.top - 4, width, 3);
  }
}

/** @param {CanvasRenderingContext2D} ctx @param {Scene} scene @param {Spot} spot @param {string} ink */
function cross(ctx, scene, spot, ink) {
  const { f } = scene;
  ctx.strokeStyle = ink;
  ctx.lineWidth = 1;
  const [x0, x1] = [across(scene, spot.key), across(scene, spot.key + 1)];
  const [y0, y1] = [down(scene, spot.query), down(scene, spot.query + 1)];
  if (scene.c.cell >= 4) {
    ctx.strokeRect(f.left - 2, y0, f.width + 4, y1 - y0);
    ctx.strokeRect(x0, f.top - 2, x1 - x0, f.height + 4);
    return;
  }
  // Lines that are as thin as the rows and columns themselves, and let them through.
  ctx.globalAlpha = 0.6;
  ctx.fillStyle = ink;
  ctx.fillRect(f.left, (y0 + y1 - 1) / 2, f.width, 1);
  ctx.fillRect((x0 + x1 - 1) / 2, f.top, 1, f.height);
  ctx.globalAlpha = 1;
}

/** @param {CanvasRenderingContext2D} ctx @param {Scene} scene @param {Span} span */
function around(ctx, scene, span) {
  const [x0, x1] = wideEnough(across(scene, span.k0), across(scene, span.k1), 8);
  const [y0, y1] = wideEnough(down(scene, span.q0), down(scene, span.q1), 8);
  ctx.strokeStyle = scene.inks.ink;
  ctx.lineWidth = 1.5;
  ctx.strokeRect(x0, y0, x1 - x0, y1 - y0);
}

/** @param {number} from @param {number} to @param {number} least */
function wideEnough(from, to, least) {
  const more = Math.max(0, least - (to - from)) / 2;
  return [from - more, to + more];
}

/**
 * The row of the query in q's colour, the column of the key in k's, and the cell where they meet.
 * @param {CanvasRenderingContext2D} ctx
 * @param {Scene} scene
 * @param {Spot} spot
 */
function bands(ctx, scene, spot) {
  const { f, c, inks, lit } = scene;
  const thick = (/** @type {Term} */ term) => (lit === term ? 3 : c.cell < 6 ? 1 : 1.5);
  // Rows and columns of a few pixels are framed at a distance, so that they stay in sight themselves.
  const least = c.cell < 6 ? c.cell + 4 : c.cell;
  const [x0, x1] = wideEnough(across(scene, spot.key), across(scene, spot.key + 1), least);
  const [y0, y1] = wideEnough(down(scene, spot.query), down(scene, spot.query + 1), least);
  const edge = 0.75;
  const [right, low] = [Math.min(f.width, f.columns * c.cell - c.x), Math.min(f.height, f.rows * c.cell - c.y)];
  ctx.strokeStyle = inks.q;
  ctx.lineWidth = thick('q');
  ctx.strokeRect(f.left + edge, y0, right - 2 * edge, y1 - y0);
  ctx.strokeStyle = inks.k;
  ctx.lineWidth = thick('k');
  ctx.strokeRect(x0, f.top + edge, x1 - x0, low - 2 * edge);
  // A cell of a few pixels needs a frame around it rather than in it.
  const grow = c.cell < 10 ? 3 : 0;
  const box = /** @type {const} */ ([x0 - grow, y0 - grow, x1 - x0 + 2 * grow, y1 - y0 + 2 * grow]);
  ctx.strokeStyle = inks.page;
  ctx.lineWidth = 5;
  ctx.strokeRect(...box);
  ctx.strokeStyle = inks.ink;
  ctx.lineWidth = lit === 'weight' || lit === 'score' ? 4 : 2.5;
  ctx.strokeRect(...box);
}
