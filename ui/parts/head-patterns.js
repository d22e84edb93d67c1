// What to look for among the heads: named patterns with their thresholds, an order, and bounds.

/** @import { Even, Pattern, Statistic } from '../patterns.js' */
/** @import { Meta } from '../contract.js' */
/** @import { Grid } from '../heads-loading.js' */
/** @import { View } from '../address.js' */
import { boundHeads, choosePattern, chooseSite, sortHeads } from '../actions.js';
import { h } from '../dom.js';
import { headsInView } from '../heads-picture.js';
import { PATTERNS, STATISTICS } from '../patterns.js';
import { Part } from './part.js';
import { RampBar } from './ramp-bar.js';

export class HeadPatterns extends Part {
  begin() {
    this.watch(
      (s) => [s.trace.value, s.view, s.grid.value],
      (meta, view, grid) => {
        if (!meta) return this.show();
        const heads = headsInView(meta, view, grid);
        const kinds = [...new Set(meta.sites.map((s) => s.site))];
        this.show(
          patterns(meta, view, grid),
          view.pattern
            ? h('p', { class: 'note' }, PATTERNS[view.pattern].says(heads.even(heads.sites[0].layer)))
            : null,
          h(
            'div',
            { class: 'order' },
            kinds.length > 1 ? sites(kinds, view.site) : null,
            order(view),
            view.sort ? bounds(view.sort, view) : null,
            fixedRamp(),
          ),
        );
      },
    );
  }
}

/** @param {Meta} meta @param {View} view @param {Grid | null} grid */
function patterns(meta, view, grid) {
  const { all, sites, even } = headsInView(meta, { ...view, pattern: null, least: null, most: null }, grid);
  const total = sites.reduce((sum, s) => sum + s.q_heads, 0);
  const card = (
    /** @type {Pattern | null} */ name,
    /** @type {string} */ label,
    /** @type {string} */ rule,
    /** @type {number} */ count,
  ) =>
    h(
      'button',
      {
        type: 'button',
        class: 'pattern',
        'data-focus': `pattern-${name}`,
        'data-pattern': name ?? 'all',
        'aria-pressed': String(view.pattern === name),
        onclick: () => choosePattern(view.pattern === name ? null : name),
      },
      h('span', { class: 'pattern-name' }, label),
      h('span', { class: 'pattern-count num' }, all.length === 0 ? '…' : count),
      h('span', { class: 'pattern-rule' }, rule),
    );
  const of = (/** @type {Even} */ e, /** @type {Pattern} */ name) => PATTERNS[name].rule(e);
  return h(
    'div',
    { class: 'patterns', role: 'group', 'aria-label': 'Patterns' },
    card(null, 'All heads', 'no filter', total),
    /** @type {Pattern[]} */ (Object.keys(PATTERNS)).map((name) =>
      card(
        name,
        PATTERNS[name].name,
        of(even(sites[0].layer), name),
        all.filter((f) => PATTERNS[name].fits(f, even(f.layer))).length,
      ),
    ),
  );
}

/** In the pictures the scale always ends at 1. */
function fixedRamp() {
  const ramp = new RampBar();
  ramp.dataset.fixed = '';
  return ramp;
}

/** @param {View} view */
function order(view) {
  const statistics = /** @type {Statistic[]} */ (Object.keys(STATISTICS));
  return h(
    'div',
    { class: 'field' },
    h('label', { class: 'label', for: 'sort' }, 'Order'),
    h(
      'select',
      {
        id: 'sort',
        'data-focus': 'sort',
        onchange: (event) => {
          const value = /** @type {HTMLSelectElement} */ (event.target).value;
          sortHeads(value === '' ? null : /** @type {Statistic} */ (value), value === 'distance');
        },
      },
      h('option', { value: '', selected: view.sort === null }, 'layer by layer'),
      statistics.map((name) =>
        h('option', { value: name, selected: view.sort === name }, `by ${STATISTICS[name].name}`),
      ),
    ),
    view.sort
      ? h(
          'button',
          {
            type: 'button',
            class: 'quiet',
            'data-focus': 'sort-order',
            onclick: () => sortHeads(view.sort, !view.rising),
          },
          view.rising ? 'smallest first' : 'largest first',
        )
      : null,
    view.sort ? h('span', { class: 'note' }, STATISTICS[view.sort].says) : null,
  );
}

/** @param {Statistic} sort @param {View} view */
function bounds(sort, view) {
  const bound = (/** @type {'least' | 'most'} */ which, /** @type {string} */ label) =>
    h(
      'label',
      { class: 'bound' },
      h('span', { class: 'label' }, label),
      h('input', {
        type: 'number',
        step: 'any',
        inputmode: 'decimal',
        value: view[which] ?? '',
        'data-focus': `bound-${which}`,
        'aria-label': `${STATISTICS[sort].name} ${label}`,
        onchange: (event) => {
          const { value } = /** @type {HTMLInputElement} */ (event.target);
          boundHeads({ [which]: value === '' || !Number.isFinite(Number(value)) ? null : Number(value) });
        },
      }),
    );
  return h(
    'div',
    { class: 'field bounds' },
    h('span', { class: 'label' }, 'Only'),
    bound('least', 'at least'),
    bound('most', 'at most'),
  );
}

/** @param {string[]} kinds @param {string} now */
const sites = (kinds, now) =>
  h(
    'label',
    { class: 'field' },
    h('span', { class: 'label' }, 'Site'),
    h(
      'select',
      { 'data-focus': 'heads-site', onchange: (e) => chooseSite(/** @type {HTMLSelectElement} */ (e.target).value) },
      kinds.map((k) => h('option', { value: k, selected: k === now }, k)),
    ),
  );

customElements.define('head-patterns', HeadPatterns);
