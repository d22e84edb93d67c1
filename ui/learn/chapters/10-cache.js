// Chapter 10: why a model that writes need not read its text again, and why the mask makes it so.

import { h } from '../../dom.js';
import { named } from '../../figures.js';
import { Chapter } from '../chapter.js';
import { example, modelOf } from '../engine.js';
import { FIRST, cacheSteps } from '../figures/cache-steps.js';
import { peek } from '../figures/peek.js';
import { getModel, inspect, lead, para, remark, scene, stops, tryThis } from '../prose.js';

class Caching extends Chapter {
  open() {
    this.follow(
      async (/** @type {null} */ _, signal) => {
        const [model, small] = await Promise.all([modelOf('llama'), example(false, signal)]);
        return { model, small };
      },
      ({ model, small }) => {
        const peeking = peek(this, small);
        const written = model ? cacheSteps(this, model) : null;
        const key = h(
          'p',
          { class: 'legend' },
          h('span', { class: 'kv' }),
          ' kept from before ',
          h('span', { class: 'kv fresh' }),
          ' computed now',
        );
        this.page(
          'What can be cached',
          lead`A model writes one token at a time. Each new token asks all earlier ones, so it needs their ${named('k', 'keys')} and ${named('v', 'values')}. But those tokens could not see it coming. Nothing about them has changed, so nothing has to be computed again.`,
          model && written
            ? scene(
                'Writing, step by step',
                [
                  para`${model.label} goes on with your text. In its first step it reads the whole beginning. In every later step it computes ${named('q', 'q')}, ${named('k', 'k')} and ${named('v', 'v')} for one token only. The engine compares the kept keys and values at every step.`,
                  written.controls,
                  key,
                  remark`Why keep no queries? A query is asked once, by the token that was new at the time, and nobody reads it later. The token written last has nothing yet: its key and value are computed when it asks.`,
                ],
                [written.figure],
              )
            : null,
          scene(
            model ? 'It is the mask that allows this' : 'What a later word changes',
            [
              model ? null : getModel('No model that writes is open here.', 'models/smollm2-135m-instruct.Q4_1.gguf'),
              para`A key in the next layer is made from the output of this one. If a later word could change an earlier output, every kept key above it would be stale. Take the mask away and see it happen.`,
              para`The same fact makes training cheap: one pass over a text trains the prediction at every position at once.`,
              peeking.controls,
            ],
            [peeking.figure],
          ),
          stops(
            para`The cache is not a memory in the sense of remembering what mattered. It holds everything, important or not, and grows with each token: for a long text it can outgrow the model itself. It saves work, not room.`,
          ),
          tryThis(
            model
              ? 'Write a longer beginning, then slide through the steps.'
              : 'Replace the last word, with the mask and without.',
            model
              ? 'however long the beginning, each later step computes one position. What grows is what it reads.'
              : 'with the mask nothing before it moves, so everything before it could have been kept.',
            model
              ? h('p', null, inspect({ source: model.id, text: FIRST, layer: 0, head: 0 }, 'The map of this text'))
              : null,
          ),
        );
      },
    )(null);
  }
}

customElements.define('lesson-cache', Caching);
