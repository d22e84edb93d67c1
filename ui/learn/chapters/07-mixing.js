// Chapter 7: z is an average. Values decide what is said, keys decide who is heard.

/** @import { Example, Scratch } from '../engine.js' */
import { h } from '../../dom.js';
import { named, num } from '../../figures.js';
import { math, op, sub, sym, vec } from '../../formula.js';
import { title } from '../../matrix.js';
import { Chapter } from '../chapter.js';
import { button, tokenChoice } from '../controls/choice.js';
import { slider } from '../controls/slider.js';
import { example, scratch } from '../engine.js';
import { bars } from '../figures/bars.js';
import { plane } from '../figures/plane.js';
import { vector } from '../figures/vector.js';
import { answer, inspect, lead, para, scene, stops, tryThis } from '../prose.js';
import { numbersIn, whole, written } from '../route.js';

/** One entry of a matrix that the reader can drag. @typedef {{matrix: 'w_v' | 'w_k', row: number, column: number, name: string}} Handle */

/** @type {Handle[]} */
const HANDLES = [
  { matrix: 'w_v', row: 1, column: 1, name: 'human → human' },
  { matrix: 'w_v', row: 3, column: 2, name: 'state → happening' },
  { matrix: 'w_k', row: 1, column: 1, name: 'human → human' },
  { matrix: 'w_k', row: 0, column: 0, name: 'thing → thing' },
];

class Mixing extends Chapter {
  open() {
    this.follow(
      (/** @type {null} */ _, signal) => example(false, signal),
      (found) => this.#build(found),
    )(null);
  }

  /** @param {Example} found */
  #build({ meta, worked }) {
    const { tokens } = meta;
    let query = whole(this.params, 'query', 6, tokens.length);
    const start = HANDLES.map((at) => worked[at.matrix][at.row][at.column]);
    let entries = numbersIn(this.params, 'entries', start, 3);
    /** @type {Scratch | null} */
    let now = null;
    const place = h('div');
    const list = bars({ label: 'Weights of the row', tokens, term: 'weight' });
    const z = vector({
      name: h('span', null, h('em', null, 'z'), ', the mix'),
      term: 'v',
      dims: worked.dims.v,
      notes: worked.dim_notes.v,
      most: 1.5,
    });
    const told = answer();
    const same = h('p', { class: 'verdict', role: 'status' });

    const ask = this.follow(
      (/** @type {number[]} */ wish, signal) => {
        const changed = { w_v: worked.w_v.map((r) => [...r]), w_k: worked.w_k.map((r) => [...r]) };
        HANDLES.forEach((at, i) => (changed[at.matrix][at.row][at.column] = wish[i]));
        return scratch({ causal: false, ...changed }, signal);
      },
      (answered) => {
        now = answered;
        draw();
      },
    );
    const sliders = HANDLES.map((at, i) =>
      slider({
        name: at.name,
        min: at.matrix === 'w_v' ? -2 : -3,
        max: at.matrix === 'w_v' ? 2 : 3,
        step: 0.1,
        value: entries[i],
        term: at.matrix === 'w_v' ? 'v' : 'k',
        write: (v) => v.toFixed(1).replace('-', '−'),
        change: (value) => {
          entries = entries.map((old, j) => (i === j ? value : old));
          ask(entries);
        },
      }),
    );
    const back = () => {
      entries = [...start];
      sliders.forEach((one, i) => one.set(start[i]));
      ask(entries);
    };

    const draw = () => {
      if (!now) return;
      const weights = now.weights[query];
      list.update({ values: weights, ghosts: worked.weights[query], most: 1 });
      z.update(now.z[query], worked.z[query]);
      place.replaceChildren(
        plane({
          values: now.v,
          weights,
          mix: now.z[query],
          mixBefore: worked.z[query],
          tokens,
          axes: [1, 2],
          names: ['human', 'happening'],
          across: [-2.1, 2.1],
          up: [-0.9, 2.1],
          says: `The values of all tokens, and the mix z of ${tokens[query].text} among them.`,
        }),
      );
      this.keep({ query, entries: written(entries, start) });
      judge(now.same_weights_as_built_in);
      const moved = now.z[query].some((v, c) => v !== worked.z[query][c]);
      told.says(
        h('em', null, 'z'),
        ` of “${tokens[query].text}” is (`,
        now.z[query].flatMap((v, c) => [c ? ', ' : '', num(v, 'v')]),
        moved ? '). The outline is where it was.' : ').',
      );
    };
    /** Said only when it is another verdict. @param {boolean} identical */
    const judge = (identical) => {
      if (same.dataset.identical === String(identical)) return;
      same.dataset.identical = String(identical);
      same.classList.toggle('holds', identical);
      same.replaceChildren(
        identical ? 'A is bit-identical to the example: not one bit of the ' : 'A has changed: the ',
        named('weight', 'weights'),
        identical ? ' has changed.' : ' are new.',
      );
    };
    const chooser = tokenChoice('Whose mix?', tokens, query, (i) => {
      query = i;
      draw();
    });
    ask(entries);
    this.page(
      'Mixing values',
      lead`Now the ${named('weight', 'weights')} are spent. Each token hands over its ${named('v', 'value')}, each comes in by its weight, and the sum is ${h('em', null, 'z')}: a weighted average, nothing more.`,
      scene(
        null,
        [
          math(
            'z is the sum over keys of weight times value',
            sub(vec('z'), sym('i')),
            op('='),
            sub(op('∑'), sym('j')),
            sub(sym('A', 'weight'), sym('ij')),
            sub(vec('v', 'v'), sym('j')),
          ),
          chooser.element,
          h(
            'div',
            null,
            h('p', { class: 'label' }, 'What is handed over: entries of ', title('W_V', 'v')),
            h('div', { class: 'sliders' }, sliders[0].element, sliders[1].element),
          ),
          h(
            'div',
            null,
            h('p', { class: 'label' }, 'What tokens are found by: entries of ', title('W_K', 'k')),
            h('div', { class: 'sliders' }, sliders[2].element, sliders[3].element),
          ),
          same,
          told.element,
          h('div', { class: 'row' }, button('Back to the example', back)),
        ],
        [
          place,
          h(
            'div',
            { class: 'mix-pair' },
            z.element,
            h('div', null, h('p', { class: 'vector-name' }, named('weight', 'A'), ', the row'), list.element),
          ),
        ],
      ),
      stops(
        para`An average cannot leave the space between its values: ${h('em', null, 'z')} always lies among them. A head can pass things on and blend them. It cannot by itself make a third thing of two. Other parts of the layer do that.`,
      ),
      tryThis(
        h(
          'span',
          null,
          'Drag an entry of ',
          title('W_V', 'v'),
          ' and watch A. Then drag one of ',
          title('W_K', 'k'),
          '.',
        ),
        'values move z and leave every weight as it was, to the last bit. Keys move the weights, and z follows. Keys decide who is heard, values what is said.',
        h('p', null, inspect({ source: 'example', query: 6, key: 1 }, 'The same mix in the inspector')),
      ),
    );
  }
}

customElements.define('lesson-mixing', Mixing);
