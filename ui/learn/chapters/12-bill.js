// Chapter 12: what attention costs as the text grows, measured here and now.

/** @import { Bill } from '../engine.js' */
import { h } from '../../dom.js';
import { num } from '../../figures.js';
import { tiny } from '../../numbers.js';
import { Chapter } from '../chapter.js';
import { button } from '../controls/choice.js';
import { scrub } from '../controls/scrub.js';
import { slider } from '../controls/slider.js';
import { bill } from '../engine.js';
import { placeUnder, plot } from '../figures/plot.js';
import { answer, lead, para, remark, stops, tryThis } from '../prose.js';
import { whole } from '../route.js';
import { bytes, milliseconds } from '../units.js';

const LENGTHS = [256, 512, 1024, 2048, 4096, 8192, 16384];
/** Measured without being asked; the longer ones take their time. */
const AT_ONCE = 4;
/** The length read off at first. */
const FIRST = 1024;
/** @type {[number, number]} */
const RANGE = [LENGTHS[0], LENGTHS[LENGTHS.length - 1]];

class TheBill extends Chapter {
  open() {
    /** @type {Map<number, Bill>} */
    const known = new Map();
    let at = LENGTHS.indexOf(whole(this.params, 'n', FIRST, Infinity));
    if (at < 0) at = LENGTHS.indexOf(FIRST);
    const plots = h('div', { class: 'plots two' });
    const held = scrub({
      label: 'tokens, n',
      min: 0,
      max: LENGTHS.length - 1,
      step: 1,
      value: at,
      write: (i) => LENGTHS[i].toLocaleString('en'),
      change: (i) => moveTo(i),
      pixels: 24,
    });
    const told = answer('', 'At ', held.element, ' tokens ');
    const proof = answer();
    const measured = h('p', { class: 'label', role: 'status' }, '');
    /** @type {number[]} */
    let waiting = [];
    const more = button('Measure up to 16,384 tokens', () => go(LENGTHS));
    const again = button('Measure again', () => {
      const lengths = [...known.keys()];
      known.clear();
      go(lengths);
    });
    const ask = this.follow(
      (/** @type {number} */ n, signal) => bill(n, signal),
      (answered) => {
        known.set(answered.n, answered);
        draw();
        next();
      },
    );
    const next = () => {
      waiting = waiting.filter((n) => !known.has(n));
      more.hidden = known.size === LENGTHS.length;
      again.disabled = more.disabled = waiting.length > 0;
      measured.textContent = waiting.length > 0 ? `Measuring ${waiting[0].toLocaleString('en')} tokens …` : '';
      if (waiting.length > 0) ask(waiting[0]);
    };
    /** @param {readonly number[]} lengths */
    function go(lengths) {
      const idle = waiting.length === 0;
      waiting.push(...lengths.filter((n) => !known.has(n) && !waiting.includes(n)));
      if (idle) next();
    }
    const length = slider({
      name: 'tokens, n',
      min: 0,
      max: LENGTHS.length - 1,
      step: 1,
      value: at,
      write: (i) => LENGTHS[i].toLocaleString('en'),
      change: moveTo,
    });
    /** @param {number} to */
    function moveTo(to) {
      at = to;
      keep();
      length.set(to);
      held.set(to);
      draw();
    }
    const keep = () => this.keep({ n: LENGTHS[at] === FIRST ? null : LENGTHS[at] });
    const draw = () => {
      const bills = [...known.values()].sort((a, b) => a.n - b.n);
      if (bills.length === 0) return;
      plots.replaceChildren(...pictures(bills, LENGTHS[at]));
      const one = known.get(LENGTHS[at]);
      if (!one) {
        told.says('nothing has been measured yet.');
        go([LENGTHS[at]]);
        return proof.says('');
      }
      told.says(...sentence(one));
      proof.says(...proven(one));
    };
    /** @param {PointerEvent} event */
    const touch = (event) => {
      const svg = event.target instanceof Element ? event.target.closest('svg') : null;
      if (!(svg instanceof SVGSVGElement) || (event.type === 'pointermove' && event.buttons === 0)) return;
      const to = Math.round(Math.log2(placeUnder(svg, event, RANGE, WIDE) / RANGE[0]));
      if (to !== at) moveTo(to);
    };
    plots.addEventListener('pointerdown', touch);
    plots.addEventListener('pointermove', touch);
    go(LENGTHS.slice(0, AT_ONCE));
    this.page(
      'The bill',
      lead`Every token looks at every token, so n tokens make n × n scores. Twice the text is four times the work. That cannot be avoided. What can be avoided is keeping all the scores.`,
      h(
        'section',
        { class: 'wide-scene' },
        para`These lines are measured on this machine while you read: one causal head, 64 wide. ${h('strong', null, 'Plain')} is the textbook: simple loops that write the whole square down, then use it. ${h('strong', null, 'Fused')} is our kernel: it works on small blocks, keeps a running sum for each row, and never holds the square. ${h('strong', null, 'Window')} is the same kernel when each token sees only itself and the 127 before.`,
        h('div', { class: 'row spread' }, length.element, more, again),
        measured,
        plots,
        told.element,
      ),
      h(
        'section',
        { class: 'wide-scene' },
        h('h3', null, 'The same numbers, without the square'),
        para`The fused kernel is no approximation. It adds the same products in another order, and keeps for each row one number, the logarithm of its sum of exponentials. With that number any weight can be brought back: A = exp(s − lse). This is how the inspector shows weights that were never stored.`,
        proof.element,
        remark`A window does change the result: what lies outside is not seen. It turns n × n into n × 128, and leaves it to later layers to carry news further.`,
      ),
      stops(
        para`A measured time is a fact about this machine at this moment. Other programs disturb it, and a graphics card would draw other lines. The slopes are the lesson. Both axes are logarithmic: where a line rises by two steps for every step to the right, twice the text costs four times as much; by one step, twice.`,
      ),
      tryThis(
        'Read two neighbouring lengths off the left picture, then off the right one.',
        'time: about four times as much for twice the text, for plain and fused alike, as soon as n is large. Memory: four times for plain; fused holds a small working space and one number for each token. That fused is faster is in part the smaller memory, which fits the processor’s caches, and in part craft: vector instructions and all cores.',
      ),
    );
  }
}

