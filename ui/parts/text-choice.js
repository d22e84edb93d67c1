// Whose attention the text is shaded by: one head, several, or all of a layer; and in which direction.

/** @import { Facing, Joining, View } from '../address.js' */
/** @import { Meta, Site } from '../contract.js' */
import { chooseHead, chooseHeads, chooseLayer, face, join, step } from '../actions.js';
import { siteOf } from '../axes.js';
import { h } from '../dom.js';
import { Part } from './part.js';
import { RampBar } from './ramp-bar.js';

export class TextChoice extends Part {
  begin() {
    this.watch(
      (s) => [
        s.trace.value,
        s.view.site,
        s.view.layer,
        s.view.head,
        s.view.heads,
        s.view.facing,
        s.view.joining,
        s.view.pins.length,
      ],
      (meta, kind, layer, head, heads, facing, joining, pins) => {
        const site = meta && siteOf(meta, { site: kind, layer });
        if (!meta || !site) return this.show();
        this.show(
          h(
            'div',
            { class: 'choices' },
            layerField(meta, site),
            site.q_heads > 1 ? headField(site, head, heads) : null,
            facingField(facing),
            pins > 1 ? joiningField(joining) : null,
            new RampBar(),
          ),
          average(site, heads),
        );
      },
    );
  }
}

/** @param {string} name @param {...Node} controls */
const field = (name, ...controls) => h('div', { class: 'field' }, h('span', { class: 'label' }, name), ...controls);

/** @param {Meta} meta @param {Site} site */
function layerField(meta, site) {
  const layers = meta.sites.filter((s) => s.site === site.site).map((s) => s.layer);
  if (layers.length === 1) return field('Layer', h('span', { class: 'only num' }, site.layer));
  const at = layers.indexOf(site.layer);
  const arrow = (/** @type {string} */ sign, /** @type {number} */ by) =>
    h(
      'button',
      {
        type: 'button',
        class: 'arrow',
        'data-focus': `text-layer${by}`,
        'aria-label': `${by < 0 ? 'previous' : 'next'} layer`,
        disabled: at + by < 0 || at + by >= layers.length,
        onclick: () => step('layer', by),
      },
      sign,
    );
  const select = h(
    'select',
    {
      'aria-label': 'layer',
      'data-focus': 'text-layer',
      onchange: (e) => chooseLayer(Number(/** @type {HTMLSelectElement} */ (e.target).value)),
    },
    layers.map((l) => h('option', { value: l, selected: l === site.layer }, l)),
  );
  return field('Layer', h('span', { class: 'stepper' }, arrow('‹', -1), select, arrow('›', 1)));
}

/** @param {Site} site @param {number} head @param {View['heads']} heads */
function headField(site, head, heads) {
  const several = Array.isArray(heads);
  const modes = sides('Heads', [
    ['One head', heads === null, () => chooseHeads(null)],
    ['Several', several, () => chooseHeads(several ? heads : [head])],
    ['Mean of the layer', heads === 'mean', () => chooseHeads('mean')],
  ]);
  const pressed = (/** @type {number} */ i) => (several ? heads.includes(i) : i === head);
  const press = (/** @type {number} */ i) => {
    if (!several) return chooseHead(i);
    const next = heads.includes(i) ? heads.filter((x) => x !== i) : [...heads, i].sort((a, b) => a - b);
    return next.length > 0 ? chooseHeads(next) : undefined;
  };
  const group = site.q_heads / site.kv_heads;
  const button = (/** @type {number} */ i) =>
    h(
      'button',
      {
        type: 'button',
        class: 'head',
        'data-focus': `text-head${i}`,
        'aria-label': `Head ${i}`,
        'aria-pressed': String(pressed(i)),
        onclick: () => press(i),
      },
      i,
    );
  const groups = Array.from({ length: site.kv_heads }, (_, kv) =>
    h(
      'span',
      { class: 'kv-group' },
      Array.from({ length: group }, (_, i) => button(kv * group + i)),
    ),
  );
  const row = h('span', { class: 'heads', role: 'group', 'aria-label': 'Head' }, groups);
  return h('div', { class: 'field head-field' }, modes, heads === 'mean' ? null : row);
}

/** @param {Facing} facing */
const facingField = (facing) =>
  field(
    'A token',
    sides('Direction', [
      ['attends to', facing === 'to', () => face('to')],
      ['is attended to by', facing === 'by', () => face('by')],
    ]),
  );

/** @param {Joining} joining */
const joiningField = (joining) =>
  field(
    'Pinned tokens together',
    sides('Pinned tokens together', [
      ['mean', joining === 'mean', () => join('mean')],
      ['largest', joining === 'largest', () => join('largest')],
    ]),
  );

/** @param {string} name @param {[string, boolean, () => unknown][]} options */
const sides = (name, options) =>
  h(
    'span',
    { class: 'switch', role: 'group', 'aria-label': name },
    options.map(([label, now, press]) =>
      h(
        'button',
        {
          type: 'button',
          class: 'side',
          'data-focus': `side-${name}-${label}`,
          'aria-pressed': String(now),
          onclick: () => press(),
        },
        label,
      ),
    ),
  );

/** A mean must not be taken for a head. @param {Site} site @param {View['heads']} heads */
function average(site, heads) {
  if (heads === null || heads.length === 1 || site.q_heads === 1) return null;
  const which = heads === 'mean' ? `all ${site.q_heads} heads of layer ${site.layer}` : `heads ${heads.join(', ')}`;
  return h(
    'p',
    { class: 'note mean-note' },
    h('strong', null, 'A mean. '),
    `Each shade is the plain average of the weights of ${which}. No head has these weights, and they did not go through a softmax again.`,
  );
}

customElements.define('text-choice', TextChoice);
