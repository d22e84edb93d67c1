// Chapter 11: many heads at once, and which of them have a habit that can be named.

/** @import { HeadFacts, Meta, Source } from '../../contract.js' */
import { h } from '../../dom.js';
import { named } from '../../figures.js';
import { percent } from '../../numbers.js';
import { Chapter } from '../chapter.js';
import { choice } from '../controls/choice.js';
import { slider } from '../controls/slider.js';
import { allHeads, allSources, run, thumbs } from '../engine.js';
import { thumbGrid } from '../figures/thumb-grid.js';
import { answer, getModel, inspect, lead, para, remark, scene, stops, tryThis } from '../prose.js';
import { between, oneOf, unless } from '../route.js';

/** @typedef {'previous' | 'first' | 'self'} Habit */

/** @type {Record<Habit, string>} */
const HABITS = {
  previous: 'the token before',
  first: 'the first token',
  self: 'itself',
};

class Heads extends Chapter {
  open() {
    this.follow(
      (/** @type {null} */ _) => allSources(),
      (sources) => this.#build(sources),
    )(null);
  }

  /** @param {Source[]} sources */
  #build(sources) {
    const models = sources.filter((s) => s.kind === 'model');
    this.page(
      'One head among many',
      lead`What you have seen is one head. A layer has several, side by side, each with its own ${named('q', 'q')}, ${named('k', 'k')} and ${named('v', 'v')}, all reading the same tokens. A model has many layers, each reading what the one before has written.`,
      this.#grid(models.length > 0 ? models : sources, models.length === 0),
      stops(
        para`A habit is a statistic of one text, not a job. A head that looks at the token before on this text may do something else on another, and what it passes on when it looks there is not in the picture at all.`,
      ),
      models.length > 0
        ? tryThis(
            'Choose “the token before” and lower the threshold slowly.',
            'a few heads stand out long before the rest. Open one: its map is a diagonal one step below the main one. Then look for “the first token”, and see how many heads spend most of their budget there.',
          )
        : tryThis(
            'Slide the threshold down for each of the three habits.',
            'the only head of the worked example has none of them: it looks for meaning, wherever that stands. Trained models have all kinds side by side.',
          ),
    );
  }

  /** @param {Source[]} models @param {boolean} alone  there is only the example */
  #grid(models, alone) {
    const names = /** @type {Habit[]} */ (Object.keys(HABITS));
    let habit = oneOf(this.params, 'habit', names, 'previous');
    let least = between(this.params, 'least', 0.5, 0.05, 0.95);
    /** @type {{meta: Meta, heads: HeadFacts[], size: number, pictures: Float32Array[], source: Source} | null} */
    let found = null;
    const place = h('div', { class: 'thumb-place' });
    const told = answer();
    const ask = this.follow(
      async (/** @type {Source} */ source, signal) => {
        const meta = await run(source, source.text, signal);
        const [heads, small] = await Promise.all([allHeads(meta, signal), thumbs(meta.id, 32, signal)]);
        return { meta, heads, source, ...small };
      },
      (answered) => {
        found = answered;
        draw();
      },
      place,
    );
    const link = h('p', null);
    const draw = () => {
      if (!found) return;
      const { heads, pictures, size, source } = found;
      const measure = (/** @type {HeadFacts} */ one) => one[habit];
      link.replaceChildren(
        inspect(
          { source: source.id, text: source.text_fixed ? null : source.text, tab: 'heads' },
          'All heads in the inspector',
        ),
      );
      place.replaceChildren(
        thumbGrid({
          heads,
          pictures,
          size,
          measure,
          least,
          name: `on ${HABITS[habit]}`,
          view: { source: source.id, text: source.text_fixed ? null : source.text },
        }),
      );
      const those = heads.filter((one) => (measure(one) ?? 0) >= least);
      if (heads.length === 1)
        return told.says(
          'The one head puts ',
          h('strong', null, percent(measure(heads[0]) ?? 0)),
          ` of its attention on ${HABITS[habit]}, on average over this text.`,
        );
      told.says(
        h('strong', null, `${those.length} of ${heads.length} heads`),
        ` put at least ${percent(least)} of their attention on ${HABITS[habit]}, on average over this text`,
        those.length > 0 && those.length <= 6 ? `: ${those.map((one) => `${one.layer}.${one.head}`).join(', ')}` : '',
        '.',
      );
    };
    this.redraw(draw);
    const usual = models.find((m) => m.family === 'bert') ?? models.find((m) => m.kind === 'example') ?? models[0];
    const first = models.find((m) => m.id === this.params.get('source')) ?? usual;
    ask(first);
    const which =
      models.length > 1 && !alone
        ? choice(
            'Model',
            models.map((m) => ({ value: m.id, text: m.label })),
            first.id,
            (id) => {
              const source = models.find((m) => m.id === id);
              this.keep({ source: unless(id, usual.id) });
              if (source) ask(source);
            },
          )
        : null;
    const habits = choice(
      'Which heads look at',
      Object.entries(HABITS).map(([value, text]) => ({ value, text })),
      habit,
      (value) => {
        habit = /** @type {Habit} */ (value);
        this.keep({ habit: unless(habit, 'previous') });
        draw();
      },
    );
    return scene(
      null,
      [
        which?.element ?? null,
        habits.element,
        slider({
          name: 'for at least',
          min: 0.05,
          max: 0.95,
          step: 0.05,
          value: least,
          term: 'weight',
          write: percent,
          change: (v) => {
            least = v;
            this.keep({ least: unless(least, 0.5) });
            draw();
          },
        }).element,
        told.element,
        remark`Layers go down, heads across; the text is the one that the source opens with. In a picture each pixel is a weight or, in a long text, the largest of a block. The colour follows the square root of the weight. Click a picture to open that head.`,
        alone ? getModel('No trained model is open here.', 'models/all-minilm-l6-v2') : link,
      ],
      [place],
    );
  }
}

customElements.define('lesson-heads', Heads);
