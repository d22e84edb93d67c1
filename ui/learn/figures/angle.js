// Two vectors as two hands of a clock: the angle between them is the one their cosine says.

import { s } from '../svg.js';

/** @param {{cosine: number, names: [string, string], says: string}} look */
export function angle({ cosine, names, says }) {
  const between = Math.acos(Math.max(-1, Math.min(1, cosine)));
  const middle = Math.PI / 5.2;
  const tip = (/** @type {number} */ turn) =>
    /** @type {const} */ ([24 + 230 * Math.cos(turn), 218 - 230 * Math.sin(turn)]);
  const [high, low] = [tip(middle + between / 2), tip(middle - between / 2)];
  const arc = [
    70 * Math.cos(middle + between / 2),
    70 * Math.sin(middle + between / 2),
    70 * Math.cos(middle - between / 2),
    70 * Math.sin(middle - between / 2),
  ];
  const together = between < 0.06;
  return s(
    'svg',
    { class: 'angle', viewBox: '-10 -30 480 290', role: 'img', 'aria-label': says },
    s('path', {
      class: 'arc',
      d: `M ${24 + arc[0]} ${218 - arc[1]} A 70 70 0 0 1 ${24 + arc[2]} ${218 - arc[3]} L 24 218 Z`,
    }),
    hand(high, 'one'),
    hand(low, 'two'),
    together
      ? s('text', { x: high[0] + 14, y: high[1] + 5, class: 'one' }, 'one and the same')
      : [
          s('text', { x: high[0] + 14, y: high[1] + 2, class: 'one' }, names[0]),
          s('text', { x: low[0] + 14, y: low[1] + 8, class: 'two' }, names[1]),
        ],
    s('circle', { cx: 24, cy: 218, r: 4, class: 'pivot' }),
  );
}

/** @param {readonly [number, number]} tip @param {string} className */
const hand = ([x, y], className) =>
  s(
    'g',
    { class: `hand-${className}` },
    s('line', { x1: 24, y1: 218, x2: x, y2: y }),
    s('circle', { cx: x, cy: y, r: 7 }),
  );
