// Chapter 8: the sizes of everything on its way through a head, and back into the token.

/** @import { Meta, Source } from '../../contract.js' */
/** @import { Example, Scratch } from '../engine.js' */
import { h } from '../../dom.js';
import { num, tokenChip } from '../../figures.js';
import { title } from '../../matrix.js';
import { Chapter } from '../chapter.js';
import { choice, tokenChoice } from '../controls/choice.js';
import { slider } from '../controls/slider.js';
import { allSources, example, run, scratch } from '../engine.js';
import { STEPS, shapes } from '../figures/shapes.js';
import { vector } from '../figures/vector.js';
import { answer, inspect, lead, para, remark, scene, stops, tryThis } from '../prose.js';
import { between, unless, whole } from '../route.js';

class Shapes extends Chapter {
  open() {
    this.follow(
      async (/** @type {null} */ _, signal) => {
        const [found, sources] = await Promise.all([example(false, signal), allSources()]);
        return { found, sources: sources.filter((s) => s.kind !== 'trace') };
      },
      ({ found, sources }) => this.#build(found, sources),
    )(null);
  }

  /** @param {Example} found @param {Source[]} sources */
  #build(found, sources) {
    const place = h('div', { class: 'stack-figure' });
    let step = whole(this.params, 'step', 0, STEPS);
    const ask = this.follow(
      (/** @type {Source} */ source, signal) =>
        source.kind === 'example' ? Promise.resolve(found.meta) : run(source, source.text, signal),
      (/** @type {Meta} */ meta) => {
        const site = meta.sites[0];
        place.replaceChildren(
          shapes(
            {
              n: site.q_len,
              d: meta.kind === 'example' ? found.worked.x[0].length : null,
              d_k: site.head_dim,
              d_v: site.v_head_dim,
              heads: site.q_heads,
              kv_heads: site.kv_heads,
              name: meta.model.name,
            },
            step,
            (chosen) => {
              step = chosen;
              this.keep({ step: unless(step, 0) });
            },
          ),
        );
      },
      place,
    );
    const first =
      sources.find((s) => s.id === this.params.get('source')) ??
      sources.find((s) => s.kind === 'example') ??
      sources[0];
    const which =
      sources.length > 1
        ? choice(
            'Whose sizes?',
            sources.map((s) => ({ value: s.id, text: s.label })),
            first?.id ?? '',
            (id) => {
              const source = sources.find((s) => s.id === id);
              this.keep({ source: unless(id, 'example') });
              if (source) ask(source);
            },
          )
        : null;
    if (first) ask(first);
    this.page(
      'Shapes through a head',
      lead`A head is a handful of matrix products, and their sizes tell the whole plot. Two tokens can only be compared if ${title('Q', 'q')} and ${title('K', 'k')} are equally wide. What is handed over may be as wide as it likes.`,
      h(
        'section',
        { class: 'wide-scene' },
        para`Choose a step. The inner sizes of a product must agree, and they vanish; the outer ones remain.`,
        which?.element ?? null,
        place,
      ),
      residual(this, found),
      stops(
        para`It is tempting to think that attention replaces a token by what it looked at. It adds. And it adds to a sum that all heads of all layers share, so what one head wrote another can read, or undo.`,
      ),
      tryThis(
        'Set the part that is added to 0, then to 2, and watch the three columns for “it”.',
        'at 0 the token leaves as it came. The column x never changes: the road past the head is always open.',
        h('p', null, inspect({ source: 'example', query: 6, key: 1 }, 'The same sum in the inspector, step 6')),
      ),
    );
  }
}

/** x + z W_O for one token, with the added part to be dragged. @param {Chapter} chapter @param {Example} found */
function residual(chapter, { meta, worked }) {
  let token = whole(chapter.params, 'token', 6, meta.tokens.length);
  let part = between(chapter.params, 'part', 1, 0, 2);
  const look = { dims: worked.dims.x, notes: worked.dim_notes.x, most: 2 };
  const x = vector({ ...look, name: h('span', null, h('em', null, 'x'), ', the token'), term: null });
  const zo = vector({ ...look, name: h('span', null, h('em', null, 'z '), title('W_O', null), ', added'), term: 'v' });
  const y = vector({ ...look, name: h('span', null, 'the sum, to the next layer'), term: null });
  const told = answer();
  const ask = chapter.follow(
    (/** @type {{token: number, part: number}} */ wish, signal) =>
      scratch({ causal: false, w_o: worked.w_o.map((row) => row.map((v) => v * wish.part)) }, signal),
    (/** @type {Scratch} */ now, wish) => {
      x.update(now.x[wish.token]);
      zo.update(now.zo[wish.token]);
      y.update(now.y[wish.token], now.x[wish.token]);
      chapter.keep({ token: unless(wish.token, 6), part: unless(wish.part, 1) });
      const most = now.zo[wish.token].reduce((best, v, c, all) => (Math.abs(v) > Math.abs(all[best]) ? c : best), 0);
      told.says(
        tokenChip(meta.tokens[wish.token], wish.token, 'q'),
        ' came with ',
        num(now.x[wish.token][most]),
        ` in “${worked.dims.x[most]}” and leaves with `,
        num(now.y[wish.token][most]),
        '.',
      );
    },
  );
  const amount = slider({
    name: h('span', null, 'how much is added: ', title('W_O', null), ' ×'),
    min: 0,
    max: 2,
    step: 0.05,
    value: part,
    write: (v) => v.toFixed(2),
    change: (v) => {
      part = v;
      ask({ token, part });
    },
  });
  const chooser = tokenChoice('Choose a token', meta.tokens, token, (i) => {
    token = i;
    ask({ token, part });
  });
  ask({ token, part });
  return scene(
    'Back into the token',
    [
      para`The mix ${h('em', null, 'z')} is as wide as a value. ${title('W_O', null)} brings it back to the width of a token, and it is added to what was there. This sum is called the residual stream.`,
      chooser.element,
      amount.element,
      told.element,
      remark`In the last picture the outlines show x.`,
    ],
    [h('div', { class: 'three-across' }, x.element, zo.element, y.element)],
  );
}

customElements.define('lesson-shapes', Shapes);
