// Step 4: from the score to the weight, with the one number that the row leaves behind.

/** @import { Cell, Row } from '../contract.js' */
import { h, m } from '../dom.js';
import { named, num, stepBlock } from '../figures.js';
import { call, fenced, math, op, sym, val } from '../formula.js';
import { show } from '../numbers.js';
import { sameRow } from '../same-row.js';
import { Part } from './part.js';

export class StepSoftmax extends Part {
  begin() {
    this.watchInSight(
      (s) => [s.cell.value, s.row.value],
      (cell, row) => {
        if (!cell) return this.update();
        this.update(
          stepBlock(
            4,
            'Softmax turns scores into shares',
            ...(cell.mask ? (cell.lse === null ? blind() : hidden()) : cell.lse === null ? lost() : shares(cell, row)),
          ),
        );
      },
    );
  }
}

const blind = () => [h('p', null, 'This row sees nothing at all: every weight is 0 and the output is 0.')];

const lost = () => [
  h(
    'p',
    { class: 'trouble' },
    'The lse of this row is not a number, so no weight can be brought back: the trace, or the model that made it, is damaged.',
  ),
];

function hidden() {
  return [
    h('p', null, 'A hidden key gets nothing, exactly:'),
    math(
      'weight = exp of minus infinity = 0',
      sym('w', 'weight'),
      op('='),
      call('exp', val(null)),
      op('='),
      val(0, 'weight'),
    ),
  ];
}

/** @param {Cell} cell @param {Row | null} row */
function shares(cell, row) {
  const lse = () => m('mi', { mathvariant: 'normal' }, 'lse');
  const sees =
    row && sameRow(cell, row)
      ? `the ${row.visible} keys this query sees`
      : 'all keys this query sees';
  const sink = cell.sink !== null ? ', and the head’s sink' : '';
  return [
    h(
      'p',
      null,
      'Take the exponential of each ',
      named('score', 'score'),
      ' and divide by the sum over ',
      sees,
      sink,
      '. The row keeps only the logarithm of that sum, ',
      h('em', null, 'lse'),
      ' = ',
      num(cell.lse),
      '; with it any weight can be brought back:',
    ),
    math(
      `weight = exp(score minus lse) = exp(${show(cell.score)} minus ${show(cell.lse)}) = ${show(cell.weight)}`,
      sym('w', 'weight'),
      op('='),
      call('exp', sym('s', 'score'), op('−'), lse()),
      op('='),
      call('exp', val(cell.score, 'score'), op('−'), fenced(cell.lse)),
      op('='),
      val(cell.weight, 'weight'),
    ),
  ];
}

customElements.define('step-softmax', StepSoftmax);
