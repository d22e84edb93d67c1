// Chapter 13: what cannot be read off a map, each with a number to show for it.

/** @import { Cell, HeadFacts, Source } from '../../contract.js' */
/** @import { Example, Scratch } from '../engine.js' */
import { h } from '../../dom.js';
import { named, num, tokenChip } from '../../figures.js';
import { percent } from '../../numbers.js';
import { Chapter } from '../chapter.js';
import { choice, tokenChoice } from '../controls/choice.js';
import { slider } from '../controls/slider.js';
import { allHeads, allSources, example, oneCell, run, scratch } from '../engine.js';
import { bars } from '../figures/bars.js';
import { vector } from '../figures/vector.js';
import { answer, getModel, inspect, lead, para, remark, scene, stops, tryThis } from '../prose.js';
import { between, unless, whole } from '../route.js';

const IT = 6;
const ROBOT = 1;
/** The key chosen at first, one whose value is zero, and the share of a sink. */
const [A_THE, MOSTLY] = [3, 0.5];

class Limits extends Chapter {
  open() {
    this.follow(
      async (/** @type {null} */ _, signal) => {
        const [found, sources] = await Promise.all([example(false, signal), allSources()]);
        const cells = await Promise.all(found.meta.tokens.map((__, key) => oneCell(found.meta.id, IT, key, signal)));
        return { found, cells, models: sources.filter((s) => s.kind === 'model') };
      },
      ({ found, cells, models }) => {
        this.page(
          'What a map does not tell',
          lead`An attention map is one observable piece of the computation, not an explanation of it. It is true as far as it goes. Here are three reasons why it does not go further, and what to do instead.`,
          valuesMatter(this, found, cells),
          manyPaths(this, found),
          this.#sinks(models),
          knockout(this, found),
          stops(
            para`Even a knock-out has its limits. A model may have a second way to the same answer and use it when the first is gone. And what a cut shows is what happens without a thing, which is not always what the thing was for.`,
          ),
          tryThis(
            'Knock out “robot” for “it”. Then choose “patient”, and then “The”.',
            'all three have visible weight. Without robot the mix turns around. Without “The”, whose value is zero, it only grows a little, because the others share what “The” had. The map alone does not say which is which. The test does.',
            h('p', null, inspect({ source: 'example', query: IT, key: 1 }, 'Back to “it” and “robot”')),
          ),
        );
      },
    )(null);
  }

  /** @param {Source[]} models */
  #sinks(models) {
    const source = models.find((m) => m.family === 'llama') ?? models[0];
    if (!source)
      return scene(
        '3. Weight may mean “nothing to do”',
        [
          para`A row must spend its 1 even when nothing fits. Trained heads often park it on the first token, whose value then hands over almost nothing.`,
          getModel('No trained model is open here.', 'models/smollm2-135m-instruct.Q4_1.gguf'),
        ],
        [],
      );
    const told = answer();
    const place = h('div', { class: 'dots-place' });
    const link = h('p', null);
    let least = between(this.params, 'least', MOSTLY, 0.05, 0.95);
    /** @type {HeadFacts[]} */
    let heads = [];
    const draw = () => {
      if (heads.length === 0) return;
      const most = heads.filter((one) => one.first >= least);
      place.replaceChildren(
        h(
          'div',
          { class: 'dots', 'aria-hidden': 'true' },
          [...heads]
            .sort((a, b) => b.first - a.first)
            .map((one) =>
              h('span', {
                class: one.first >= least ? 'dot on' : 'dot',
                title: `layer ${one.layer} head ${one.head}: ${percent(one.first)}`,
              }),
            ),
        ),
      );
      told.says(
        `In ${source.label}, on its first text, `,
        h('strong', null, `${most.length} of ${heads.length} heads`),
        ` give at least ${percent(least)} of their attention to the very first token, on average.`,
      );
    };
    const ask = this.follow(
      async (/** @type {null} */ _, signal) => allHeads(await run(source, source.text, signal), signal),
      (answered) => {
        heads = answered;
        const top = heads.reduce((best, one) => (one.first > best.first ? one : best), heads[0]);
        link.replaceChildren(
          inspect(
            { source: source.id, text: source.text_fixed ? null : source.text, layer: top.layer, head: top.head },
            `The strongest of them: layer ${top.layer}, head ${top.head}`,
          ),
        );
        draw();
      },
      place,
    );
    ask(null);
    return scene(
      '3. Weight may mean “nothing to do”',
      [
        para`A row must spend its 1 even when nothing fits. Trained heads often park it on the first token. Such a sink can be the brightest column of a map, and say only that this head had no work here.`,
        slider({
          name: 'at least',
          min: 0.05,
          max: 0.95,
          step: 0.05,
          value: least,
          term: 'weight',
          write: percent,
          change: (v) => {
            least = v;
            this.keep({ least: unless(least, MOSTLY) });
            draw();
          },
        }).element,
      ],
      [place, told.element, link],
    );
  }
}

