// The text itself, shaded by the row in view: where does this token look? A click on a word makes
// it the one that asks.

/** @import { Meta, Row } from '../contract.js' */
/** @import { View } from '../address.js' */
import { letAsk } from '../actions.js';
import { get } from '../store.js';
import { h } from '../dom.js';
import { named, tokenText } from '../figures.js';
import { show } from '../numbers.js';
import { lookOf, placesOf, shadeOf } from '../shades.js';
import { direction, spoken } from '../tokens.js';
import { Part } from './part.js';
import { RowAnswer } from './row-answer.js';

/** More words than this are not a ribbon any more; then those around the query are shown. */
const MOST = 600;

export class TokenRibbon extends Part {
  #line = h('p', { class: 'ribbon' });
  /** The words on the line, made once for a text. @type {HTMLButtonElement[]} */
  #words = [];
  #from = 0;
  #following = 0;
  /** @type {HTMLButtonElement | undefined} */
  #pointed;
  /** @type {unknown} */
  #of = null;

  begin() {
    this.#line.addEventListener('keydown', walk);
    this.watch(
      (s) => [s.trace.value, s.row.value, s.view, s.theme],
      (meta, row, view, theme) => {
        if (!meta) return this.show();
        this.#lay(meta, view.query ?? 0);
        const fits = row !== null && row.weights.length === meta.tokens.length;
        const places = fits
          ? placesOf(
              row.weights.map((w, j) => (row.mask[j] ? -1 : w)),
              view,
              meta,
              true,
            )
          : [];
        this.#words.forEach((word, i) =>
          shade(word, this.#from + i, meta, fits ? row : null, view, theme, places[this.#from + i] ?? 0),
        );
        this.#follow(view.query ?? 0);
      },
    );
    this.watch(
      (s) => [s.hover],
      (hover) => {
        this.#pointed?.classList.remove('pointed');
        this.#pointed = hover ? this.#words[hover.key - this.#from] : undefined;
        this.#pointed?.classList.add('pointed');
      },
    );
  }

  /** @param {Meta} meta @param {number} query */
  #lay(meta, query) {
    const { tokens } = meta;
    const there = this.#of === tokens && query >= this.#from && query < this.#from + this.#words.length;
    if (there) return;
    const had = this.contains(document.activeElement);
    this.#of = tokens;
    this.#line.dir = direction(tokens);
    this.#from = Math.max(0, Math.min(tokens.length - MOST, query - MOST / 2));
    const slice = tokens.slice(this.#from, this.#from + MOST);
    this.#words = slice.map((token, i) =>
      h('button', { type: 'button', class: 'word', onclick: () => letAsk(this.#from + i) }, tokenText(token)),
    );
    const spaced = tokens.every((token) => !/\s/.test(token.text));
    this.#line.replaceChildren(
      ...slice.flatMap((token, i) => [this.#words[i], spaced ? ' ' : token.text.includes('\n') ? h('br', null) : '']),
    );
    this.show(
      h(
        'div',
        null,
        this.#line,
        h(
          'p',
          { class: 'label' },
          'Click a word to let it ask. The shade is how much it attends to each: its ',
          named('weight', 'weight'),
          's.',
          spaced ? null : h('span', { class: 'whole' }, ' The dot is a space.'),
        ),
        new RowAnswer(),
      ),
      meta.kind === 'example' && story(),
    );
    if (had) this.#words[query - this.#from]?.focus({ preventScroll: true });
  }

  /** Keeps the word that asks in sight, and the focus on it. @param {number} query */
  #follow(query) {
    const word = this.#words[query - this.#from];
    if (!word) return;
    if (this.#line.contains(document.activeElement)) word.focus({ preventScroll: true });
    // Where words are is asked when the page is laid out anyway.
    cancelAnimationFrame(this.#following);
    this.#following = requestAnimationFrame(() => this.#scrollTo(word));
  }

  /** @param {HTMLElement} word */
  #scrollTo(word) {
    const [top, line] = [word.offsetTop - this.#line.offsetTop, this.#line];
    if (top < line.scrollTop || top + word.offsetHeight > line.scrollTop + line.clientHeight)
      line.scrollTop = top - line.clientHeight / 3;
  }
}

/** What the example is about. */
const story = () =>
  h(
    'p',
    { class: 'lead' },
    'Who was tired? To tell, ',
    h('em', null, 'it'),
    ' has to find the robot or the patient. One attention head decides here, and every number of its decision can be read below.',
  );

/**
 * @param {HTMLButtonElement} word
 * @param {number} index
 * @param {Meta} meta
 * @param {Row | null} row
 * @param {View} view
 * @param {'light' | 'dark'} theme
 * @param {number} place  of its weight on the ramp
 */
function shade(word, index, meta, row, view, theme, place) {
  const weight = row?.weights[index] ?? null;
  const hidden = row !== null && row.mask[index] !== null;
  const asks = index === view.query;
  word.className = ['word', asks && 'asks', index === view.key && 'answers', hidden && 'hidden']
    .filter(Boolean)
    .join(' ');
  // One stop for the Tab key; arrows go from word to word.
  word.tabIndex = asks ? 0 : -1;
  word.setAttribute('aria-pressed', String(asks));
  const says = weight === null ? '' : hidden ? ', hidden' : `, weight ${show(weight)}`;
  word.setAttribute('aria-label', `token ${index}, ${spoken(meta.tokens[index])}${says}`);
  if (weight === null || hidden) return word.removeAttribute('style');
  const { ground, ink } = shadeOf(theme, lookOf(view, meta).palette, Math.round(place * 255), 256);
  word.style.setProperty('--shade', ground);
  word.style.setProperty('--ink-on', ink);
}

/** @param {KeyboardEvent} event */
function walk(event) {
  const right = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (!right) return;
  event.preventDefault();
  const line = /** @type {HTMLElement} */ (event.currentTarget);
  const by = line.dir === 'rtl' ? -right : right;
  letAsk((get().view.query ?? 0) + by);
}

customElements.define('token-ribbon', TokenRibbon);
