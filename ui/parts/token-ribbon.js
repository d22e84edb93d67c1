// The text itself, shaded by the row in view: where does this token look? A click on a word makes
// it the one that asks. Where another text is asked, it is that one which is shaded, and a click
// chooses the key; the words that ask stand above (`asking-line.js`).

/** @import { Meta } from '../contract.js' */
/** @import { Palette, Theme } from '../palette.js' */
/** @import { State } from '../store.js' */
import { choose, letAsk } from '../actions.js';
import { keysOf, ofTwoTexts } from '../axes.js';
import { h } from '../dom.js';
import { named } from '../figures.js';
import { counted, show } from '../numbers.js';
import { lookOf, placesOf, shadeOf } from '../shades.js';
import { inSight, lookOutFor, whenFree } from '../sight.js';
import { get } from '../store.js';
import { direction } from '../tokens.js';
import { around, arrow, nameOf, scrollTo, wordButton } from '../word-line.js';
import { AskingLine } from './asking-line.js';
import { Part } from './part.js';
import { RowAnswer } from './row-answer.js';

/** Words that are shaded at one go. */
const STRETCH = 24;

/** Levels beside those of the ramp, 0 to 255. */
const HIDDEN = -1;
const UNKNOWN = -2;

/** @typedef {{box: HTMLElement, from: number, to: number, stop: () => void}} Stretch */

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
  /** Others ask than those that are shaded. */
  #two = false;
  /** The same words a few at a time. @type {Stretch[]} */
  #stretches = [];
  /** The words of the cell in view. @type {HTMLButtonElement[]} */
  #marked = [];

  begin() {
    this.#line.addEventListener('keydown', walk);
    this.watch(
      (s) => [s.trace.value, s.view.query, s.view.key, s.view.site],
      (meta, query, key, site) => {
        if (!meta) return this.show();
        const two = ofTwoTexts(meta, { site });
        // While the key is not known yet, the words of the key before stay where they are.
        if (two && key === null && this.#of === keysOf(meta, { site })) return this.#mark(null, null);
        const at = (two ? key : query) ?? 0;
        const go = () => {
          if (this.#lay(meta, site, at)) this.#shade(get());
          this.#mark(two ? null : query, key);
          this.#follow(at);
        };
        // Far away in a long text there are other words: they come after the cell that was asked for.
        const far = this.#of === keysOf(meta, { site }) && !this.#has(at);
        whenFree(this, far ? go : null);
        if (!far) go();
      },
    );
    this.until(() => whenFree(this, null));
    this.watch(
      (s) => [s.trace.value, s.row.value, s.theme, s.view.scale, s.view.palette, s.view.range, s.view.leftOut],
      () => this.#shade(get()),
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

  /** @param {Meta} meta @param {string} site @param {number} at  a word to have @returns {boolean}  the words are new ones */
  #lay(meta, site, at) {
    const tokens = keysOf(meta, { site });
    const two = ofTwoTexts(meta, { site });
    if (this.#of === tokens && this.#two === two && this.#has(at)) return false;
    this.#two = two;
    const had = this.#line.contains(document.activeElement);
    this.#of = tokens;
    this.#line.dir = direction(tokens);
    const { from, shown: slice } = around(tokens, at);
    this.#from = from;
    this.#words = slice.map((token, i) =>
      wordButton(token, from + i, () => (two ? choose({ key: from + i }) : letAsk(from + i))),
    );
    this.#marked = [];
    const spaced = tokens.every((token) => !/\s/.test(token.text));
    for (const { stop } of this.#stretches.splice(0)) stop();
    for (let at = 0; at < slice.length; at += STRETCH) {
      const words = slice
        .slice(at, at + STRETCH)
        .flatMap((token, i) => [
          this.#words[at + i],
          spaced ? ' ' : token.text.includes('\n') ? h('br', null) : '',
        ]);
      const box = h('span', null, words);
      const to = from + Math.min(at + STRETCH, slice.length);
      this.#stretches.push({ box, from: from + at, to, stop: lookOutFor(box) });
    }
    this.#line.replaceChildren(...this.#stretches.map(({ box }) => box));
    this.show(
      h(
        'div',
        null,
        two ? new AskingLine() : null,
        this.#line,
        h(
          'p',
          { class: 'label' },
          two
            ? 'Above, the words that are written: click one to let it ask. Below, what was read, shaded by how much it attends to each: its '
            : 'Click a word to let it ask. The shade is how much it attends to each: its ',
          named('weight', 'weight'),
          's.',
          spaced ? null : h('span', { class: 'whole' }, ' The dot is a space.'),
          slice.length < tokens.length
            ? ` Here are ${slice.length} of ${counted(tokens.length)}, from ${from} to ${from + slice.length - 1}.`
            : null,
        ),
        new RowAnswer(),
      ),
      meta.kind === 'example' && story(),
    );
    if (had) this.#words[at - this.#from]?.focus({ preventScroll: true });
    return true;
  }

  /** @param {number} token */
  #has(token) {
    return token >= this.#from && token < this.#from + this.#words.length;
  }

  /** The word that asks and the one that answers. @param {number | null} query @param {number | null} key */
  #mark(query, key) {
    const [asks, answers] = [query, key].map((i) => (i === null ? undefined : this.#words[i - this.#from]));
    for (const word of new Set([...this.#marked, asks, answers])) {
      if (!word) continue;
      word.classList.toggle('asks', word === asks);
      word.classList.toggle('answers', word === answers);
      // One stop for the Tab key; arrows go from word to word.
      word.tabIndex = word === (this.#two ? answers : asks) ? 0 : -1;
      word.setAttribute('aria-pressed', String(word === asks));
    }
    this.#marked = [asks, answers].filter((word) => word !== undefined);
  }

  /** What is in sight now, the rest when there is time: a long text is hundreds of words. @param {State} state */
  #shade({ trace, row: asked, view, theme }) {
    const meta = trace.value;
    if (!meta || this.#words.length === 0) return;
    const tokens = keysOf(meta, view);
    const row = asked.value?.weights.length === tokens.length ? asked.value : null;
    const weights = row ? row.weights.map((w, j) => (row.mask[j] ? -1 : w)) : [];
    const places = placesOf(weights, view, meta, true);
    const { palette } = lookOf(view, meta);
    const levels = weights.map((weight, j) => (weight < 0 ? HIDDEN : Math.round(places[j] * 255)));
    const each = (/** @type {Stretch} */ { from, to }, /** @type {(word: HTMLElement, j: number) => void} */ draw) => {
      for (let j = from; j < to; j++) draw(this.#words[j - this.#from], j);
    };
    const paint = (/** @type {HTMLElement} */ word, /** @type {number} */ j) =>
      dye(word, levels[j] ?? UNKNOWN, theme, palette);
    const name = (/** @type {HTMLElement} */ word, /** @type {number} */ j) => {
      const says = !row ? '' : row.mask[j] ? ', hidden' : `, weight ${show(row.weights[j])}`;
      const label = `${nameOf(tokens[j], j)}${says}`;
      if (word.getAttribute('aria-label') !== label) word.setAttribute('aria-label', label);
    };
    for (const stretch of this.#stretches) {
      if (inSight(stretch.box)) each(stretch, paint);
      whenFree(stretch.box, () => {
        each(stretch, paint);
        each(stretch, name);
      });
    }
  }

  /** Keeps a word in sight, and the focus on it. @param {number} at */
  #follow(at) {
    const word = this.#words[at - this.#from];
    if (!word) return;
    if (this.#line.contains(document.activeElement)) word.focus({ preventScroll: true });
    // Where words are is asked when the page is laid out anyway.
    cancelAnimationFrame(this.#following);
    this.#following = requestAnimationFrame(() => scrollTo(this.#line, word));
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

/** How each word is shaded now. @type {WeakMap<HTMLElement, string>} */
const dyes = new WeakMap();

/**
 * @param {HTMLElement} word
 * @param {number} level
 * @param {Theme} theme
 * @param {Palette} palette
 */
function dye(word, level, theme, palette) {
  const name = level < 0 ? String(level) : `${level} ${theme} ${palette}`;
  if (dyes.get(word) === name) return;
  dyes.set(word, name);
  word.classList.toggle('hidden', level === HIDDEN);
  const { ground, ink } = level < 0 ? { ground: '', ink: '' } : shadeOf(theme, palette, level, 256);
  word.style.backgroundColor = ground;
  word.style.color = ink;
}

/** @param {KeyboardEvent} event */
function walk(event) {
  const by = arrow(event);
  if (by === null) return;
  const { trace, view } = get();
  if (trace.value && ofTwoTexts(trace.value, view)) choose({ key: (view.key ?? 0) + by });
  else letAsk((view.query ?? 0) + by);
}

customElements.define('token-ribbon', TokenRibbon);
