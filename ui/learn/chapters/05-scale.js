// Chapter 5: what long vectors do to softmax, drawn from samples, and what the division undoes.

/** @import { ScalePoint, ScaleStudy } from '../engine.js' */
import { h } from '../../dom.js';
import { named, num } from '../../figures.js';
import { percent } from '../../numbers.js';
import { Chapter } from '../chapter.js';
import { button } from '../controls/choice.js';
import { scrub } from '../controls/scrub.js';
import { slider } from '../controls/slider.js';
import { scaleStudy } from '../engine.js';
import { placeUnder, plot } from '../figures/plot.js';
import { rowsByLength } from '../figures/rows-by-length.js';
import { share } from '../figures/share.js';
import { answer, lead, para, remark, stops, tryThis } from '../prose.js';
import { whole } from '../route.js';

const SAMPLES = 400;
const POWERS = 10;
/** @type {[number, number]} */
const D_RANGE = [1, 2 ** POWERS];

class WhyScale extends Chapter {
  open() {
    let seed = whole(this.params, 'seed', 1, 1e6);
    let power = whole(this.params, 'power', 6, POWERS + 1);
    let keys = Math.max(2, whole(this.params, 'keys', 16, 65));
    /** @type {ScaleStudy | null} */
    let study = null;
    const plots = h('div', { class: 'plots' });
    const held = scrub({
      label: 'entries in a vector, d',
      min: 0,
      max: POWERS,
      step: 1,
      value: power,
      write: (v) => String(2 ** v),
      change: (v) => moveTo(v),
      pixels: 16,
    });
    const told = answer('', 'At d = ', held.element, ' ');
    const raw = share('q · k as it is');
    const scaled = share('divided by √d');
    const rowTold = answer();
    const lengths = rowsByLength((d) => moveTo(Math.log2(d)));

    const ask = this.follow(
      (/** @type {{seed: number, samples: number, keys: number}} */ wish, signal) => scaleStudy(wish, signal),
      (answered) => {
        study = answered;
        draw();
      },
      plots,
    );
    const again = () => {
      this.keep({ seed, keys, power });
      ask({ seed, samples: SAMPLES, keys });
    };
    const dim = slider({
      name: h('span', null, 'entries in a vector, d'),
      min: 0,
      max: POWERS,
      step: 1,
      value: power,
      write: (v) => String(2 ** v),
      change: moveTo,
    });
    /** @param {number} to */
    function moveTo(to) {
      power = to;
      dim.set(power);
      held.set(power);
      draw();
    }
    const draw = () => {
      if (!study) return;
      const point = study.points.find((p) => p.d_k === 2 ** power) ?? study.points[0];
      plots.replaceChildren(...pictures(study, point.d_k));
      told.says(
        'the raw scores have a variance of ',
        num(point.variance_raw, 'score'),
        `. On average one key of ${study.keys} takes `,
        h('strong', null, percent(point.largest_raw)),
        ' of the row. After the division the variance is ',
        num(point.variance_scaled, 'score'),
        ' and the largest share ',
        h('strong', null, percent(point.largest_scaled)),
        '.',
      );
      raw.update(point.row_raw.weights);
      scaled.update(point.row_scaled.weights);
      rowTold.says(...rowSays(point));
      lengths.update(study.points, point.d_k);
      this.keep({ power });
    };
    /** @param {PointerEvent} event */
    function touch(event) {
      const svg = event.target instanceof Element ? event.target.closest('svg') : null;
      if (!(svg instanceof SVGSVGElement) || (event.type === 'pointermove' && event.buttons === 0)) return;
      const to = Math.round(Math.log2(placeUnder(svg, event, D_RANGE)));
      if (to !== power) moveTo(to);
    }
    plots.addEventListener('pointerdown', touch);
    plots.addEventListener('pointermove', touch);

    this.page(
      'Why divide by √d',
      lead`A raw ${named('score', 'score')} is a sum of d products, one for each entry of a query (papers write ${h('span', { class: 'whole' }, 'd', h('sub', null, 'k'))}). If the entries of ${named('q', 'q')} and ${named('k', 'k')} are independent, with mean 0 and variance 1, each product has variance 1, and the sum of d of them has variance d. Longer vectors get louder scores, with nothing more to say. Divided by √d the variance is 1 again, whatever d is, and softmax can still choose, and still learn.`,
      h(
        'section',
        { class: 'wide-scene' },
        h(
          'div',
          { class: 'row spread' },
          dim.element,
          slider({
            name: 'keys in a row',
            min: 2,
            max: 64,
            step: 1,
            value: keys,
            write: String,
            change: (v) => {
              keys = v;
              again();
            },
          }).element,
          button('Draw new samples', () => {
            seed = (seed % 9999) + 1;
            again();
          }),
        ),
        plots,
        told.element,
        remark`Each point is the mean of ${SAMPLES} rows that the engine has just drawn and put through softmax. The size of the gradient is the root of the sum of squares of all derivatives of weights by scores.`,
      ),
      h(
        'section',
        { class: 'wide-scene' },
        h('h3', null, 'One row, both ways'),
        para`Softmax hears differences, and large differences leave it no choice: one key takes all. Then a small change of a score changes nothing, the gradient vanishes, and training stops learning whom to listen to. Dividing by √d turns the volume back.`,
        h('div', { class: 'pair' }, raw.element, scaled.element),
        rowTold.element,
        h('p', { class: 'label' }, 'Another row at each length, above as it is and below divided. Click a length.'),
        lengths.element,
        remark`These are the first of the ${SAMPLES} rows at each length: actual queries and keys, and the weights that the engine gave them.`,
      ),
      stops(
        para`The rule holds for random vectors, as they are when training begins. Trained queries and keys are not random, and trained models have loud heads all the same. The division does not forbid a sharp row. It makes sharpness something to be learned rather than a side effect of d.`,
      ),
      tryThis(
        'Set d to 1,024 and draw new samples a few times.',
        'the raw row is nearly always one full bar, and which bar it is depends on chance. The divided row keeps its shape whatever d is.',
      ),
    );
    again();
  }
}

