// Keys of the map: + and − zoom about the chosen cell, 0 or f shows the whole, Shift and an arrow goes
// ten cells, x leaves the chosen column out of the scale.

/**
 * @typedef {object} KeyWishes
 * @property {(by: number) => void} zoom
 * @property {() => void} fit
 * @property {(down: number, right: number) => void} leap
 * @property {() => void} leaveOut
 */

/** @type {Record<string, (wish: KeyWishes) => void>} */
const KEYS = {
  '+': (wish) => wish.zoom(1),
  '=': (wish) => wish.zoom(1),
  '-': (wish) => wish.zoom(-1),
  '−': (wish) => wish.zoom(-1),
  0: (wish) => wish.fit(),
  f: (wish) => wish.fit(),
  x: (wish) => wish.leaveOut(),
};

/** @type {Record<string, (wish: KeyWishes) => void>} */
const WITH_SHIFT = {
  ArrowUp: (wish) => wish.leap(-10, 0),
  ArrowDown: (wish) => wish.leap(10, 0),
  ArrowLeft: (wish) => wish.leap(0, -10),
  ArrowRight: (wish) => wish.leap(0, 10),
};

/**
 * Where nothing else has the keys, and on the map itself.
 * @param {HTMLElement} canvas
 * @param {KeyWishes} wish
 * @returns {() => void}  stops listening
 */
export function listenToMapKeys(canvas, wish) {
  const press = (/** @type {KeyboardEvent} */ event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (event.target !== canvas && event.target !== document.body) return;
    if (!canvas.checkVisibility()) return;
    const act = (event.shiftKey ? WITH_SHIFT[event.key] : undefined) ?? KEYS[event.key];
    if (!act) return;
    event.preventDefault();
    act(wish);
  };
  // Before the page's own keys, which would take an arrow for a single step.
  document.addEventListener('keydown', press, { capture: true });
  return () => document.removeEventListener('keydown', press, { capture: true });
}
