// Where every head stands in the picture of all heads, in CSS pixels. Pure arithmetic.

/** @import { Site } from './contract.js' */

/** @typedef {{layer: number, head: number}} HeadSpot */

/**
 * @typedef {object} HeadsLayout
 * @property {number} side          of one thumbnail
 * @property {number} width         of it all
 * @property {number} height
 * @property {(HeadSpot & {x: number, y: number})[]} places  in reading order
 * @property {boolean} grid         One axis is layers, the other heads; otherwise one after another
 * @property {boolean} layersDown   In a grid: layers are its rows
 * @property {number} columns       How many stand in one row
 * @property {number} left          Room for the names of the rows
 * @property {number} top           and of the columns
 * @property {number} caption       Height of the words under each thumbnail
 */

const LARGEST = 132;
const SMALLEST = 20;
/** Thumbnails need not be larger than this where the picture would then be higher than the window. */
const ENOUGH = 36;
/** Above this the picture would be too large for a canvas. */
const HIGHEST = 4200;

/**
 * Layers by heads. The longer of the two lies across where that makes larger thumbnails; heads that share keys
 * and values stand closer together.
 * @param {Site[]} sites   one for each layer
 * @param {number} width   there is
 * @param {number} height  in which it would be seen at a glance
 * @param {number} name    height of a line of text
 * @returns {HeadsLayout}
 */
export function layOutGrid(sites, width, height, name) {
  const heads = Math.max(...sites.map((s) => s.q_heads));
  const group = Math.max(1, ...sites.map((s) => s.q_heads / s.kv_heads));
  const groups = group > 1 ? Math.ceil(heads / group) : 1;
  const make = (/** @type {boolean} */ layersDown) => {
    const [rows, columns] = layersDown ? [sites.length, heads] : [heads, sites.length];
    const left = Math.ceil(name * 2.4);
    const top = Math.ceil(name * 1.7);
    const gap = (/** @type {number} */ side) => Math.max(2, Math.round(side / 14));
    const across = sideFor(width - left, columns, layersDown ? groups - 1 : 0, gap);
    const whole = Math.min(across, sideFor(height - top, rows, layersDown ? 0 : groups - 1, gap));
    const side = Math.max(SMALLEST, Math.min(LARGEST, Math.max(whole, Math.min(across, ENOUGH))));
    // What is too wide cannot be scrolled to; what is too high can.
    return {
      layersDown,
      rows,
      columns,
      left,
      top,
      side,
      gap: gap(side),
      worth: side > across ? 0 : Math.min(whole, LARGEST),
    };
  };
  const [down, across] = [make(true), make(false)];
  const { layersDown, columns, rows, left, top, side, gap } = across.worth > down.worth ? across : down;
  const headGap = (/** @type {number} */ head) => (group > 1 ? Math.floor(head / group) * gap : 0);
  const places = sites.flatMap((site, l) =>
    Array.from({ length: site.q_heads }, (_, head) => {
      const [along, aside] = [l * (side + gap), head * (side + gap) + headGap(head)];
      return {
        layer: site.layer,
        head,
        x: left + (layersDown ? aside : along),
        y: top + (layersDown ? along : aside),
      };
    }),
  );
  return {
    side,
    grid: true,
    layersDown,
    columns,
    left,
    top,
    caption: 0,
    places,
    width: left + columns * (side + gap) + (layersDown ? headGap(heads - 1) : 0),
    height: top + rows * (side + gap) + (layersDown ? 0 : headGap(heads - 1)),
  };
}

/**
 * The largest side at which so many thumbnails, and gaps besides theirs, have room.
 * @param {number} room
 * @param {number} count
 * @param {number} more    gaps
 * @param {(side: number) => number} gap
 */
function sideFor(room, count, more, gap) {
  let side = Math.max(1, Math.floor(room / count));
  while (side > 1 && count * (side + gap(side)) + more * gap(side) > room) side--;
  return side;
}

/**
 * One after another, each with its name and its number below.
 * @param {HeadSpot[]} heads
 * @param {number} width
 * @param {number} name   height of a line of text
 * @returns {HeadsLayout}
 */
export function layOutList(heads, width, name) {
  const caption = Math.ceil(name * 2.5);
  const gap = 10;
  const least = Math.ceil(name * 3.4);
  let side = heads.length <= 24 ? 112 : heads.length <= 80 ? 84 : Math.max(least, 60);
  side = Math.min(side, width);
  const columnsFor = (/** @type {number} */ s) => Math.max(1, Math.floor((width + gap) / (s + gap)));
  const heightFor = (/** @type {number} */ s) => Math.ceil(heads.length / columnsFor(s)) * (s + caption + gap);
  while (side > SMALLEST && heightFor(side) > HIGHEST) side -= 2;
  const columns = columnsFor(side);
  return {
    side,
    grid: false,
    layersDown: true,
    columns,
    left: 0,
    top: 2,
    caption,
    places: heads.map(({ layer, head }, i) => ({
      layer,
      head,
      x: (i % columns) * (side + gap) + 2,
      y: Math.floor(i / columns) * (side + caption + gap) + 2,
    })),
    width: Math.min(columns, Math.max(1, heads.length)) * (side + gap) - gap + 4,
    height: heightFor(side) + 2,
  };
}

/**
 * The head under a point.
 * @param {HeadsLayout} layout
 * @param {number} x
 * @param {number} y
 * @returns {HeadSpot | null}
 */
export function headAt({ places, side, caption }, x, y) {
  return places.find((p) => x >= p.x && x < p.x + side && y >= p.y && y < p.y + side + caption) ?? null;
}

/**
 * The head to which an arrow key leads.
 * @param {HeadsLayout} layout
 * @param {HeadSpot} from
 * @param {string} key  ArrowLeft, ...
 * @returns {HeadSpot | null}
 */
export function stepFrom({ places, layersDown, grid, columns }, from, key) {
  const at = places.findIndex((p) => p.layer === from.layer && p.head === from.head);
  if (key === 'Home') return places[0] ?? null;
  if (key === 'End') return places.at(-1) ?? null;
  const [dx, dy] = STEPS[key] ?? [0, 0];
  if (at < 0) return places[0] ?? null;
  if (!grid) return places[at + dx + dy * columns] ?? null;
  const { layer, head } = places[at];
  const layers = [...new Set(places.map((p) => p.layer))];
  const [along, aside] = layersDown ? [dy, dx] : [dx, dy];
  const next = layers[layers.indexOf(layer) + along];
  return places.find((p) => p.layer === next && p.head === head + aside) ?? null;
}

/** @type {Record<string, [number, number]>} */
const STEPS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
