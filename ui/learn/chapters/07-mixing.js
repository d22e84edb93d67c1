// Chapter 7: z is an average. Values decide what is said, keys decide who is heard.

/** @import { Worked } from '../../contract.js' */
/** @import { Example, Scratch } from '../engine.js' */
import { h } from '../../dom.js';
import { named, num } from '../../figures.js';
import { math, op, sub, sym, vec } from '../../formula.js';
import { Chapter } from '../chapter.js';
import { button, tokenChoice } from '../controls/choice.js';
import { slider } from '../controls/slider.js';
import { example, scratch } from '../engine.js';
import { bars } from '../figures/bars.js';
import { plane } from '../figures/plane.js';
import { vector } from '../figures/vector.js';
import { answer, inspect, lead, para, scene, stops, tryThis } from '../prose.js';
import { numbersIn, unless, whole, written } from '../route.js';

const [ROBOT, IT] = [1, 6];
/** How far an entry can be dragged to either side. */
const FAR = { v: 2, k: 3 };

/** @typedef {{token: number, v: number[], k: number[]}} Change  the value and the key of one token */

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
    let query = whole(this.params, 'query', IT, tokens.length);
    let { token, v, k } = keptChange(this.params, worked);
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
      (/** @type {Change} */ wish, signal) => {
        const put = (/** @type {number[][]} */ rows, /** @type {number[]} */ row) =>
          rows.map((old, i) => (i === wish.token ? row : old));
        return scratch({ causal: false, v: put(worked.v, wish.v), k: put(worked.k, wish.k) }, signal);
      },
      (answered) => {
        now = answered;
        draw();
      },
    );
    const go = () => ask({ token, v, k });
    const vHead = h('p', { class: 'label' });
    const kHead = h('p', { class: 'label' });
    const vSliders = entrySliders('v', worked.dims.v, v, (changed) => {
      v = changed;
      go();
    });
    const kSliders = entrySliders('k', worked.dims.qk, k, (changed) => {
      k = changed;
      go();
    });
    const entitle = () => {
      vHead.replaceChildren('The ', named('v', 'value'), ` of “${tokens[token].text}”: what it hands over`);
      kHead.replaceChildren('The ', named('k', 'key'), ` of “${tokens[token].text}”: what it is found by`);
    };
    /** One token is changed at a time; the one before is again as it was. @param {number} other */
    const start = (other) => {
      token = other;
      [v, k] = [worked.v[token], worked.k[token]];
      vSliders.set(v);
      kSliders.set(k);
      entitle();
      go();
    };
    entitle();

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
          up: [-2.1, 2.1],
          says: `The values of all tokens, and the mix z of ${tokens[query].text} among them.`,
        }),
      );
      this.keep({
        query,
        token: unless(token, ROBOT),
        v: written(v, worked.v[token]),
        k: written(k, worked.k[token]),
      });
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
    const changer = tokenChoice('Whose value and key do you change?', tokens, token, start, 'plain');
    go();
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
          changer.element,
          h('div', null, vHead, vSliders.element),
          h('div', null, kHead, kSliders.element),
          same,
          told.element,
          h(
            'div',
            { class: 'row' },
            button('Back to the example', () => start(token)),
          ),
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
        'Drag “human” in the value of “robot” and watch A. Then drag “human” in its key.',
        'its value moves z and leaves every weight as it was, to the last bit. Its key moves the weights, also those of the others, and z follows. Keys decide who is heard, values what is said.',
        h('p', null, inspect({ source: 'example', query: 6, key: 1 }, 'The same mix in the inspector')),
      ),
    );
  }
}

/**
 * What the address says is changed.
 * @param {URLSearchParams} params
 * @param {Worked} worked
 * @returns {Change}
 */
function keptChange(params, worked) {
  const token = whole(params, 'token', ROBOT, worked.x.length);
  return {
    token,
    v: numbersIn(params, 'v', worked.v[token], FAR.v),
    k: numbersIn(params, 'k', worked.k[token], FAR.k),
  };
}

/**
 * One slider for each entry of a value or a key.
 * @param {'v' | 'k'} term
 * @param {readonly string[]} dims
 * @param {readonly number[]} first
 * @param {(entries: number[]) => void} change
 */
function entrySliders(term, dims, first, change) {
  let entries = [...first];
  const sliders = dims.map((name, i) =>
    slider({
      name,
      min: -FAR[term],
      max: FAR[term],
      step: 0.1,
      value: first[i],
      term,
      write: (x) => x.toFixed(1).replace('-', '−'),
      change: (value) => {
        entries = entries.map((old, j) => (i === j ? value : old));
        change(entries);
      },
    }),
  );
  return {
    element: h(
      'div',
      { class: 'sliders' },
      sliders.map((one) => one.element),
    ),
    /** @param {readonly number[]} to */
    set(to) {
      entries = [...to];
      sliders.forEach((one, i) => one.set(to[i]));
    },
  };
}

customElements.define('lesson-mixing', Mixing);
