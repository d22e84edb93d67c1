// What is out of sight is drawn when there is time: after the next picture, in moments in which nothing
// else is to be done, or as soon as it comes near to where it can be seen.

import { isAnswerDue } from './store.js';

/** Pixels around the window in which something counts as in sight. */
const NEAR = '150px';
/** Milliseconds after which it is drawn in any case. */
const PATIENCE = 200;
/** Milliseconds until it is asked again whether the answers are there. */
const ANSWER = 8;
/** Milliseconds that have to be left of a free moment. */
const ENOUGH = 4;

/** @type {WeakMap<Element, boolean>} */
const seen = new WeakMap();

/** What waits to be drawn. @type {Map<Node, () => void>} */
const waiting = new Map();

const observer = new IntersectionObserver(
  (entries) => {
    for (const { target, isIntersecting } of entries) {
      seen.set(target, isIntersecting);
      if (isIntersecting) draw(target);
    }
  },
  { rootMargin: NEAR },
);

/** What shows nothing yet has no place where it could be out of sight. @param {Element} element */
export const inSight = (element) => !element.firstChild || (seen.get(element) ?? true);

/** @param {Element} element @returns {() => void}  stops */
export function lookOutFor(element) {
  observer.observe(element);
  return () => {
    observer.unobserve(element);
    waiting.delete(element);
  };
}

/**
 * Draws something in the next free moment, in place of what was to be drawn there before.
 * @param {Node} what
 * @param {(() => void) | null} how  null: it has been drawn
 */
export function whenFree(what, how) {
  if (how === null) return void waiting.delete(what);
  waiting.set(what, how);
  soon();
}

/** @param {Node} what */
function draw(what) {
  const how = waiting.get(what);
  waiting.delete(what);
  how?.();
}

let planned = false;
/** When the first of those that wait began to. */
let since = 0;

function soon() {
  if (planned) return;
  planned = true;
  since ||= performance.now();
  const run = (/** @type {{timeRemaining: () => number, didTimeout: boolean} | null} */ free) => {
    planned = false;
    const patient = performance.now() - since < PATIENCE;
    if (patient && isAnswerDue()) return again();
    for (const what of [...waiting.keys()]) {
      if (patient && free && free.timeRemaining() < ENOUGH) return soon();
      draw(what);
    }
    since = 0;
  };
  const again = () => setTimeout(soon, ANSWER);
  // Not every browser tells of free moments.
  if ('requestIdleCallback' in window) requestIdleCallback(run, { timeout: PATIENCE });
  else setTimeout(run, PATIENCE / 4, null);
}
