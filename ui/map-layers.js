// Which tiles are wanted, and what of them is here in colours: the coarse ones beneath the sharp.

/** @import { HeadRef } from './api.js' */
/** @import { Camera } from './map-camera.js' */
/** @import { Frame } from './map-geometry.js' */
/** @import { Plan } from './map-levels.js' */
/** @import { Layer } from './map-painter.js' */
/** @import { Look } from './map-picture.js' */
/** @import { Rows } from './map-rows.js' */
/** @import { Tile } from './tiles.js' */
import { isWhole, seen } from './map-camera.js';
import { levelOf, overview, tilesOf } from './map-levels.js';
import { lastPictureOf, pictureOf } from './map-picture.js';
import { rowsOf } from './map-rows.js';
import { SCALES } from './scales.js';
import { known, want } from './tiles.js';

/** Milliseconds of one frame that may go into colouring tiles. */
const COLOURING = 8;

/**
 * @typedef {object} Layers
 * @property {Layer[]} here     In the order of drawing
 * @property {Layer[]} minimap  Those that show the whole
 * @property {boolean} sharp    All that is in view is among them
 * @property {boolean} more     Something is here and waits for its colours: draw again
 */

/**
 * @param {HeadRef} ref
 * @param {Frame} f
 * @param {Camera} c
 * @param {Look} look
 * @param {number[]} leftOut
 * @returns {Layers}
 */
export function gather(ref, f, c, look, leftOut) {
  const level = levelOf(f, c.cell);
  const part = seen(f, c);
  const { rows: byRow } = SCALES[look.scale];
  const inView = tilesOf(f, level, part);
  // Rows are compared with themselves, so all of each is needed.
  const beside = byRow ? tilesOf(f, level, { ...part, k0: 0, k1: f.columns }) : [];
  const all = tilesOf(f, overview(f), { q0: 0, q1: f.rows, k0: 0, k1: f.columns });
  const plans = [...new Map([...inView, ...beside, ...(isWhole(f, c) ? [] : all)].map((p) => [p.name, p])).values()];
  const got = want(ref, plans);
  /** @type {Map<string, Tile>} */
  const there = new Map();
  plans.forEach((plan, i) => got[i] && there.set(plan.name, got[i]));
  const end = performance.now() + COLOURING;
  let more = false;
  let finished = true;
  /** @param {Tile} tile @param {boolean} wanted @returns {Layer | null} */
  const layer = (tile, wanted) => {
    const rows = byRow ? rowsFor(tile, plans, there, look, leftOut) : null;
    const ready = rows !== null || !byRow;
    if (wanted && ready && performance.now() < end) return { tile, canvas: pictureOf(tile, look, rows), rows };
    if (wanted) finished = false;
    if (wanted && ready) more = true;
    const canvas = lastPictureOf(tile);
    return canvas && canvas.width > 0 ? { tile, canvas, rows } : null;
  };
  const sharpest = new Set(inView.map((plan) => plan.name));
  const whole = new Set(all.map((plan) => plan.name));
  // From coarse to fine, and last the level that belongs to this size of cells.
  const under = known(ref)
    .filter((tile) => !sharpest.has(tile.plan.name))
    .sort((a, b) => b.plan.level.block - a.plan.level.block)
    .map((tile) => layer(tile, whole.has(tile.plan.name)));
  const over = inView.map((plan) => there.get(plan.name)).map((tile) => (tile ? layer(tile, true) : null));
  const here = [...under, ...over].filter((one) => one !== null);
  return {
    here,
    minimap: here.filter((one) => whole.has(one.tile.plan.name)),
    sharp: finished && over.every((one) => one !== null),
    more,
  };
}

/**
 * What is known of the rows of a tile, once all that stand beside it are here.
 * @param {Tile} tile
 * @param {Plan[]} plans
 * @param {Map<string, Tile>} there
 * @param {Look} look
 * @param {number[]} leftOut
 * @returns {Rows | null}
 */
function rowsFor({ plan }, plans, there, look, leftOut) {
  if (look.scale !== 'row' && look.scale !== 'rank') return null;
  const { level, span } = plan;
  const same = (/** @type {Plan} */ other) =>
    other.level.kind === level.kind && other.level.block === level.block && other.span.q0 === span.q0;
  const side = plans.filter(same);
  const row = side.map((other) => there.get(other.name)).filter((one) => one !== undefined);
  if (row.length === 0 || row.length < side.length) return null;
  row.sort((a, b) => a.plan.span.k0 - b.plan.span.k0);
  return rowsOf(row, look.scale, look.pooling, leftOut);
}
