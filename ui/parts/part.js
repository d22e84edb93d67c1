// What every part of the page shares: it watches the state while it is on the page, and keeps
// the keyboard focus where it was when it draws itself anew.

/** @import { State } from '../store.js' */
import { patch } from '../patch.js';
import { inSight, lookOutFor, whenFree } from '../sight.js';
import { watch } from '../store.js';

export class Part extends HTMLElement {
  /** @type {(() => void)[]} */
  #stops = [];
  #asking = false;
  /** What is shown is older than the state. */
  #late = false;

  connectedCallback() {
    this.begin();
  }

  disconnectedCallback() {
    for (const stop of this.#stops.splice(0)) stop();
  }

  /** Says what to watch. */
  begin() {}

  /**
   * Draws now and at every change of what is picked. A part of a tab that is not open waits with
   * drawing until it is.
   * @template {unknown[]} const T
   * @param {(state: State) => T} pick
   * @param {(...picked: NoInfer<T>) => void} draw
   */
  watch(pick, draw) {
    const panel = this.closest('[data-tab]');
    const tab = panel instanceof HTMLElement ? panel.dataset.tab : undefined;
    /** @type {T | null} */
    let last = null;
    const awake = (/** @type {State} */ state) =>
      last !== null && tab !== undefined && state.view.tab !== tab ? last : (last = pick(state));
    this.#stops.push(watch(awake, draw));
  }

  /**
   * The same, for what may be far down the page: while it is out of sight it draws when there is time,
   * so that what is in sight need not wait. Until then it says that it is busy.
   * @template {unknown[]} const T
   * @param {(state: State) => T} pick
   * @param {(...picked: NoInfer<T>) => void} draw
   */
  watchInSight(pick, draw) {
    this.#stops.push(lookOutFor(this));
    this.watch(pick, (...picked) => {
      const now = () => {
        this.#late = false;
        draw(...picked);
        this.#mark();
      };
      this.#late = !inSight(this);
      whenFree(this, this.#late ? now : null);
      if (this.#late) this.#mark();
      else now();
    });
  }

  /** Something new was asked for. @param {boolean} asking */
  asks(asking) {
    this.#asking = asking;
    this.#mark();
  }

  #mark() {
    const busy = String(this.#asking || this.#late);
    if (this.getAttribute('aria-busy') !== busy) this.setAttribute('aria-busy', busy);
  }

  /** @param {() => void} stop  called when the part leaves the page */
  until(stop) {
    this.#stops.push(stop);
  }

  /**
   * Changes what the part shows where it differs. Only for what is made anew each time: a part that
   * holds on to an element of its own has to `show` it.
   * @param {...(Node | string | null | false)} children
   */
  update(...children) {
    const name = this.#focused();
    const shown = children.filter((child) => child !== null && child !== false && child !== '');
    patch(
      this,
      shown.map((child) => (child instanceof Node ? child : document.createTextNode(String(child)))),
    );
    if (name !== undefined && this.#focused() !== name) this.#focus(name);
  }

  /**
   * Replaces what the part shows. An element that had the focus gives it to the one with the
   * same `data-focus` in the new picture; what was unfolded (`data-keep`) stays so.
   * @param {...(Node | string | null | false)} children
   */
  show(...children) {
    const name = this.#focused();
    const unfolded = new Map(this.#kept().map((d) => [d.dataset.keep, d.open]));
    this.replaceChildren(.../** @type {Node[]} */ (children.filter((child) => child)));
    for (const details of this.#kept()) details.open = unfolded.get(details.dataset.keep) ?? details.open;
    if (name !== undefined) this.#focus(name);
  }

  /** The name of the element in here that has the focus. */
  #focused() {
    const focused = document.activeElement;
    return focused instanceof HTMLElement && this.contains(focused) ? focused.dataset.focus : undefined;
  }

  /** @param {string} name */
  #focus(name) {
    const heir = [...this.querySelectorAll('[data-focus]')].find(
      (e) => /** @type {HTMLElement} */ (e).dataset.focus === name,
    );
    if (heir instanceof HTMLElement) heir.focus({ preventScroll: true });
  }

  /** @returns {HTMLDetailsElement[]} */
  #kept() {
    return [...this.querySelectorAll('details')].filter((details) => details.dataset.keep !== undefined);
  }
}
