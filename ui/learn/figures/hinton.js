// A matrix of slopes as squares: their area is the size, full where the slope is up, hollow where down.

/** @import { Token } from '../../contract.js' */
import { s } from '../svg.js';
import { show } from '../../numbers.js';
import { plain } from '../../tokens.js';

const CELL = 30;
const SIDE = 86;
const TOP = 74;
/** No weight moves faster than that: A (1 − A) at A = ½. */
const STEEPEST = 0.25;

/**
 * @param {{matrix: number[][], tokens: readonly Token[], column: number, pick: (column: number) => void, says: string}} look
 */
export function hinton({ matrix, tokens, column, pick, says }) {
  const n = tokens.length;
  const size = SIDE + n * CELL + 4;
  return s(
    'svg',
    { class: 'hinton', viewBox: `0 0 ${size} ${TOP + n * CELL + 4}`, role: 'img', 'aria-label': says },
    s('rect', { class: 'lane', x: SIDE + column * CELL, y: TOP, width: CELL, height: n * CELL, rx: 4 }),
    tokens
      .map((token, i) => [
        s(
          'text',
          { class: `side-name${i === column ? ' on' : ''}`, x: SIDE - 8, y: TOP + i * CELL + CELL / 2 + 4 },
          plain(token),
        ),
        s(
          'text',
          {
            class: `top-name${i === column ? ' on' : ''}`,
            transform: `translate(${SIDE + i * CELL + CELL / 2 + 4} ${TOP - 8}) rotate(-90)`,
          },
          plain(token),
        ),
      ])
      .flat(),
    matrix.flatMap((row, j) =>
      row.map((value, k) => {
        const side = Math.max(0.8, (CELL - 5) * Math.sqrt(Math.abs(value) / STEEPEST));
        return s(
          'rect',
          {
            class: value >= 0 ? 'up' : 'down',
            x: SIDE + k * CELL + (CELL - side) / 2,
            y: TOP + j * CELL + (CELL - side) / 2,
            width: side,
            height: side,
            rx: 2,
          },
          s('title', null, `${plain(tokens[j])} by ${plain(tokens[k])}: ${show(value)}`),
        );
      }),
    ),
    tokens.map((_, k) =>
      s('rect', {
        class: 'catch',
        x: SIDE + k * CELL,
        y: 0,
        width: CELL,
        height: TOP + n * CELL,
        onclick: () => pick(k),
      }),
    ),
  );
}