/** @param {Chapter} chapter @param {Example} found @param {Cell[]} cells */
function valuesMatter(chapter, { meta }, cells) {
  const { tokens } = meta;
  const weights = bars({ label: 'Weights', tokens, term: 'weight' });
  const shares = bars({ label: 'Shares of what is mixed in', tokens, term: 'v' });
  let at = whole(chapter.params, 'key', A_THE, tokens.length);
  const told = answer();
  const draw = () => {
    weights.update({ values: cells.map((c) => c.weight), at, most: 1 });
    shares.update({
      values: cells.map((c) => c.share),
      at,
      most: 1,
      write: (v) => h('span', { class: 'num t-v' }, percent(v)),
    });
    const cell = cells[at];
    told.says(
      tokenChip(tokens[at], at, 'k'),
      ' has a weight of ',
      num(cell.weight, 'weight'),
      cell.share === 0
        ? ' and brings in nothing at all: its value is zero.'
        : h('span', null, ' and makes up ', h('strong', null, percent(cell.share)), ' of what is mixed in, by length.'),
    );
  };
  draw();
  return scene(
    '1. The value matters as much as the weight',
    [
      para`What a token contributes is its ${named('weight', 'weight')} times its ${named('v', 'value')}. The map shows the first factor only. Choose a token in the row of “it”.`,
      tokenChoice(
        'Choose a key',
        tokens,
        at,
        (i) => {
          at = i;
          chapter.keep({ key: unless(at, A_THE) });
          draw();
        },
        'k',
      ).element,
      told.element,
    ],
    [
      h(
        'div',
        { class: 'pair' },
        h('div', null, h('p', { class: 'label' }, 'what the map shows'), weights.element),
        h('div', null, h('p', { class: 'label' }, 'what is mixed in'), shares.element),
      ),
    ],
  );
}

/** @param {Chapter} chapter @param {Example} found */
function manyPaths(chapter, { meta, worked }) {
  const { tokens } = meta;
  const look = { dims: worked.dims.x, notes: worked.dim_notes.x, most: 1.2 };
  const x = vector({ ...look, name: 'what passed by the head', term: null });
  const zo = vector({ ...look, name: 'what the head added', term: 'v' });
  const told = answer();
  const draw = (/** @type {number} */ i) => {
    x.update(worked.x[i]);
    zo.update(worked.zo[i]);
    const [a, b] = [Math.hypot(...worked.x[i]), Math.hypot(...worked.zo[i])];
    told.says(
      tokenChip(tokens[i], i),
      ' came with a length of ',
      num(a),
      '; the head added a vector of length ',
      num(b, 'v'),
      '.',
    );
  };
  const first = whole(chapter.params, 'token', IT, tokens.length);
  draw(first);
  return scene(
    '2. There are many paths',
    [
      para`A token’s own vector goes past the head untouched, and what the head adds is one term of a sum. In a trained model dozens of heads add to the same sum, and after each attention step every position goes through a further network alone. What a token looks at in layer 5 has by then been mixed five times: position 3 is no longer only the word that stood there.`,
      tokenChoice(
        'Choose a token',
        tokens,
        first,
        (i) => {
          chapter.keep({ token: unless(i, IT) });
          draw(i);
        },
        'plain',
      ).element,
      told.element,
    ],
    [h('div', { class: 'pair' }, x.element, zo.element)],
  );
}

/** @param {Chapter} chapter @param {Example} found */
function knockout(chapter, { meta, worked }) {
  const { tokens } = meta;
  let key = whole(chapter.params, 'hide', ROBOT, tokens.length);
  let out = chapter.params.get('out') === '1';
  const look = { dims: worked.dims.v, notes: worked.dim_notes.v, most: 1.2 };
  const z = vector({ ...look, name: h('span', null, h('em', null, 'z'), ' of “it”'), term: 'v' });
  const list = bars({ label: 'Weights of the row of it', tokens, term: 'weight' });
  const told = answer();
  const ask = chapter.follow(
    (/** @type {{key: number, out: boolean}} */ wish, signal) =>
      scratch({ causal: false, knock_out: wish.out ? { query: IT, key: wish.key } : null }, signal),
    (/** @type {Scratch} */ now, wish) => {
      z.update(now.z[IT], worked.z[IT]);
      list.update({
        values: now.weights[IT].map((w, j) => (now.m[IT][j] === null ? null : w)),
        ghosts: worked.weights[IT],
        at: wish.key,
        most: 1,
      });
      const moved = Math.hypot(...now.z[IT].map((v, c) => v - worked.z[IT][c])) / Math.hypot(...worked.z[IT]);
      told.says(
        tokenChip(tokens[wish.key], wish.key, 'k'),
        wish.out ? ' is hidden from ' : ' is seen by ',
        tokenChip(tokens[IT], IT, 'q'),
        wish.out ? '. It had a weight of ' : ' and has a weight of ',
        num(worked.weights[IT][wish.key], 'weight'),
        wish.out ? '; the others share that now. The mix has moved by ' : '. The mix has moved by ',
        h('strong', null, percent(moved)),
        ' of its length.',
      );
    },
  );
  const go = () => {
    chapter.keep({ hide: unless(key, ROBOT), out: out ? 1 : null });
    ask({ key, out });
  };
  go();
  return scene(
    'What to do instead: take it away',
    [
      para`If you believe that a weight matters, take it away and see what changes. That is an experiment, and its result is a fact about the model rather than about a picture.`,
      tokenChoice(
        'From “it”, hide',
        tokens,
        key,
        (i) => {
          key = i;
          go();
        },
        'k',
      ).element,
      choice(
        'The one link between the two',
        [
          { value: 'seen', text: 'As it was' },
          { value: 'out', text: 'Knocked out' },
        ],
        out ? 'out' : 'seen',
        (value) => {
          out = value === 'out';
          go();
        },
      ).element,
      told.element,
      remark`Outlines show the example as it was. What is knocked out is not given a very low score: the engine leaves that key out of this one row, as a mask does, and every other row sees it as before.`,
    ],
    [z.element, list.element],
  );
}

customElements.define('lesson-limits', Limits);
