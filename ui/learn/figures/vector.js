// A short vector as bars to either side of zero, each entry with its name and its number.

/** @import { Term } from '../../store.js' */
import { h, vars } from '../../dom.js';
import { num } from '../../figures.js';
import { together } from '../../numbers.js';

/**
 * @param {{name: string | Node, term: Term | null, dims: readonly string[], notes?: readonly string[], most?: number}} look
 *   `most`: the value of a full bar
 */
export function vector({ name, term, dims, notes, most = 2 }) {
  const lines = dims.map((dim, i) => {
    const bar = h('span', { class: 'signed-bar' });
    const ghost = h('span', { class: 'signed-ghost', hidden: true });
    const value = h('span', { class: 'bar-value' });
    return {
      line: h(
        'li',
        { title: notes?.[i] },
        h('span', { class: 'dim' }, dim),
        h('span', { class: 'signed', 'aria-hidden': 'true' }, bar, ghost),
        value,
      ),
      bar,
      ghost,
      value,
    };
  });
  return {
    element: h(
      'div',
      { class: `vector${term ? ` of-${term}` : ''}` },
      h('p', { class: 'vector-name' }, name),
      h(
        'ol',
        null,
        lines.map((l) => l.line),
      ),
    ),
    /** @param {readonly number[]} values @param {readonly number[] | null} [ghosts] */
    update(values, ghosts = null) {
      const write = together(values);
      values.forEach((v, i) => {
        const { bar, ghost, value } = lines[i];
        place(bar, v / most);
        ghost.hidden = ghosts === null || Math.abs(ghosts[i] - v) < 0.004 * most;
        place(ghost, (ghosts?.[i] ?? 0) / most);
        value.replaceChildren(num(v, term, write(v)));
      });
    },
  };
}

/** @param {HTMLElement} bar @param {number} share  -1 to 1 */
function place(bar, share) {
  const held = Math.max(-1, Math.min(1, share));
  vars(bar, { '--from': 50 + Math.min(0, held) * 50, '--size': Math.abs(held) * 50 });
}