const WIDE = 420;

/** @param {Bill[]} bills @param {number} at */
function pictures(bills, at) {
  const of = (/** @type {(b: Bill) => number | undefined} */ pick) =>
    bills.flatMap((b) => {
      const y = pick(b);
      return y === undefined ? [] : [/** @type {const} */ ([b.n, y])];
    });
  const lines = (/** @type {'ms' | 'bytes'} */ what) => [
    { name: 'plain', className: 'is-raw', points: of((b) => b.naive?.[what]) },
    { name: 'fused', className: 'is-main', points: of((b) => b.ours[what]) },
    { name: 'window', className: 'is-window', points: of((b) => b.window[what]) },
  ];
  const common = {
    x: RANGE,
    xTicks: [256, 1024, 4096, 16384],
    writeX: (/** @type {number} */ v) => v.toLocaleString('en'),
    xName: 'tokens, n',
    at,
    logY: true,
    width: WIDE,
    height: 260,
  };
  return [
    plot({
      ...common,
      title: 'Time',
      says: 'Time grows with the square of the length, for plain and fused; with the length for a window.',
      lines: lines('ms'),
      ...decades(
        bills.flatMap((b) => [b.naive?.ms, b.ours.ms, b.window.ms]),
        10,
        1,
      ),
      writeY: milliseconds,
    }),
    plot({
      ...common,
      title: 'Memory beside q, k, v and the output',
      says: 'Memory grows with the square of the length for plain and with the length for fused.',
      lines: lines('bytes'),
      ...decades(
        bills.flatMap((b) => [b.naive?.bytes, b.ours.bytes, b.window.bytes]),
        32,
        1024,
      ),
      writeY: bytes,
    }),
  ];
}

/**
 * A range of whole powers around the values.
 * @param {(number | undefined)[]} values
 * @param {number} base
 * @param {number} unit
 * @returns {{y: [number, number], yTicks: number[]}}
 */
function decades(values, base, unit) {
  const powers = values.flatMap((v) => (v === undefined ? [] : [Math.log(v / unit) / Math.log(base)]));
  const low = Math.floor(Math.min(...powers));
  const high = Math.max(low + 1, Math.ceil(Math.max(...powers)));
  const yTicks = Array.from({ length: high - low + 1 }, (_, i) => unit * base ** (low + i));
  return { y: [yTicks[0], yTicks[yTicks.length - 1]], yTicks };
}

/** Where the text is short, what is held for every key may outweigh the square. @param {number} ratio */
const lessMemory = (ratio) => (ratio > 1 ? `${ratio.toFixed(1)} times less memory` : 'no less memory, so short is the text');

/** @param {Bill} one */
function sentence({ n, naive, ours, window }) {
  if (!naive)
    return [
      'the square alone would take ',
      h('strong', null, bytes(4 * n * n)),
      ` for one head, so plain was not tried. Fused took ${milliseconds(ours.ms)} and ${bytes(ours.bytes)}, the window ${milliseconds(window.ms)}.`,
    ];
  return [
    `plain took ${milliseconds(naive.ms)} and ${bytes(naive.bytes)}. Fused took ${milliseconds(ours.ms)} and ${bytes(ours.bytes)}: `,
    h(
      'strong',
      null,
      `${(naive.ms / ours.ms).toFixed(1)} times faster in ${lessMemory(naive.bytes / ours.bytes)}`,
    ),
    `. The window took ${milliseconds(window.ms)}.`,
  ];
}

/** @param {Bill} one */
function proven({ n, largest_difference, proof }) {
  return [
    `At ${n.toLocaleString('en')} tokens `,
    largest_difference === null
      ? null
      : h(
          'span',
          null,
          'the outputs of plain and fused differ by at most ',
          num(largest_difference, null, tiny(largest_difference)),
          '. ',
        ),
    'With the weights brought back one by one, every row adds up to 1 within ',
    num(proof.row_sum_error, 'weight', tiny(proof.row_sum_error)),
    ' and mixes the values into the same output within ',
    num(proof.output_error, 'v', tiny(proof.output_error)),
    '.',
  ];
}

customElements.define('lesson-bill', TheBill);
