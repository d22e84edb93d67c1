// What every chapter shares: its heading, its place in the address, and questions whose answers
// stop mattering when the reader leaves.

import { ApiError } from '../api.js';
import { h } from '../dom.js';
import { Part } from '../parts/part.js';
import { CHAPTERS } from './chapters.js';
import { follow } from './follow.js';
import { formatRoute, parseRoute } from './route.js';

export class Chapter extends Part {
  number = 1;
  params = new URLSearchParams();
  #trouble = h('p', { class: 'trouble', role: 'alert', hidden: true });
  #timer = 0;

  begin() {
    const route = parseRoute(location.hash, CHAPTERS.length);
    this.number = route.chapter;
    this.params = route.params;
    this.until(() => clearTimeout(this.#timer));
    this.open();
  }

  /** Builds the chapter. */
  open() {}

  /**
   * Shows the chapter whole.
   * @param {string} title
   * @param {...(Node | null)} body
   */
  page(title, ...body) {
    const { number } = this;
    const [before, after] = [CHAPTERS[number - 2], CHAPTERS[number]];
    this.show(
      h('p', { class: 'chapter-line' }, `Chapter ${number}`),
      h('h2', null, title),
      this.#trouble,
      ...body,
      h(
        'nav',
        { class: 'turn', 'aria-label': 'Next and previous chapter' },
        before ? h('a', { href: formatRoute(number - 1), rel: 'prev' }, '← ', before.name) : h('span', null),
        after
          ? h('a', { href: formatRoute(number + 1), rel: 'next', class: 'onward' }, `${number + 1}. ${after.name} →`)
          : h('a', { href: '/', class: 'onward' }, 'Go and look at a model →'),
      ),
    );
  }

  /**
   * Keeps a choice in the address, so that a link or a reload returns to it.
   * @param {Record<string, string | number | null>} values  null takes it out again
   */
  keep(values) {
    for (const [name, value] of Object.entries(values))
      value === null ? this.params.delete(name) : this.params.set(name, String(value));
    clearTimeout(this.#timer);
    // Browsers allow only so many changes of the address.
    this.#timer = window.setTimeout(() => {
      // The reader may be on the way to another chapter.
      if (parseRoute(location.hash, CHAPTERS.length).chapter !== this.number) return;
      history.replaceState(null, '', formatRoute(this.number, this.params));
    }, 150);
  }

  /**
   * @template W, A
   * @param {(wish: W, signal: AbortSignal) => Promise<A>} question
   * @param {(answer: A, wish: W) => void} answered
   * @param {HTMLElement | null} [place]  what is waiting for the answer
   * @returns {(wish: W) => void}
   */
  follow(question, answered, place = null) {
    const following = follow(
      question,
      (/** @type {A} */ value, /** @type {W} */ wish) => {
        if (place) place.ariaBusy = 'false';
        this.#trouble.hidden = true;
        answered(value, wish);
      },
      (error) => {
        if (place) place.ariaBusy = 'false';
        this.fail(error);
      },
    );
    this.until(following.stop);
    return (wish) => {
      if (place) place.ariaBusy = 'true';
      following.ask(wish);
    };
  }

  /** @param {unknown} error */
  fail(error) {
    if (!(error instanceof ApiError)) console.error(error);
    this.#trouble.textContent = error instanceof Error ? error.message : String(error);
    this.#trouble.hidden = false;
    if (this.#trouble.isConnected || !this.isConnected) return;
    this.show(
      h('h2', null, CHAPTERS[this.number - 1].name),
      this.#trouble,
      h('button', { type: 'button', class: 'quiet', onclick: () => this.open() }, 'Try again'),
    );
  }

  /**
   * Calls `draw` when the theme changes, for what is drawn with numbers for colours.
   * @param {() => void} draw
   */
  redraw(draw) {
    let first = true;
    this.watch(
      (s) => [s.theme],
      () => {
        if (!first) draw();
        first = false;
      },
    );
  }
}
