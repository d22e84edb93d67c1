// The angle between two vectors after each layer, side by side: small, to be compared and chosen.

import { h } from '../../dom.js';
import { s } from '../svg.js';

/** @param {(layer: number) => void} choose */
export function fans(choose) {
  const element = h('ol', { class: 'fans', 'aria-label': 'The angle after each layer' });
  return {
    element,
    /** @param {readonly number[]} degrees  one for each layer @param {number} at  the layer that is chosen */
    update(degrees, at) {
      const held = element.contains(document.activeElement);
      element.replaceChildren(...degrees.map((between, layer) => h('li', null, fan(between, layer, at, choose))));
      const pressed = element.querySelector('[aria-pressed=true]');
      if (held && pressed instanceof HTMLElement) pressed.focus({ preventScroll: true });
    },
  };
}

/** @param {number} between @param {number} layer @param {number} at @param {(layer: number) => void} choose */
function fan(between, layer, at, choose) {
  const turn = ((between / 2) * Math.PI) / 180;
  const hand = (/** @type {number} */ sign) =>
    s('line', { x1: 6, y1: 24, x2: 6 + 38 * Math.cos(turn), y2: 24 - sign * 38 * Math.sin(turn) });
  return h(
    'button',
    {
      type: 'button',
      'aria-pressed': String(layer === at),
      'aria-label': `${layer === 0 ? 'going in' : `after layer ${layer}`}: ${between} degrees`,
      onclick: () => choose(layer),
    },
    s('svg', { viewBox: '0 -8 50 64', 'aria-hidden': 'true' }, hand(1), hand(-1)),
    h('span', { class: 'num' }, `${between}°`),
    h('span', { class: 'label' }, layer === 0 ? 'in' : String(layer)),
  );
}
