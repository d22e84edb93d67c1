// What the picture of all heads shows, in one sentence; how far it is; and the heads that were found, by name.

/** @import { Asked } from '../store.js' */
/** @import { Grid } from '../heads-loading.js' */
/** @import { HeadFacts, Meta } from '../contract.js' */
/** @import { View } from '../address.js' */
import { openInMap } from '../actions.js';
import { readWords } from '../axes.js';
import { h, vars } from '../dom.js';
import { num } from '../figures.js';
import { complete, continueGrid, stopGrid } from '../heads-loading.js';
import { headsInView } from '../heads-picture.js';
import { PATTERNS, STATISTICS } from '../patterns.js';
import { Part } from './part.js';

/** More names than this are read in the picture. */
const NAMED = 8;

export class HeadsHeadline extends Part {
  begin() {
    this.watch(
      (s) => [s.trace.value, s.view, s.grid],
      (meta, view, grid) => {
        if (!meta) return this.show();
        const late = grid.busy && performance.now() - grid.since > 400;
        this.classList.toggle('late', late || !grid.busy);
        this.show(
          sentence(meta, view, grid),
          h(
            'div',
            { class: 'progress-place' },
            grid.value && !complete(grid.value) ? progress(grid.value, grid) : null,
          ),
          grid.error ? trouble(grid.error) : null,
        );
      },
    );
  }
}

/** @param {Meta} meta @param {View} view @param {Asked<Grid>} grid */
function sentence(meta, view, grid) {
  const heads = headsInView(meta, view, grid.value);
  const count = heads.sites.reduce((sum, s) => sum + s.q_heads, 0);
  const known = heads.all.length;
  const layers = heads.sites.length;
  if (!heads.filtered)
    return h(
      'div',
      null,
      h('h2', null, count === 1 ? 'One head' : `All ${count.toLocaleString('en')} heads at a glance`),
      h(
        'p',
        { class: 'note' },
        `${layers} ${layers === 1 ? 'layer' : 'layers'} of ${meta.model.name}, reading ${readWords(meta, view)}. Each square is one head’s map, queries down and keys across; where a pixel stands for several cells it is the largest of them.${heads.sites[0]?.causal ? ' Grey is hidden by the mask.' : ''}`,
      ),
    );
  const found = heads.chosen.length;
  const rule = view.pattern ? PATTERNS[view.pattern] : null;
  const what = rule ? (found === 1 ? rule.many.replace(/s$/, '') : rule.many) : found === 1 ? 'head' : 'heads';
  const bounds = view.sort && (view.least !== null || view.most !== null);
  const within = !bounds || !view.sort ? '' : `: ${STATISTICS[view.sort].name} ${between(view.least, view.most)}`;
  const verb = rule && !bounds ? (found === 1 ? ' is a ' : ' are ') : ' ';
  const by = view.sort ?? rule?.by ?? 'entropy';
  const best =
    view.sort || !rule
      ? heads.chosen
      : headsInView(meta, { ...view, sort: by, rising: rule.rising, least: null, most: null }, grid.value).chosen;
  return h(
    'div',
    null,
    h(
      'h2',
      null,
      rule && !bounds
        ? `${found} of ${known} heads${verb}${what}`
        : `${found} of ${known} ${rule ? what : 'heads'}${within}`,
    ),
    h(
      'p',
      { class: 'found' },
      best.slice(0, NAMED).map((facts) => named(facts, by)),
      found > NAMED ? h('span', { class: 'note' }, `and ${found - NAMED} more, in the picture`) : null,
      found > 0 && rule ? h('span', { class: 'note' }, `${STATISTICS[by].says} Click a head to open it.`) : null,
      found === 0 && known > 0
        ? h(
            'span',
            { class: 'note' },
            'None in this text. Statistics are means over its queries, so another text may show others.',
          )
        : null,
    ),
  );
}

/** @param {number | null} least @param {number | null} most */
function between(least, most) {
  if (least !== null && most !== null) return `from ${least} to ${most}`;
  return least !== null ? `at least ${least}` : `at most ${most}`;
}

/** @param {HeadFacts} facts @param {import('../patterns.js').Statistic} by */
function named(facts, by) {
  const value = STATISTICS[by].of(facts);
  return h(
    'button',
    {
      type: 'button',
      class: 'quiet found-head',
      'data-focus': `found${facts.layer}.${facts.head}`,
      'data-layer': facts.layer,
      'data-head': facts.head,
      title: 'Open in the map',
      onclick: () => openInMap({ layer: facts.layer, head: facts.head }),
    },
    `layer ${facts.layer} head ${facts.head} `,
    value === null ? null : num(value, null, STATISTICS[by].write(value)),
  );
}

/** @param {Grid} grid @param {Asked<Grid>} asked */
function progress(grid, asked) {
  const all = grid.layers.length;
  const done = grid.thumbs.size + grid.facts.size;
  const says =
    grid.thumbs.size < all
      ? `pictures of ${grid.thumbs.size} of ${all} layers`
      : `statistics of ${grid.facts.size} of ${all} layers`;
  return h(
    'p',
    { class: 'progress' },
    vars(h('span', { class: 'progress-bar', 'aria-hidden': 'true' }), { '--full': done / (2 * all) }),
    h('span', { class: 'note', role: 'status' }, asked.busy ? `Reading every head: ${says}` : `Stopped: ${says}`),
    asked.busy
      ? h('button', { type: 'button', class: 'quiet', 'data-focus': 'grid-stop', onclick: stopGrid }, 'Stop')
      : h('button', { type: 'button', class: 'quiet', 'data-focus': 'grid-stop', onclick: continueGrid }, 'Go on'),
  );
}

/** @param {string} error */
const trouble = (error) => h('p', { class: 'trouble', role: 'alert' }, error);

customElements.define('heads-headline', HeadsHeadline);
