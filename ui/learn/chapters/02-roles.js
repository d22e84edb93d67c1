// Chapter 2: three projections of one token, as a story and as arithmetic, and where the story ends.

/** @import { Example, Scratch } from '../engine.js' */
import { h } from '../../dom.js';
import { handMade, named, num } from '../../figures.js';
import { tiny } from '../../numbers.js';
import { title } from '../../matrix.js';
import { Chapter } from '../chapter.js';
import { tokenChoice } from '../controls/choice.js';
import { scrub } from '../controls/scrub.js';
import { slider } from '../controls/slider.js';
import { example, scratch } from '../engine.js';
import { vector } from '../figures/vector.js';
import { answer, inspect, lead, para, scene, stops, tryThis } from '../prose.js';
import { numbersIn, unless, whole, written } from '../route.js';

class Roles extends Chapter {
  open() {
    this.follow(
      (/** @type {null} */ _, signal) => example(false, signal),
      (found) => this.#build(found),
    )(null);
  }

  /** @param {Example} found */
  #build(found) {
    const token = whole(this.params, 'token', 6, found.meta.tokens.length);
    this.page(
      'What a token asks, offers and hands over',
      lead`Each token comes as one row of numbers, ${h('strong', null, 'x')}. Three matrices read the same row for three purposes. ${named('q', 'q')} is what the token asks for. ${named('k', 'k')} is what it can be found by. ${named('v', 'v')} is what it hands over when it is found. ${handMade()}`,
      projections(this, found, token),
      readings(),
      turning(this, found, token),
      stops(
        para`A token asks nothing and offers nothing. There is a row, three matrices, and three products. In this example each entry has a name because a person gave it one. In a trained model the entries have no names, and there is no rule that one entry means one thing.`,
        para`What carries meaning is the product ${named('q', 'q')} · ${named('k', 'k')}, never ${named('q', 'q')} or ${named('k', 'k')} alone. That is what turning both shows.`,
      ),
      tryThis(
        'Choose “robot” and drag “human” from −1 to 1.',
        h(
          'span',
          null,
          'one entry of x moves and three vectors answer. Key and value change in “human”, the query changes in “stand-in”: what a token asks for need not be what it is.',
        ),
        h('p', null, inspect({ source: 'example', query: 6, key: 1 }, 'All three projections of all tokens')),
      ),
    );
  }
}

/** @param {Chapter} chapter @param {Example} found @param {number} first */
function projections(chapter, { meta, worked }, first) {
  const { dims, dim_notes } = worked;
  let token = first;
  let x = numbersIn(chapter.params, 'x', worked.x[token], 1);
  const vectors = {
    q: vector({
      name: h('span', null, named('q', 'q'), ' asks for'),
      term: 'q',
      dims: dims.qk,
      notes: dim_notes.qk,
      most: 2.5,
    }),
    k: vector({
      name: h('span', null, named('k', 'k'), ' is found by'),
      term: 'k',
      dims: dims.qk,
      notes: dim_notes.qk,
      most: 2.5,
    }),
    v: vector({
      name: h('span', null, named('v', 'v'), ' hands over'),
      term: 'v',
      dims: dims.v,
      notes: dim_notes.v,
      most: 2.5,
    }),
  };
  const told = answer();
  const ask = chapter.follow(
    (/** @type {{token: number, x: number[]}} */ wish, signal) =>
      scratch({ causal: false, x: worked.x.map((row, i) => (i === wish.token ? wish.x : row)) }, signal),
    (/** @type {Scratch} */ now, wish) => {
      for (const which of /** @type {const} */ (['q', 'k', 'v']))
        vectors[which].update(now[which][wish.token], worked[which][wish.token]);
      chapter.keep({ token: wish.token, x: written(wish.x, worked.x[wish.token]) });
      told.says(...story(meta.tokens[wish.token].text, now, wish.token));
    },
  );
  const sliders = dims.x.map((name, c) =>
    slider({
      name: h('span', { title: dim_notes.x[c] }, name),
      min: -1,
      max: 1,
      step: 0.1,
      value: x[c],
      write: (v) => (v === 0 ? '0' : v.toFixed(1).replace('-', '−')),
      change: (value) => {
        x = x.map((old, i) => (i === c ? value : old));
        ask({ token, x });
      },
    }),
  );
  const choose = (/** @type {number} */ next) => {
    token = next;
    x = worked.x[token];
    sliders.forEach((one, c) => one.set(x[c]));
    ask({ token, x });
  };
  ask({ token, x });
  return scene(
    null,
    [
      tokenChoice('Choose a token', meta.tokens, token, choose).element,
      h('p', { class: 'vector-name' }, h('strong', null, 'x'), ', the token as it comes. Drag any entry.'),
      h(
        'div',
        { class: 'sliders' },
        sliders.map((one) => one.element),
      ),
      told.element,
    ],
    [h('div', { class: 'three' }, vectors.q.element, vectors.k.element, vectors.v.element)],
  );
}

