// Step 2: from the dot product to the score: the scale, and what else this head does to it.

/** @import { Cell } from '../contract.js' */
import { h } from '../dom.js';
import { named, stepBlock } from '../figures.js';
import { call, fenced, group, math, op, over, root, sub, sym, val, vec } from '../formula.js';
import { show, tidy } from '../numbers.js';
import { Part } from './part.js';

export class StepScale extends Part {
  begin() {
    this.watchInSight(
      (s) => [s.cell.value],
      (cell) => (cell ? this.update(stepBlock(2, 'The scale', ...scaled(cell))) : this.update()),
    );
  }
}

/** @param {Cell} cell */
function scaled(cell) {
  const d = cell.q.length;
  const usual = Math.abs(cell.scale * Math.sqrt(d) - 1) < 1e-5;
  const scale = usual
    ? over(val(1, null, '1'), root(val(d, null, String(d))))
    : val(cell.scale, null, tidy(cell.scale));
  const dot = [vec('q', 'q'), op('·'), vec('k', 'k')];
  const before = cell.scaled;
  const steps = [
    math(
      `score = q·k times the scale = ${show(cell.dot)} times ${show(cell.scale)} = ${show(before)}`,
      sym('s', 'score'),
      op('='),
      ...dot,
      op('×'),
      scale,
      op('='),
      fenced(cell.dot, 'score'),
      op('×'),
      val(cell.scale, null, tidy(cell.scale)),
      op('='),
      val(before, 'score'),
    ),
  ];
  let at = before;
  if (cell.softcap !== null) {
    at = cell.softcap * Math.tanh(before / cell.softcap);
    steps.push(
      math(
        `then softcap: ${show(at)}`,
        sub(sym('s', 'score'), sym('cap')),
        op('='),
        val(cell.softcap),
        call('tanh', over(val(before, 'score'), val(cell.softcap))),
        op('='),
        val(at, 'score'),
      ),
    );
  }
  for (const [name, term] of added(cell)) {
    const sum = at + term;
    steps.push(
      math(
        `plus ${show(term)}, ${name}: ${show(sum)}`,
        sub(sym('s', 'score'), sym(name)),
        op('='),
        group(val(at, 'score'), op('+'), fenced(term)),
        op('='),
        val(sum, 'score'),
      ),
    );
    at = sum;
  }
  return [
    usual
      ? h(
          'p',
          null,
          `Sums over many entries grow large. Dividing by √d, here the root of ${d}, keeps the `,
          named('score', 'score'),
          ' in a range where softmax can still weigh one key against another.',
        )
      : h('p', null, 'This head multiplies by a scale of its own to get the ', named('score', 'score'), '.'),
    ...steps,
  ];
}

/** What is added to the score, in order, by name. @param {Cell} cell @returns {[string, number][]} */
const added = (cell) =>
  /** @type {[string, number | null][]} */ ([
    ['ALiBi', cell.alibi],
    ['relative position', cell.relative_bias],
    ['bias', cell.bias],
  ]).flatMap(([name, term]) => (term === null ? [] : [[name, term]]));

customElements.define('step-scale', StepScale);
