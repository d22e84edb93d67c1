// Lines over a logarithmic axis, named where they end rather than in a legend.

import { s } from '../svg.js';

/** @typedef {{name: string, className: string, points: readonly (readonly [number, number])[]}} Line */

/**
 * @typedef {object} PlotLook
 * @property {string} title
 * @property {string} says      for those who do not see it
 * @property {readonly Line[]} lines
 * @property {[number, number]} x
 * @property {[number, number]} y
 * @property {boolean} [logY]
 * @property {readonly number[]} xTicks
 * @property {readonly number[]} yTicks
 * @property {(value: number) => string} [writeX]
 * @property {(value: number) => string} writeY
 * @property {string} xName
 * @property {number | null} at       a place on the x axis to mark
 * @property {number} [width]
 * @property {number} [height]
 */

const LEFT = 50;
const RIGHT = 22;
const TOP = 30;
const BOTTOM = 36;
/** Names nearer than this to one another must not share a line. */
const NAME_WIDTH = 90;

/**
 * @param {PlotLook} look
 * @returns {SVGSVGElement}
 */
export function plot(look) {
  const { width = 320, height = 220 } = look;
  const right = RIGHT;
  const toX = (/** @type {number} */ v) => LEFT + part(v, look.x, true) * (width - LEFT - right);
  const toY = (/** @type {number} */ v) =>
    height - BOTTOM - part(v, look.y, look.logY ?? false) * (height - TOP - BOTTOM);
  const { writeX = String, writeY, at } = look;
  return s(
    'svg',
    { class: 'plot', viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': look.says },
    s('text', { x: 0, y: 14, class: 'plot-title' }, look.title),
    look.yTicks.map((v) =>
      s(
        'g',
        null,
        s('line', { class: 'grid', x1: LEFT, x2: width - right, y1: toY(v), y2: toY(v) }),
        s('text', { x: LEFT - 6, y: toY(v) + 4, class: 'tick end' }, writeY(v)),
      ),
    ),
    look.xTicks.map((v) => s('text', { x: toX(v), y: height - BOTTOM + 16, class: 'tick middle' }, writeX(v))),
    s('text', { x: (LEFT + width - right) / 2, y: height - 4, class: 'tick middle axis' }, look.xName),
    at === null ? null : s('line', { class: 'at', x1: toX(at), x2: toX(at), y1: TOP - 6, y2: height - BOTTOM }),
    look.lines.map((line) => drawn(line, toX, toY, at)),
    names(look.lines, toX, toY),
  );
}

/** The place on the x axis under a pointer. @param {SVGSVGElement} svg @param {PointerEvent} event @param {[number, number]} x @param {number} [width] */
export function placeUnder(svg, event, x, width = 320) {
  const box = svg.getBoundingClientRect();
  const left = (LEFT / width) * box.width;
  const share = (event.clientX - box.left - left) / (box.width - left - (RIGHT / width) * box.width);
  return x[0] * (x[1] / x[0]) ** Math.max(0, Math.min(1, share));
}

/** @param {Line} line @param {(v: number) => number} toX @param {(v: number) => number} toY @param {number | null} at */
function drawn({ className, points }, toX, toY, at) {
  return s(
    'g',
    { class: `line ${className}` },
    s('polyline', { points: points.map(([x, y]) => `${toX(x).toFixed(1)},${toY(y).toFixed(1)}`).join(' ') }),
    points.map(([x, y]) => s('circle', { cx: toX(x), cy: toY(y), r: x === at ? 5 : 2.5 })),
  );
}

/** The names at the right end of the lines, apart from one another. @param {readonly Line[]} lines @param {(v: number) => number} toX @param {(v: number) => number} toY */
function names(lines, toX, toY) {
  const ends = lines
    .filter((line) => line.points.length > 0)
    .map((line) => ({
      line,
      x: toX(line.points[line.points.length - 1][0]),
      y: toY(line.points[line.points.length - 1][1]),
    }))
    .sort((a, b) => a.y - b.y);
  /** @type {{x: number, y: number}[]} */
  const placed = [];
  return ends.map(({ line, x, y }) => {
    const above = placed.filter((one) => Math.abs(one.x - x) < NAME_WIDTH).map((one) => one.y + 14);
    const at = { x, y: Math.max(y - 8, ...above) };
    placed.push(at);
    return s('text', { x: x - 2, y: at.y, class: `line-name end ${line.className}` }, line.name);
  });
}

/** @param {number} value @param {[number, number]} range @param {boolean} log */
function part(value, [low, high], log) {
  const share = log ? Math.log(Math.max(value, low) / low) / Math.log(high / low) : (value - low) / (high - low);
  return Math.max(0, Math.min(1, share));
}
