// The running text, shaded by what the pinned tokens attend to, or the one pointed at. One element a
// token, made once; a change touches only those whose shade is another one.

/** @import { Meta, Token } from '../contract.js' */
/** @import { Word } from '../text-layout.js' */
/** @import { Spread, Weights } from '../spread.js' */
/** @import { View } from '../address.js' */
import { pin, pointAtToken, unpinAll } from '../actions.js';
import { ofTwoTexts, queriesOf } from '../axes.js';
import { h } from '../dom.js';
import { num, tokenChip } from '../figures.js';
import { reasonOf, SHORT } from '../hidden.js';
import { lookOf, placesOf, shadeOf } from '../shades.js';
import { say } from '../speech.js';
import { account, joined } from '../spread.js';
import { subjects } from '../spread-loading.js';
import { get } from '../store.js';
import { show } from '../numbers.js';
import { paragraphs } from '../text-layout.js';
import { spoken } from '../tokens.js';
import { Part } from './part.js';

/** Shades that can be told apart. */
const LEVELS = 64;
const HIDDEN = 254;
const NONE = 255;

/** The mark of the i-th pin. @param {number} i */
export const markOf = (i) => String.fromCharCode(65 + i);

export class TextView extends Part {
  #text = h('div', {
    class: 'running',
    role: 'listbox',
    tabindex: '0',
    'aria-multiselectable': 'true',
    'aria-label': 'The text. Arrow keys go from token to token, Enter pins one, Escape lets all go.',
    'data-focus': 'running',
  });
  #readout = h('p', { class: 'text-readout' });
  #trouble = h('p', { class: 'trouble', role: 'alert', hidden: true });
  #two = h(
    'p',
    { class: 'note', hidden: true },
    'Cross-attention goes from one text to another, and this view shades one. The map has both; self-attention and the encoder’s attention can be read here.',
  );
  /** @type {HTMLElement[]} */
  #words = [];
  /** The shade each word has now. */
  #levels = new Uint8Array(0);
  /** @type {unknown} */
  #of = null;
  #look = '';
  /** @type {HTMLElement[]} */
  #marked = [];

  begin() {
    this.replaceChildren(this.#readout, this.#trouble, this.#two, this.#text);
    this.#text.addEventListener('pointerover', (event) => {
      const index = indexOf(event.target);
      if (index !== null && event.pointerType !== 'touch') pointAtToken(index);
    });
    this.#text.addEventListener('pointerleave', () => pointAtToken(null));
    this.#text.addEventListener('blur', () => pointAtToken(null));
    this.#text.addEventListener('click', (event) => {
      const index = indexOf(event.target);
      if (index !== null) pin(index);
    });
    this.#text.addEventListener('keydown', (event) => this.#key(event));
    this.watch(
      (s) => [s.trace.value, s.spread, s.view, s.theme],
      (meta, spread, view, theme) => {
        if (!meta) return;
        this.#two.hidden = !ofTwoTexts(meta, view);
        this.#text.hidden = this.#readout.hidden = !this.#two.hidden;
        this.#lay(meta, view);
        this.#trouble.hidden = spread.error === null;
        this.#trouble.textContent = spread.error;
        if (spread.value) this.#shade(spread.value, meta, view, theme);
      },
    );
    this.watch(
      (s) => [s.trace.value, s.view.pins, s.view.query, s.hoverToken, s.spread.value, s.view.facing, s.view.site],
      (meta, pins, _query, hover, spread, _facing, site) => {
        if (!meta) return;
        this.#mark(pins, hover);
        this.#read(queriesOf(meta, { site }), pins, hover, spread);
      },
    );
  }

  /** @param {Meta} meta @param {View} view */
  #lay(meta, view) {
    const tokens = queriesOf(meta, view);
    if (this.#of === tokens) return;
    this.#of = tokens;
    this.#text.classList.toggle('short', tokens.length <= 80);
    this.#words = [];
    this.#levels = new Uint8Array(tokens.length).fill(NONE);
    this.#text.replaceChildren(
      ...paragraphs(tokens).map((words) =>
        h(
          'p',
          { dir: 'auto' },
          words.flatMap((word) => {
            const element = elementOf(word);
            this.#words[word.index] = element;
            return word.space ? [' ', element] : [element];
          }),
        ),
      ),
    );
  }

  /**
   * @param {Spread} spread
   * @param {Meta} meta
   * @param {View} view
   * @param {'light' | 'dark'} theme
   */
  #shade(spread, meta, view, theme) {
    const weights = joined(spread.weights, view.joining);
    if (weights.length !== this.#words.length) return;
    const places = placesOf(weights, view, meta, spread.facing === 'to');
    const { palette } = lookOf(view, meta);
    if (this.#look !== `${theme} ${palette}`) this.#levels.fill(NONE);
    this.#look = `${theme} ${palette}`;
    this.#words.forEach((word, i) => {
      const level = weights[i] < 0 ? HIDDEN : Math.round(places[i] * (LEVELS - 1));
      if (level === this.#levels[i]) return;
      if ((level === HIDDEN) !== (this.#levels[i] === HIDDEN)) word.classList.toggle('hidden', level === HIDDEN);
      this.#levels[i] = level;
      const colour = level === HIDDEN ? null : shadeOf(theme, palette, level, LEVELS);
      word.style.backgroundColor = colour?.ground ?? '';
      word.style.color = colour?.ink ?? '';
    });
  }

  /** @param {readonly number[]} pins @param {number | null} hover */
  #mark(pins, hover) {
    for (const word of this.#marked) {
      word.classList.remove('pinned', 'asks', 'pointed');
      delete word.dataset.mark;
      word.removeAttribute('id');
      word.setAttribute('aria-selected', 'false');
    }
    this.#marked = [];
    const mark = (/** @type {number | null} */ index, /** @type {string} */ name) => {
      const word = index === null ? undefined : this.#words[index];
      if (!word) return null;
      word.classList.add(name);
      this.#marked.push(word);
      return word;
    };
    pins.forEach((index, i) => {
      const word = mark(index, 'pinned');
      if (!word) return;
      word.dataset.mark = markOf(i);
      word.setAttribute('aria-selected', 'true');
    });
    if (pins.length === 0) mark(subjects(get())[0], 'asks');
    const pointed = mark(hover, 'pointed');
    if (pointed) pointed.id = 'pointed-token';
    if (pointed) this.#text.setAttribute('aria-activedescendant', 'pointed-token');
    else this.#text.removeAttribute('aria-activedescendant');
  }

  /**
   * Numbers for the token pointed at; without pins, what it attends to most.
   * @param {readonly Token[]} tokens
   * @param {readonly number[]} pins
   * @param {number | null} hover
   * @param {Spread | null} spread
   */
  #read(tokens, pins, hover, spread) {
    const chip = (/** @type {number} */ i, /** @type {'q' | 'k' | null} */ term = null) =>
      tokens[i] ? tokenChip(tokens[i], i, term) : '';
    if (!spread) return this.#readout.replaceChildren();
    const to = spread.facing === 'to';
    if (pins.length > 0) {
      if (hover === null)
        return this.#readout.replaceChildren(
          'Point at a token to read its ',
          pins.length > 1 ? 'weights' : 'weight',
          '; click pins another, Escape lets all go.',
        );
      return this.#readout.replaceChildren(
        chip(hover, to ? 'k' : 'q'),
        to ? ' gets ' : ' gives ',
        ...spread.tokens.flatMap((token, i) => [
          i > 0 ? ', ' : '',
          amount(spread.weights[i], hover),
          to ? ' from ' : ' to ',
          chip(token, to ? 'q' : 'k'),
        ]),
      );
    }
    const token = spread.tokens[0];
    const { order, visible } = account(spread.weights[0]);
    this.#readout.replaceChildren(
      chip(token, to ? 'q' : 'k'),
      visible === 0
        ? to
          ? ' sees nothing'
          : ' is seen by none'
        : to
          ? ' attends most to '
          : ' is attended to most by ',
      ...order
        .slice(0, 4)
        .flatMap((j, i) => [i > 0 ? ', ' : '', chip(j, to ? 'k' : 'q'), ' ', num(spread.weights[0][j], 'weight')]),
    );
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const state = get();
    const at = state.hoverToken ?? state.view.pins.at(-1) ?? state.view.query ?? 0;
    if (event.key === 'Escape' && state.view.pins.length > 0) unpinAll();
    else if (event.key === 'Enter' || event.key === ' ') pin(at);
    else {
      const next = this.#next(at, event.key, state.hoverToken === null);
      if (next === null) return;
      pointAtToken(next);
      this.#words[next].scrollIntoView({ block: 'nearest' });
      this.#announce(next);
    }
    event.preventDefault();
  }

  /** @param {number} at @param {string} key @param {boolean} fresh  the cursor was not yet there */
  #next(at, key, fresh) {
    const last = this.#words.length - 1;
    if (key === 'Home') return 0;
    if (key === 'End') return last;
    if (key === 'ArrowUp' || key === 'ArrowDown') return this.#line(at, key === 'ArrowUp' ? -1 : 1);
    if (key !== 'ArrowLeft' && key !== 'ArrowRight') return null;
    if (fresh) return at;
    const rtl = getComputedStyle(/** @type {Element} */ (this.#words[at].parentElement)).direction === 'rtl';
    return Math.max(0, Math.min(last, at + ((key === 'ArrowRight') !== rtl ? 1 : -1)));
  }

  /** The token above or below. @param {number} at @param {1 | -1} by */
  #line(at, by) {
    const from = this.#words[at].getBoundingClientRect();
    const x = from.left + from.width / 2;
    /** @type {number | null} */
    let best = null;
    let [line, near] = [0, Infinity];
    for (let i = at + by; i >= 0 && i < this.#words.length; i += by) {
      const box = this.#words[i].getBoundingClientRect();
      if (by * (box.top - from.top) < from.height / 2) continue;
      if (best !== null && Math.abs(box.top - line) > from.height / 2) break;
      line = box.top;
      const away = Math.abs(box.left + box.width / 2 - x);
      if (away < near) [best, near] = [i, away];
    }
    return best ?? at;
  }

  /** @param {number} index */
  #announce(index) {
    const { trace, spread, view } = get();
    const token = trace.value && queriesOf(trace.value, view)[index];
    if (!token) return;
    const weight = view.pins.length && spread.value ? joined(spread.value.weights, view.joining)[index] : null;
    const reason = weight === null ? null : reasonOf(weight);
    say(
      `Token ${index} ${spoken(token)}${weight === null ? '' : reason ? `, hidden, ${SHORT[reason]}` : `, weight ${show(weight)}`}`,
    );
  }
}

/** @param {Word} word */
function elementOf({ index, pieces }) {
  const element = document.createElement('span');
  element.className = 't';
  element.dataset.i = String(index);
  element.setAttribute('role', 'option');
  element.setAttribute('aria-selected', 'false');
  if (pieces.length === 1 && pieces[0].kind === 'text') element.textContent = pieces[0].text;
  else
    element.append(
      ...pieces.map((piece) =>
        // The marks of special tokens do not decide in which direction a paragraph runs.
        piece.kind === 'text'
          ? piece.text
          : h(piece.kind === 'special' ? 'bdi' : 'span', { class: `tok-${piece.kind}` }, piece.text),
      ),
    );
  return element;
}

/** @param {EventTarget | null} target */
function indexOf(target) {
  const word = target instanceof Element ? target.closest('.t') : null;
  return word instanceof HTMLElement ? Number(word.dataset.i) : null;
}

/** @param {Weights} weights @param {number} index */
function amount(weights, index) {
  const reason = reasonOf(weights[index]);
  return reason ? h('em', null, `nothing (${SHORT[reason]})`) : num(weights[index], 'weight');
}

customElements.define('text-view', TextView);