/** @param {ScalePoint} point */
function rowSays({ d_k, row_raw, row_scaled }) {
  return [
    `At d = ${d_k.toLocaleString('en')} the strongest key takes `,
    num(Math.max(...row_raw.weights), 'weight'),
    ' without the division and ',
    num(Math.max(...row_scaled.weights), 'weight'),
    ' with it. The steepest slope of any weight by any score is ',
    num(row_raw.slope),
    ' against ',
    num(row_scaled.slope),
    '.',
  ];
}

/** @param {ScaleStudy} study @param {number} at */
function pictures({ points }, at) {
  const of = (/** @type {(p: ScalePoint) => number} */ y) => points.map((p) => /** @type {const} */ ([p.d_k, y(p)]));
  /**
   * @param {(p: ScalePoint) => number} raw
   * @param {(p: ScalePoint) => number} scaled
   * @param {string} className
   */
  const both = (raw, scaled, className) => [
    { name: 'raw', className: 'is-raw', points: of(raw) },
    { name: 'divided by √d', className, points: of(scaled) },
  ];
  const common = { x: D_RANGE, xTicks: [1, 4, 16, 64, 256, 1024], xName: 'd', at };
  return [
    plot({
      ...common,
      title: 'Variance of the scores',
      says: 'The variance of raw scores grows with d; after the division it stays near 1.',
      lines: both(
        (p) => p.variance_raw,
        (p) => p.variance_scaled,
        'is-score',
      ),
      y: [0.5, 2048],
      logY: true,
      yTicks: [1, 4, 16, 64, 256, 1024],
      writeY: String,
    }),
    plot({
      ...common,
      title: 'Largest weight of a row',
      says: 'The largest weight of raw rows grows towards 1; after the division it does not.',
      lines: both(
        (p) => p.largest_raw,
        (p) => p.largest_scaled,
        'is-weight',
      ),
      y: [0, 1],
      yTicks: [0, 0.25, 0.5, 0.75, 1],
      writeY: String,
    }),
    plot({
      ...common,
      title: 'Size of the gradient',
      says: 'The gradient of raw rows shrinks towards 0; after the division it does not.',
      lines: both(
        (p) => p.gradient_raw,
        (p) => p.gradient_scaled,
        'is-main',
      ),
      y: [0, 0.5],
      yTicks: [0, 0.1, 0.2, 0.3, 0.4, 0.5],
      writeY: String,
    }),
  ];
}

customElements.define('lesson-scale', WhyScale);