/** What the three vectors say, from their own numbers and names. @param {string} name @param {Scratch} now @param {number} i */
function story(name, now, i) {
  const { dims } = now;
  const strong = (
    /** @type {number[]} */ values,
    /** @type {string[]} */ names,
    /** @type {'q' | 'k' | 'v'} */ term,
  ) => {
    const order = values
      .map((v, c) => ({ v, c }))
      .filter((e) => Math.abs(e.v) > 0.05)
      .sort((a, b) => Math.abs(b.v) - Math.abs(a.v))
      .slice(0, 2);
    if (order.length === 0) return ['nothing'];
    return order.flatMap(({ v, c }, n) => [n ? ', ' : '', `${v < 0 ? 'not ' : ''}${names[c]} `, num(v, term)]);
  };
  return [
    `“${name}” `,
    named('q', 'asks for'),
    ' ',
    ...strong(now.q[i], dims.qk, 'q'),
    '; it is ',
    named('k', 'found by'),
    ' ',
    ...strong(now.k[i], dims.qk, 'k'),
    '; it ',
    named('v', 'hands over'),
    ' ',
    ...strong(now.v[i], dims.v, 'v'),
    '.',
  ];
}

/** Two readings of the same three letters. */
function readings() {
  const line = (
    /** @type {'q' | 'k' | 'v'} */ term,
    /** @type {string} */ name,
    /** @type {string} */ told,
    /** @type {Node[]} */ exact,
  ) => h('tr', null, h('th', { scope: 'row' }, named(term, name)), h('td', null, told), h('td', null, exact));
  const w = (/** @type {'q' | 'k' | 'v'} */ term) => [
    h('span', null, named(term, term), ' = ', h('em', null, 'x'), ' ', title(`W_${term.toUpperCase()}`, term)),
  ];
  return h(
    'section',
    { class: 'readings wide' },
    h(
      'table',
      null,
      h(
        'thead',
        null,
        h(
          'tr',
          null,
          h('td', null),
          h('th', { scope: 'col' }, 'As a story'),
          h('th', { scope: 'col' }, 'As arithmetic'),
        ),
      ),
      h(
        'tbody',
        null,
        line('q', 'query', 'The question a token puts to all tokens.', [
          ...w('q'),
          h('span', null, ': the left factor of every score in its row'),
        ]),
        line('k', 'key', 'The label by which a token can be found.', [
          ...w('k'),
          h('span', null, ': the right factor of every score in its column'),
        ]),
        line('v', 'value', 'What is passed on once it is found.', [
          ...w('v'),
          h('span', null, ': what the weights average; no score contains it'),
        ]),
      ),
    ),
  );
}

/** Turning queries and keys together changes every number in them, and no weight. @param {Chapter} chapter @param {Example} found @param {number} token */
function turning(chapter, { meta, worked }, token) {
  const { dims } = worked;
  const q = vector({
    name: h('span', null, named('q', 'q'), ` of “${meta.tokens[token].text}”`),
    term: 'q',
    dims: dims.qk.map((_, i) => `entry ${i}`),
    most: 3,
  });
  const k = vector({
    name: h('span', null, named('k', 'k'), ' of “robot”'),
    term: 'k',
    dims: dims.qk.map((_, i) => `entry ${i}`),
    most: 3,
  });
  const held = scrub({
    label: 'turned by',
    min: 0,
    max: 360,
    step: 5,
    value: 0,
    write: (v) => `${v}°`,
    change: (v) => put(v),
    pixels: 4,
  });
  const told = answer('', 'Turned by ', held.element, ', ');
  const ask = chapter.follow(
    (/** @type {number} */ degrees, signal) =>
      scratch({ causal: false, w_q: turned(worked.w_q, degrees), w_k: turned(worked.w_k, degrees) }, signal),
    (now) => {
      q.update(now.q[token], worked.q[token]);
      k.update(now.k[1], worked.k[1]);
      const moved = Math.max(...now.weights.flatMap((row, i) => row.map((w, j) => Math.abs(w - worked.weights[i][j]))));
      told.says(
        'the score of the two is ',
        num(now.scores[token][1], 'score'),
        ' and the weight ',
        num(now.weights[token][1], 'weight'),
        '. ',
        moved === 0
          ? 'No weight of the head has changed.'
          : h(
              'span',
              null,
              'The largest change of any weight of the head is ',
              num(moved, null, tiny(moved)),
              ': rounding, nothing else.',
            ),
      );
    },
  );
  const turn = slider({
    name: 'turn q and k together',
    min: 0,
    max: 360,
    step: 5,
    value: 0,
    write: (v) => `${v}°`,
    change: (v) => put(v),
  });
  const put = (/** @type {number} */ degrees) => {
    chapter.keep({ turned: unless(degrees, 0) });
    turn.set(degrees);
    held.set(degrees);
    ask(degrees);
  };
  put(whole(chapter.params, 'turned', 0, 361));
  return scene(
    'The names can be turned away',
    [
      para`Turn all queries and all keys in the same direction. Every number in ${named('q', 'q')} and ${named('k', 'k')} becomes another. Their products do not notice.`,
      turn.element,
      told.element,
    ],
    [h('div', { class: 'pair' }, q.element, k.element)],
  );
}

/** The matrix with its outputs turned: entries 0 and 1 by the angle, 2 and 3 by the same. @param {number[][]} w @param {number} degrees */
function turned(w, degrees) {
  const [cos, sin] = [Math.cos((degrees * Math.PI) / 180), Math.sin((degrees * Math.PI) / 180)];
  return w.map((row) => {
    const out = [...row];
    for (let c = 0; c + 1 < row.length; c += 2) {
      out[c] = cos * row[c] - sin * row[c + 1];
      out[c + 1] = sin * row[c] + cos * row[c + 1];
    }
    return out;
  });
}

customElements.define('lesson-roles', Roles);
