// What every part of the page shares: it watches the state while it is on the page, and keeps
// the keyboard focus where it was when it draws itself anew.

/** @import { State } from '../store.js' */
import { watch } from '../store.js';

export class Part extends HTMLElement {
  /** @type {(() => void)[]} */
  #stops = [];

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

  /** @param {() => void} stop  called when the part leaves the page */
  until(stop) {
    this.#stops.push(stop);
  }

  /**
   * Replaces what the part shows. An element that had the focus gives it to the one with the
   * same `data-focus` in the new picture; what was unfolded (`data-keep`) stays so.
   * @param {...(Node | string | null | false)} children
   */
  show(...children) {
    const focused = document.activeElement;
    const name = focused instanceof HTMLElement && this.contains(focused) ? focused.dataset.focus : undefined;
    const unfolded = new Map(this.#kept().map((d) => [d.dataset.keep, d.open]));
    this.replaceChildren(.../** @type {Node[]} */ (children.filter((child) => child)));
    for (const details of this.#kept()) details.open = unfolded.get(details.dataset.keep) ?? details.open;
    if (name === undefined) return;
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
