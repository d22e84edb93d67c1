// The words that ask, where they are of another text than those that are asked.

import { letAsk } from '../actions.js';
import { ofTwoTexts, queriesOf } from '../axes.js';
import { h } from '../dom.js';
import { get } from '../store.js';
import { direction } from '../tokens.js';
import { around, arrow, scrollTo, wordButton } from '../word-line.js';
import { Part } from './part.js';

export class AskingLine extends Part {
  begin() {
    this.addEventListener('keydown', walk);
    this.watch(
      (s) => [s.trace.value, s.view.site, s.view.query],
      (meta, site, query) => {
        if (!meta || !ofTwoTexts(meta, { site })) return this.update();
        const tokens = queriesOf(meta, { site });
        const { from, shown } = around(tokens, query ?? 0);
        const word = (/** @type {number} */ i) =>
          wordButton(tokens[i], i, () => letAsk(i), {
            class: `word${i === query ? ' asks' : ''}`,
            tabindex: i === query ? '0' : '-1',
            'aria-pressed': String(i === query),
            'data-focus': i === query ? 'asks' : null,
          });
        this.update(
          h(
            'p',
            { class: 'ribbon', dir: direction(tokens) },
            shown.flatMap((_, i) => [word(from + i), ' ']),
          ),
        );
        requestAnimationFrame(() => {
          const [line, asks] = [this.querySelector('.ribbon'), this.querySelector('.asks')];
          if (line instanceof HTMLElement && asks instanceof HTMLElement) scrollTo(line, asks);
        });
      },
    );
  }
}

/** Arrows go from word to word. @param {KeyboardEvent} event */
function walk(event) {
  const by = arrow(event);
  if (by !== null) letAsk((get().view.query ?? 0) + by);
}

customElements.define('asking-line', AskingLine);
