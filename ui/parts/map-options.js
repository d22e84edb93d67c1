// How the map is coloured: its scale and where that ends, its colours, what a pixel stands for. Nothing
// here changes a weight.

/** @import { Meta } from '../contract.js' */
/** @import { View } from '../address.js' */
/** @import { Palette } from '../palette.js' */
/** @import { Scale } from '../scales.js' */
/** @import { Shown } from '../map-shown.js' */
import { chooseScale, dressMap } from '../actions.js';
import { h } from '../dom.js';
import { PALETTES } from '../palette.js';
import { defaultScale, SCALES } from '../scales.js';
import { get } from '../store.js';
import { LeftOutChoice } from './left-out-choice.js';
import { Part } from './part.js';

export class MapOptions extends Part {
  begin() {
    this.watch(
      (s) => [
        s.trace.value,
        s.view.scale,
        s.view.range,
        s.view.palette,
        s.view.blocks,
        s.view.leftOut,
        s.shown?.pools,
      ],
      (meta, ..._rest) => {
        const { view, shown } = get();
        if (!meta) return this.show();
        this.show(h('div', { class: 'choices' }, ...choices(meta, view, shown)), new LeftOutChoice());
      },
    );
  }
}

/** @param {Meta} meta @param {View} view @param {Shown | null} shown */
function choices(meta, view, shown) {
  const scale = view.scale ?? defaultScale(meta.kind);
  const out = [
    choice(
      'scale',
      'Scale',
      Object.entries(SCALES).map(([value, { name }]) => [value, name]),
      scale,
      (value) => chooseScale(/** @type {Scale} */ (value)),
      SCALES[scale].says,
    ),
  ];
  if (!SCALES[scale].rows)
    out.push(
      choice(
        'range',
        'up to',
        [
          ['1', '1'],
          ['largest', 'largest'],
        ],
        view.leftOut !== null || view.range === 'largest' ? 'largest' : '1',
        (value) => dressMap({ range: value === 'largest' ? 'largest' : null }),
        view.leftOut !== null
          ? 'The scale ends at the largest weight outside the columns left out'
          : 'The weight at which the colours end: 1, or the largest of this head',
        view.leftOut !== null,
      ),
    );
  out.push(
    choice(
      'palette',
      'Colours',
      Object.entries(PALETTES),
      view.palette ?? 'amber',
      (value) => dressMap({ palette: value === 'amber' ? null : /** @type {Palette} */ (value) }),
      'All read with any colour vision, and in grey',
    ),
  );
  if (shown?.pools)
    out.push(
      choice(
        'blocks',
        'Blocks',
        [
          ['most', 'largest weight'],
          ['mean', 'mean weight'],
        ],
        view.blocks === 'mean' ? 'mean' : 'most',
        (value) => dressMap({ blocks: value === 'mean' ? 'mean' : null }),
        'What a pixel shows that stands for many cells',
      ),
    );
  return out;
}

/**
 * @param {string} name
 * @param {string} label
 * @param {string[][]} options  value and label
 * @param {string} now
 * @param {(value: string) => void} choose
 * @param {string} says
 * @param {boolean} [fixed]
 */
const choice = (name, label, options, now, choose, says, fixed = false) =>
  h(
    'label',
    { class: `${name}-choice`, title: says },
    h('span', { class: 'label' }, label),
    h(
      'select',
      {
        'data-focus': name,
        disabled: fixed,
        onchange: (e) => choose(/** @type {HTMLSelectElement} */ (e.target).value),
      },
      options.map(([value, text]) => h('option', { value, selected: value === now }, text)),
    ),
  );

customElements.define('map-options', MapOptions);
