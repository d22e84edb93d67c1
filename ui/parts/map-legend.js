// What the colours mean, which scale they follow, and the cell under the pointer.

/** @import { Meta, Site } from '../contract.js' */
/** @import { Spot } from '../store.js' */
/** @import { View } from '../address.js' */
/** @import { Scale } from '../scales.js' */
import { chooseScale, headRef, siteOf } from '../actions.js';
import { h, vars } from '../dom.js';
import { num, tokenChip } from '../figures.js';
import { reasonOf, SHORT } from '../hidden.js';
import { css, rampAt } from '../palette.js';
import { defaultScale, fraction, SCALES } from '../scales.js';
import { covering, want, weightAt } from '../tiles.js';
import { Part } from './part.js';

export class MapLegend extends Part {
  #readout = h('p', { class: 'readout' });
  #key = h('div', { class: 'key' });

  begin() {
    this.replaceChildren(this.#readout, this.#key);
    this.watch(
      (s) => [s.trace.value, s.hover, s.view, s.tiles],
      (...now) => this.#read(now[0], now[1], now[2]),
    );
    this.watch(
      (s) => [s.trace.value, s.view.scale, s.view.site, s.view.layer, s.theme],
      (meta, scale, site, layer, theme) => {
        const here = meta && siteOf(meta, { site, layer });
        if (!meta || !here) return this.#key.replaceChildren();
        const now = scale ?? defaultScale(meta.kind);
        this.#key.replaceChildren(
          bar(now, theme),
          here.causal || here.window
            ? h('span', { class: 'swatch-hidden' }, h('i', { 'aria-hidden': 'true' }), whyHidden(here))
            : '',
          choice(now),
        );
      },
    );
  }

  /**
   * @param {Meta | null} meta
   * @param {Spot | null} hover
   * @param {View} view
   */
  #read(meta, hover, view) {
    const spot = hover ?? (view.query !== null && view.key !== null ? { query: view.query, key: view.key } : null);
    const site = meta && siteOf(meta, view);
    if (!meta || !spot || !site) return this.#readout.replaceChildren();
    const [query, key] = [meta.tokens[spot.query], meta.tokens[spot.key]];
    if (!query || !key) return this.#readout.replaceChildren();
    const one = { q0: spot.query, q1: spot.query + 1, k0: spot.key, k1: spot.key + 1 };
    const weight = weightAt(want(headRef(), covering(one, site.q_len, site.kv_len), false).here, spot.query, spot.key);
    const reason = weight === null ? null : reasonOf(weight);
    this.#readout.replaceChildren(
      tokenChip(query, spot.query, 'q'),
      ' → ',
      tokenChip(key, spot.key, 'k'),
      ' ',
      weight === null ? '…' : reason ? h('em', null, `hidden: ${SHORT[reason]}`) : num(weight, 'weight'),
    );
  }
}

/** @param {Site} site */
function whyHidden(site) {
  const reasons = [site.causal && 'it comes later', site.window && 'it is outside the window'].filter(Boolean);
  return `hidden: ${reasons.join(', or ')}`;
}

/** @param {Scale} scale @param {'light' | 'dark'} theme */
function bar(scale, theme) {
  const steps = Array.from({ length: 48 }, (_, i) => css(rampAt(theme, i / 47)));
  const strip = vars(h('div', { class: 'ramp', 'aria-hidden': 'true' }), {
    '--ramp': `linear-gradient(to right, ${steps.join(', ')})`,
  });
  const ticks = SCALES[scale].ticks.map((tick) =>
    vars(h('span', null, scale === 'log' && tick < 0.01 ? tick.toExponential(0).replace('e-', 'e−') : String(tick)), {
      '--at': fraction(scale, tick),
    }),
  );
  return h(
    'div',
    { class: 'ramp-box' },
    h('span', { class: 'label t-weight', 'data-term': 'weight' }, 'weight'),
    strip,
    h('div', { class: 'ramp-ticks' }, ticks),
  );
}

/** @param {Scale} now */
function choice(now) {
  return h(
    'label',
    { class: 'scale-choice' },
    h('span', { class: 'label' }, 'Scale'),
    h(
      'select',
      {
        'data-focus': 'scale',
        title: SCALES[now].says,
        onchange: (e) => chooseScale(/** @type {Scale} */ (/** @type {HTMLSelectElement} */ (e.target).value)),
      },
      Object.entries(SCALES).map(([value, { name }]) => h('option', { value, selected: value === now }, name)),
    ),
  );
}

customElements.define('map-legend', MapLegend);
