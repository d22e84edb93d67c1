// What is true of the whole head: its proof, its statistics, and what it shares.

/** @import { HeadFacts as Facts, Site } from '../contract.js' */
import { siteOf } from '../axes.js';
import { h } from '../dom.js';
import { num } from '../figures.js';
import { tiny } from '../numbers.js';
import { Part } from './part.js';

/** Above this an error is more than rounding. */
const PROVEN = 1e-5;

export class HeadFacts extends Part {
  begin() {
    this.watch(
      (s) => [s.heads, s.trace.value, s.view.site, s.view.layer, s.view.head],
      (heads, meta, kind, layer, head) => {
        const site = meta && siteOf(meta, { site: kind, layer });
        const facts = heads.value?.find((f) => f.head === head && f.layer === layer);
        this.setAttribute('aria-busy', String(heads.busy));
        if (heads.error) return this.show(h('p', { class: 'trouble', role: 'alert' }, heads.error));
        if (!facts && heads.busy)
          return this.show(h('p', { class: 'note late' }, 'Measuring the heads of this layer…'));
        if (!facts || !site) return this.show();
        this.show(
          h('h2', { class: 'small-title' }, 'This head'),
          sharing(site, head),
          statistics(facts, site),
          proof(facts),
        );
      },
    );
  }
}

/** @param {Site} site @param {number} head */
export function sharing(site, head) {
  const group = site.q_heads / site.kv_heads;
  if (group <= 1) return null;
  const kv = Math.floor(head / group);
  const others = Array.from({ length: group }, (_, i) => kv * group + i).filter((i) => i !== head);
  return h(
    'p',
    { class: 'note' },
    `Grouped queries: head ${head} reads the keys and values of kv head ${kv}, which it shares with ${others.length === 1 ? 'head' : 'heads'} ${others.join(', ')}.`,
  );
}

/** @param {Facts} facts @param {Site} site */
export function statistics(facts, site) {
  const most = Math.log(site.kv_len);
  const rows = [
    stat(
      'entropy',
      facts.entropy,
      'How spread the rows are, in nats: 0 looks at one key, more looks at many.',
      most > 0 ? facts.entropy / most : 0,
    ),
    stat('first', facts.first, 'Mean weight on the first token.', facts.first),
    stat('self', facts.self, 'Mean weight on the token itself.', facts.self),
    stat('previous', facts.previous, 'Mean weight on the token before.', facts.previous),
    stat(
      'distance',
      facts.distance,
      'Mean distance between query and key, in tokens.',
      facts.distance === null ? null : facts.distance / site.kv_len,
    ),
  ];
  return h('dl', { class: 'stats', 'aria-label': 'Head statistics, means over the queries' }, rows.flat());
}

/**
 * @param {string} name
 * @param {number | null} value
 * @param {string} meaning
 * @param {number | null} full  how full its bar is, 0 to 1
 */
function stat(name, value, meaning, full) {
  if (value === null) return [];
  return [
    h(
      'div',
      { title: meaning },
      h('dt', null, name),
      h('dd', null, num(value)),
      h('meter', { min: '0', max: '1', value: String(Math.min(1, full ?? 0)), 'aria-hidden': 'true' }),
    ),
  ];
}

/** @param {Facts} facts */
export function proof(facts) {
  const { row_sum_error: rows, output_error: out } = facts.proof;
  // null is an error that is not finite.
  const holds = rows !== null && out !== null && rows < PROVEN && out < PROVEN;
  return h(
    'details',
    { class: `proof ${holds ? 'holds' : 'fails'}`, 'data-keep': 'proof' },
    h(
      'summary',
      null,
      h('span', { class: 'badge' }, holds ? '✓ proven' : '✗ not proven'),
      ' row sums within ',
      num(rows ?? NaN, null, tiny(rows)),
      ', output within ',
      num(out ?? NaN, null, tiny(out)),
    ),
    h(
      'p',
      null,
      'The weights shown here were not kept by the run; each is worked out again when you look. So they are checked: every row of this head must sum to 1 (less what the head’s sink takes, where it has one), and the weights times the values must give the very output that the fast kernel computed. ',
      holds
        ? 'The largest deviations are the two numbers above, both below 0.00001: rounding, no more.'
        : 'The largest deviations are the two numbers above, and one of them is more than rounding (0.00001) or no number at all: do not trust this map, and please report it.',
    ),
  );
}

customElements.define('head-facts', HeadFacts);
