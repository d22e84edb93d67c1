// The words that ask, where they are of another text than those that are asked.

import { letAsk } from '../actions.js';
import { ofTwoTexts, queriesOf } from '../axes.js';
import { h } from '../dom.js';
import { tokenText } from '../figures.js';
import { scrollTo } from '../scroll.js';
import { get } from '../store.js';
import { direction, spoken } from '../tokens.js';
import { Part } from './part.js';

/** Of a longer text, those around the one that asks. */
const MOST = 240;

export class AskingLine extends Part {
  begin() {
    this.addEventListener('keydown', walk);
    this.watch(
      (s) => [s.trace.value, s.view.site, s.view.query],
      (meta, site, query) => {
        if (!meta || !ofTwoTexts(meta, { site })) return this.update();
        const tokens = queriesOf(meta, { site });
        const from = Math.max(0, Math.min(tokens.length - MOST, (query ?? 0) - MOST / 2));
        const word = (/** @type {number} */ i) =>
          h(
            'button',
            {
              type: 'button',
              class: `word${i === query ? ' asks' : ''}`,
              tabindex: i === query ? '0' : '-1',
              'aria-pressed': String(i === query),
              'aria-label': `token ${i}, ${spoken(tokens[i])}`,
              'data-focus': i === query ? 'asks' : null,
              onclick: () => letAsk(i),
            },
            tokenText(tokens[i]),
          );
        this.update(
          h(
            'p',
            { class: 'ribbon', dir: direction(tokens) },
            tokens.slice(from, from + MOST).flatMap((_, i) => [word(from + i), ' ']),
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
  const right = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (!right) return;
  event.preventDefault();
  const rtl = event.target instanceof Element && getComputedStyle(event.target).direction === 'rtl';
  letAsk((get().view.query ?? 0) + (rtl ? -right : right));
}

customElements.define('asking-line', AskingLine);
