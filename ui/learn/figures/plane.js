// Values as points of a plane; the mix lies among them, pulled by the weights.

/** @import { Token } from '../../contract.js' */
import { s } from '../svg.js';
import { plain } from '../../tokens.js';

const [WIDTH, HEIGHT, EDGE] = [460, 330, 44];

/**
 * @param {object} look
 * @param {number[][]} look.values   of each token
 * @param {number[]} look.weights
 * @param {number[]} look.mix
 * @param {number[]} look.mixBefore
 * @param {readonly Token[]} look.tokens
 * @param {[number, number]} look.axes   which entries are across and up
 * @param {[string, string]} look.names
 * @param {[number, number]} look.across
 * @param {[number, number]} look.up
 * @param {string} look.says
 */
export function plane({ values, weights, mix, mixBefore, tokens, axes, names, across, up, says }) {
  const x = (/** @type {number} */ v) => EDGE + ((v - across[0]) / (across[1] - across[0])) * (WIDTH - EDGE - 16);
  const y = (/** @type {number} */ v) => HEIGHT - EDGE - ((v - up[0]) / (up[1] - up[0])) * (HEIGHT - EDGE - 16);
  const at = (/** @type {number[]} */ v) => /** @type {const} */ ([x(v[axes[0]]), y(v[axes[1]])]);
  const [mx, my] = at(mix);
  const [bx, by] = at(mixBefore);
  return s(
    'svg',
    { class: 'plane', viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: 'img', 'aria-label': says },
    s('line', { class: 'axis', x1: x(across[0]), x2: x(across[1]), y1: y(0), y2: y(0) }),
    s('line', { class: 'axis', x1: x(0), x2: x(0), y1: y(up[0]), y2: y(up[1]) }),
    s('text', { class: 'axis-name end', x: WIDTH - 16, y: HEIGHT - 10 }, `${names[0]} →`),
    s('text', { class: 'axis-name', x: 4, y: 14 }, `↑ ${names[1]}`),
    values.map((v, j) => {
      const [px, py] = at(v);
      return s('line', {
        class: 'pull',
        x1: px,
        y1: py,
        x2: mx,
        y2: my,
        'stroke-width': Math.max(0.4, weights[j] * 9),
      });
    }),
    groups(values, at)
      .map(({ place: [px, py], members }) => {
        const weight = members.reduce((sum, j) => sum + weights[j], 0);
        return [
          s('circle', { class: 'value', cx: px, cy: py, r: 4 + 20 * Math.sqrt(weight) }),
          s(
            'text',
            {
              class: `value-name${low(py, y(0)) ? ' middle' : ''}`,
              x: low(py, y(0)) ? px : px + 10 + 20 * Math.sqrt(weight),
              y: low(py, y(0)) ? py + 18 + 20 * Math.sqrt(weight) : py + 4,
            },
            members.map((j) => plain(tokens[j])).join(', '),
          ),
        ];
      })
      .flat(),
    s('circle', { class: 'mix-before', cx: bx, cy: by, r: 8 }),
    s('circle', { class: 'mix', cx: mx, cy: my, r: 8 }),
    s('text', { class: 'mix-name middle', x: mx, y: my - 14 }, 'z'),
  );
}

/** On or below the axis, a name goes below its point. @param {number} py @param {number} axis */
const low = (py, axis) => py > axis - 12;

/** Values at the same place share one circle and one line of names. @param {number[][]} values @param {(v: number[]) => readonly [number, number]} at */
function groups(values, at) {
  /** @type {Map<string, {place: readonly [number, number], members: number[]}>} */
  const found = new Map();
  values.forEach((v, j) => {
    const place = at(v);
    const name = place.map((c) => c.toFixed(0)).join();
    const group = found.get(name) ?? { place, members: [] };
    group.members.push(j);
    found.set(name, group);
  });
  return [...found.values()];
}
