// How finely the map is fetched: cell by cell where a cell is a pixel or more, and below that in
// squares of cells, as many as stand behind one pixel. A level is cut into tiles.

/** @import { Span } from './api.js' */
/** @import { Frame } from './map-geometry.js' */

/**
 * @typedef {object} Level
 * @property {'exact' | 'blocks' | 'whole'} kind
 * @property {number} block  Cells behind a pixel, down and across; on `whole` it need not be a whole number
 */

/**
 * One piece of a level: what is asked for, and where it stands on the map (in cells).
 * @typedef {object} Plan
 * @property {string} name
 * @property {Level} level
 * @property {Span} span
 * @property {number} rows
 * @property {number} columns
 * @property {Span} place
 */

/** Pixels of a tile, down and across: the server gives no more exact cells at once. */
export const TILE = 512;

/**
 * @param {Frame} f
 * @param {number} cell  its side in CSS pixels
 * @returns {Level}
 */
export function levelOf(f, cell) {
  const pixels = cell * f.ratio;
  if (pixels > 0.999) return { kind: 'exact', block: 1 };
  if (cell <= f.fit * 1.19) return overview(f);
  return { kind: 'blocks', block: 2 ** Math.ceil(Math.log2(1 / pixels) - 1e-6) };
}

/** The level that shows the whole map. @param {Frame} f @returns {Level} */
export function overview(f) {
  const pixels = f.fit * f.ratio;
  return pixels > 0.999 ? { kind: 'exact', block: 1 } : { kind: 'whole', block: 1 / pixels };
}

/**
 * The tiles of a level that cover a part of the map, the nearest to its middle first.
 * @param {Frame} f
 * @param {Level} level
 * @param {Span} part
 * @returns {Plan[]}
 */
export function tilesOf(f, level, part) {
  const down = cuts(level, f.rows, part.q0, part.q1);
  const across = cuts(level, f.columns, part.k0, part.k1);
  const middle = { q: (part.q0 + part.q1) / 2, k: (part.k0 + part.k1) / 2 };
  const away = (/** @type {Plan} */ { place: p }) =>
    Math.hypot((p.q0 + p.q1) / 2 - middle.q, (p.k0 + p.k1) / 2 - middle.k);
  return down
    .flatMap((q) =>
      across.map((k) => ({
        name: `${level.kind} ${level.block} ${q.from} ${k.from} ${q.parts} ${k.parts}`,
        level,
        span: { q0: q.from, q1: q.to, k0: k.from, k1: k.to },
        rows: q.parts,
        columns: k.parts,
        place: { q0: q.start, q1: q.end, k0: k.start, k1: k.end },
      })),
    )
    .sort((a, b) => away(a) - away(b));
}

/**
 * @param {Level} level
 * @param {number} count   of all rows, or columns
 * @param {number} first   of those in view
 * @param {number} last
 * @returns {{from: number, to: number, parts: number, start: number, end: number}[]}
 */
function cuts({ kind, block }, count, first, last) {
  const out = [];
  if (kind === 'whole') {
    const pixels = Math.max(1, Math.round(count / block));
    const pieces = Math.ceil(pixels / TILE);
    for (let i = 0; i < pieces; i++) {
      const [a, b] = [Math.round((i * pixels) / pieces), Math.round(((i + 1) * pixels) / pieces)];
      const at = (/** @type {number} */ pixel) => Math.floor((pixel * count) / pixels);
      const real = (/** @type {number} */ pixel) => (pixel * count) / pixels;
      out.push({ from: at(a), to: at(b), parts: b - a, start: real(a), end: real(b) });
    }
    return out.filter(({ from, to }) => to > first && from < last);
  }
  const step = TILE * block;
  for (let from = Math.floor(first / step) * step; from < last; from += step) {
    const to = Math.min(from + step, count);
    // Where a block would be cut off at the edge, its cells go to its neighbours.
    out.push({ from, to, parts: Math.max(1, Math.floor((to - from) / block)), start: from, end: to });
  }
  return out;
}

/**
 * The `part`-th of `parts` nearly equal parts of a range, as the server cuts it.
 * @param {number} from
 * @param {number} to
 * @param {number} part
 * @param {number} parts
 * @returns {[number, number]}
 */
export function share(from, to, part, parts) {
  const at = (/** @type {number} */ i) => from + Math.floor((i * (to - from)) / parts);
  return [at(part), at(part + 1)];
}

/**
 * The cells behind the pixel of a tile in which one cell lies.
 * @param {Plan} plan
 * @param {number} query
 * @param {number} key
 * @returns {{row: number, column: number, span: Span} | null}  null where it is none of this tile's
 */
export function blockAt({ span, rows, columns }, query, key) {
  if (query < span.q0 || query >= span.q1 || key < span.k0 || key >= span.k1) return null;
  // The last part that does not begin after it.
  const part = (
    /** @type {number} */ at,
    /** @type {number} */ from,
    /** @type {number} */ to,
    /** @type {number} */ n,
  ) => Math.ceil(((at - from + 1) * n) / (to - from)) - 1;
  const [row, column] = [part(query, span.q0, span.q1, rows), part(key, span.k0, span.k1, columns)];
  const [q0, q1] = share(span.q0, span.q1, row, rows);
  const [k0, k1] = share(span.k0, span.k1, column, columns);
  return { row, column, span: { q0, q1, k0, k1 } };
}
