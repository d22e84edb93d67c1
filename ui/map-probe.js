// The strongest cell of a block: what a pixel that stands for many cells is about.

/** @import { HeadRef, Span } from './api.js' */
import * as api from './api.js';
import { living } from './living.js';

/** @typedef {{query: number, key: number, weight: number}} Strongest  The weight is below 0 where all are hidden. */

/** @type {{name: string, answer: Promise<Strongest>, controller: AbortController} | null} */
let last = null;

/**
 * @param {HeadRef} ref
 * @param {Span} span
 * @returns {Promise<Strongest>}
 */
export function strongest(ref, span) {
  const name = [ref.trace, ref.site, ref.layer, ref.head, span.q0, span.q1, span.k0, span.k1].join(' ');
  if (last?.name === name) return last.answer;
  last?.controller.abort();
  const controller = new AbortController();
  const answer = living((now) => api.tile({ ...ref, trace: now.trace }, span, controller.signal)).then((weights) => {
    let at = 0;
    for (let i = 1; i < weights.length; i++) if (weights[i] > weights[at]) at = i;
    const columns = span.k1 - span.k0;
    return { query: span.q0 + Math.floor(at / columns), key: span.k0 + (at % columns), weight: weights[at] };
  });
  last = { name, answer, controller };
  answer.catch(() => last?.controller === controller && (last = null));
  return answer;
}
