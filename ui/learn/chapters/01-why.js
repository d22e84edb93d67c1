// Chapter 1: one word, two sentences, and the only step in which a position hears another.

import { h } from '../../dom.js';
import { Chapter } from '../chapter.js';
import { example, modelOf } from '../engine.js';
import { exampleCut, modelCut } from '../figures/cut.js';
import { exampleWord } from '../figures/example-word.js';
import { twoWords } from '../figures/two-words.js';
import { getModel, inspect, lead, para, remark, scene, stops, tryThis } from '../prose.js';

const RIVER = 'The bank of the river was green.';

class Why extends Chapter {
  open() {
    this.follow(
      async (/** @type {null} */ _, signal) => {
        const model = await modelOf('bert');
        return { model, small: model ? null : await example(false, signal) };
      },
      ({ model, small }) => {
        const twice = model ? twoWords(this, model) : small ? exampleWord(this, small) : null;
        const hearing = model ? modelCut(this, model, RIVER) : small ? exampleCut(this, small) : null;
        this.page(
          'Why tokens must look at each other',
          lead`The word “bank” has one entry in a model’s table of words. It may mean the side of a river or a house full of money. The table cannot know which. Only the other words can tell, so there must be a step in which a word hears them. That step is attention.`,
          scene(
            'The same word, twice',
            model
              ? [
                  para`In these two sentences the word stands at the same place, so exactly the same numbers go in. Then it passes through the layers of ${model.label}, a trained model.`,
                  para`Drag the layer. The two hands are the two vectors of the word, and the angle between them is the real one.`,
                  twice?.controls ?? null,
                  remark`The angle is taken in all dimensions of the vector and drawn in two. Only the angle is meant, not the direction.`,
                ]
              : [
                  para`In the worked example the word “it” goes in as six numbers. They say that it points at something, and not at what.`,
                  para`Change who carried the patient. What goes in for “it” stays the same. What comes out does not.`,
                  twice?.controls ?? null,
                  getModel(
                    'MiniLM, a trained model that tells two banks apart, is not open here.',
                    'models/all-minilm-l6-v2',
                  ),
                ],
            [twice?.figure ?? null],
          ),
          scene(
            'The only step that hears',
            [
              para`Everything else in a layer works on one position at a time. You need not believe that: change one word and see who notices.`,
              para`Then cut all attention and look again. Nobody notices but the word itself. The others do not differ by a little, they do not differ at all.`,
              hearing?.controls ?? null,
            ],
            [hearing?.figure ?? null],
          ),
          stops(
            para`The angle says that two vectors differ. It does not say what the difference means. And hearing is not all: after each attention step every position works on what it heard, alone, and much of what a model knows is stored there.`,
          ),
          tryThis(
            model
              ? 'Write two sentences of your own that share a word, first at the same place, then at different places.'
              : 'Cut all attention, then click one word after the other.',
            model
              ? 'when the word stands at another place, the vectors differ already at layer 0: this model adds to each word a vector for its position. The layers then do the rest.'
              : 'each change stays where it was made, whichever word it is. Switch attention on again, and one changed word reaches all of them.',
            model
              ? h(
                  'p',
                  null,
                  inspect({ source: model.id, text: RIVER, layer: 0, head: 0, query: 2 }, 'See what “bank” attends to'),
                )
              : h('p', null, inspect({ source: 'example', query: 6, key: 1 }, 'See what “it” attends to')),
          ),
        );
      },
    )(null);
  }
}

customElements.define('lesson-why', Why);
