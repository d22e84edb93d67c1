// Where the map stands on its canvas, in CSS pixels. Pure arithmetic; what is scrolled and zoomed
// into view is the camera's business.

/**
 * @typedef {object} Frame
 * @property {number} rows
 * @property {number} columns
 * @property {number} left     Room for the names of the rows
 * @property {number} top      Room for the names of the columns
 * @property {number} width    Of the part that shows cells
 * @property {number} height
 * @property {number} right    Room for slanted column names that lean over the edge
 * @property {boolean} slanted Column names lie at a slant
 * @property {number} fit      Side of a cell where the whole map is shown
 * @property {number} ratio    Device pixels per CSS pixel
 */

/** A cell does not grow beyond this unless someone zooms in. */
const LARGEST = 72;
/** A name needs this much height. */
export const NAME_ROOM = 14;
/** Sine and cosine of the slant, 45 degrees. */
export const SLANT = Math.SQRT1_2;
/** Beside and below the cells, for the frame of one at the edge. */
export const EDGE = 6;
/** Maps with more rows than this have room for a minimap in their corner. */
const LARGE = 48;

/**
 * @param {object} wish
 * @param {number} wish.rows
 * @param {number} wish.columns
 * @param {number} wish.width      There is
 * @param {number} wish.height
 * @param {number} wish.ratio      Device pixels per CSS pixel
 * @param {number} wish.rowName    Widest row name, in CSS pixels
 * @param {number} wish.columnName Widest column name
 * @returns {Frame}
 */
export function layOut({ rows, columns, width, height, ratio, rowName, columnName }) {
  const corner = Math.max(rows, columns) > LARGE ? Math.min(92, Math.floor(width / 5)) : 0;
  const left = Math.max(Math.ceil(rowName) + 12, corner);
  const shape = (/** @type {number} */ top, /** @type {number} */ right, /** @type {boolean} */ slanted) => {
    const fit = whole(Math.min((width - left - right) / columns, (height - top - EDGE) / rows), rows, columns, ratio);
    return { rows, columns, left, top, right, slanted, fit, ratio, width: columns * fit, height: rows * fit };
  };
  const flat = shape(Math.max(NAME_ROOM + 12, corner), EDGE, false);
  if (columnName + 1 <= flat.fit) return flat;
  const lean = Math.ceil(columnName * SLANT);
  return shape(Math.max(lean + 14, corner), Math.max(EDGE, Math.min(lean, width < 480 ? 22 : 44)), true);
}

/**
 * The side of a cell that shows the whole map. Where it costs little room a cell is a whole number of
 * device pixels; else cells of one or more pixels may differ by one. Where cells are smaller than a
 * pixel, the longer side of the map is a whole number of pixels.
 * @param {number} side  there would be room for
 * @param {number} rows
 * @param {number} columns
 * @param {number} ratio
 */
function whole(side, rows, columns, ratio) {
  const pixels = Math.min(side, LARGEST) * ratio;
  if (pixels < 1) {
    const longest = Math.max(rows, columns);
    return Math.max(1, Math.floor(pixels * longest)) / longest / ratio;
  }
  const even = Math.floor(pixels);
  return (even / pixels > 0.92 ? even : pixels) / ratio;
}

/** @param {Frame} f */
export const canvasWidth = (f) => f.left + f.width + f.right;
/** @param {Frame} f */
export const canvasHeight = (f) => f.top + f.height + EDGE;

/**
 * Only every so many names have room: the smallest round step at which they do.
 * @param {number} cell
 * @param {number} room  that one name needs
 */
export function nameStep(cell, room) {
  const least = room / cell;
  if (least <= 1) return 1;
  for (let unit = 1; ; unit *= 10) {
    for (const step of [2, 5, 10]) if (step * unit >= least) return step * unit;
  }
}
