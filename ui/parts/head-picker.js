// Layer and head. Query heads that share a kv head stand together.

/** @import { Meta, Site, Source } from '../contract.js' */
import { chooseHead, chooseLayer, chooseMask, chooseSite, step } from '../actions.js';
import { siteOf } from '../axes.js';
import { h } from '../dom.js';
import { windowWords } from '../hidden.js';
import { Part } from './part.js';

/** @type {Record<string, string>} */
const SITE_NAMES = { self: 'self-attention', cross: 'cross-attention', encoder: 'encoder' };

export class HeadPicker extends Part {
  begin() {
    this.watch(
      (s) => [s.trace.value, s.view.source, s.view.site, s.view.layer, s.view.head, s.sources.value],
      (meta, id, kind, layer, head, sources) => {
        const site = meta && siteOf(meta, { site: kind, layer });
        const source = sources?.find((s) => s.id === id);
        if (!meta || !site) return this.show();
        this.show(...picker(meta, site, head, source));
      },
    );
  }
}

/**
 * @param {Meta} meta
 * @param {Site} site
 * @param {number} head
 * @param {Source | undefined} source
 */
function picker(meta, site, head, source) {
  const kinds = [...new Set(meta.sites.map((s) => s.site))];
  const layers = meta.sites.filter((s) => s.site === site.site).map((s) => s.layer);
  return [
    kinds.length > 1 &&
      field(
        'Site',
        select(
          'site',
          kinds.map((k) => [k, SITE_NAMES[k] ?? k]),
          site.site,
          chooseSite,
        ),
      ),
    field(
      'Layer',
      stepper(
        'layer',
        layers.map((l) => [String(l), String(l)]),
        site.layer,
        (v) => chooseLayer(Number(v)),
      ),
    ),
    site.q_heads > 1 ? field('Head', heads(site, head)) : field('Head', h('span', { class: 'only num' }, '0')),
    source?.causal_choice
      ? field('Mask', maskSwitch(site.causal))
      : field('Mask', h('span', { class: 'only' }, maskWords(site))),
  ];
}

/** @param {Site} site */
function maskWords(site) {
  const parts = [site.causal ? 'causal' : 'bidirectional'];
  const window = windowWords(site);
  if (window) parts.push(window);
  return parts.join(', ');
}

/** @param {string} name @param {Node} control */
const field = (name, control) => h('div', { class: 'field' }, h('span', { class: 'label' }, name), control);

/**
 * @param {string} name
 * @param {string[][]} options  value and label
 * @param {string} now
 * @param {(value: string) => void} choose
 */
function select(name, options, now, choose) {
  return h(
    'select',
    {
      'aria-label': name,
      'data-focus': `${name}-select`,
      onchange: (e) => choose(/** @type {HTMLSelectElement} */ (e.target).value),
    },
    options.map(([value, label]) => h('option', { value, selected: value === now }, label)),
  );
}

/**
 * @param {'layer'} name
 * @param {string[][]} options
 * @param {number} now
 * @param {(value: string) => void} choose
 */
function stepper(name, options, now, choose) {
  if (options.length === 1) return h('span', { class: 'only num' }, options[0][1]);
  const at = options.findIndex(([value]) => value === String(now));
  const arrow = (/** @type {string} */ sign, /** @type {number} */ by) =>
    h(
      'button',
      {
        type: 'button',
        class: 'arrow',
        'data-focus': `${name}${by}`,
        'aria-label': `${by < 0 ? 'previous' : 'next'} ${name}`,
        disabled: at + by < 0 || at + by >= options.length,
        onclick: () => step(name, by),
      },
      sign,
    );
  return h('span', { class: 'stepper' }, arrow('‹', -1), select(name, options, String(now), choose), arrow('›', 1));
}

/**
 * @param {Site} site
 * @param {number} now
 */
function heads(site, now) {
  const group = site.q_heads / site.kv_heads;
  const groups = Array.from({ length: site.kv_heads }, (_, kv) =>
    h(
      'span',
      { class: 'kv-group', title: group > 1 ? `These ${group} heads share kv head ${kv}` : `Head ${kv}` },
      Array.from({ length: group }, (_, i) => headButton(kv * group + i, now)),
    ),
  );
  return h('span', { class: 'heads', role: 'group', 'aria-label': 'Head' }, groups);
}

/** @param {number} head @param {number} now */
function headButton(head, now) {
  return h(
    'button',
    {
      type: 'button',
      class: 'head',
      'data-focus': `head${head}`,
      'aria-label': `Head ${head}`,
      'aria-pressed': String(head === now),
      onclick: () => chooseHead(head),
    },
    head,
  );
}

/** @param {boolean} causal */
function maskSwitch(causal) {
  const side = (/** @type {boolean} */ value, /** @type {string} */ label) =>
    h(
      'button',
      {
        type: 'button',
        class: 'side',
        'data-focus': `mask${value}`,
        'aria-pressed': String(causal === value),
        onclick: () => chooseMask(value),
      },
      label,
    );
  return h(
    'span',
    { class: 'switch', role: 'group', 'aria-label': 'Mask' },
    side(false, 'Bidirectional'),
    side(true, 'Causal'),
  );
}

customElements.define('head-picker', HeadPicker);
