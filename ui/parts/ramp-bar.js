// The ramp of colours with its ends, and the choice of its scale, for views other than the map.

/** @import { Scale } from '../scales.js' */
import { chooseScale } from '../actions.js';
import { h, vars } from '../dom.js';
import { css, rampAt } from '../palette.js';
import { defaultScale, SCALES } from '../scales.js';
import { Part } from './part.js';

export class RampBar extends Part {
  begin() {
    this.watch(
      (s) => [s.trace.value, s.view.scale, s.view.palette, s.view.range, s.theme],
      (meta, scale, palette, range, theme) => {
        if (!meta) return this.show();
        const now = scale ?? defaultScale(meta.kind);
        const { rows, says } = SCALES[now];
        const steps = Array.from({ length: 32 }, (_, i) => css(rampAt(theme, i / 31, palette ?? 'amber')));
        this.show(
          h('span', { class: 'label t-weight' }, 'weight'),
          h(
            'span',
            { class: 'label' },
            rows ? 'least' : now === 'log' ? (range === 'largest' ? '1e−5 of it' : '1e−5') : '0',
          ),
          vars(h('span', { class: 'ramp', 'aria-hidden': 'true' }), {
            '--ramp': `linear-gradient(to right, ${steps.join(', ')})`,
          }),
          h(
            'span',
            { class: 'label' },
            rows ? 'most' : range === 'largest' && !this.hasAttribute('data-fixed') ? 'largest' : '1',
          ),
          choice(now, says),
        );
      },
    );
  }
}

/** @param {Scale} now @param {string} says */
const choice = (now, says) =>
  h(
    'select',
    {
      'aria-label': 'Scale',
      title: says,
      'data-focus': 'scale',
      onchange: (e) => chooseScale(/** @type {Scale} */ (/** @type {HTMLSelectElement} */ (e.target).value)),
    },
    Object.entries(SCALES).map(([value, { name }]) => h('option', { value, selected: value === now }, name)),
  );

customElements.define('ramp-bar', RampBar);
