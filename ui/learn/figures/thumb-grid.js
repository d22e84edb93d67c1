// Every head of a model as a small picture, layers down, heads across; each leads to the inspector.

/** @import { HeadFacts } from '../../contract.js' */
import { EMPTY_VIEW, formatAddress } from '../../address.js';
import { h } from '../../dom.js';
import { show } from '../../numbers.js';
import { rampBytes } from '../../palette.js';
import { fraction } from '../../scales.js';
import { get } from '../../store.js';

/**
 * @param {object} look
 * @param {HeadFacts[]} look.heads
 * @param {Float32Array[]} look.pictures  in the order of `heads`
 * @param {number} look.size
 * @param {(head: HeadFacts) => number | null} look.measure
 * @param {number} look.least            heads that reach it are marked
 * @param {string} look.name
 * @param {{source: string, text: string | null}} look.view
 */
export function thumbGrid({ heads, pictures, size, measure, least, name, view }) {
  const layers = [...new Set(heads.map((one) => one.layer))];
  const reaching = heads.find((one) => (measure(one) ?? 0) >= least) ?? heads[0];
  return h(
    'div',
    { class: 'thumbs', role: 'group', 'aria-label': 'All heads; the arrow keys walk', onkeydown: walk },
    layers.map((layer) =>
      h(
        'div',
        { class: 'thumb-row' },
        h('span', { class: 'thumb-layer' }, layer),
        heads.flatMap((one, i) => {
          if (one.layer !== layer) return [];
          const value = measure(one);
          const reaches = value !== null && value >= least;
          return [
            h(
              'a',
              {
                class: `thumb${reaches ? ' reaches' : ''}`,
                tabindex: one === reaching ? '0' : '-1',
                'data-spot': `${layer} ${one.head}`,
                href: `/${formatAddress({ ...EMPTY_VIEW, ...view, layer, head: one.head })}`,
                title: `layer ${layer} head ${one.head}: ${name} ${show(value)}`,
                'aria-label': `layer ${layer} head ${one.head}, ${name} ${show(value)}`,
              },
              picture(pictures[i], size),
            ),
          ];
        }),
      ),
    ),
  );
}

/** From head to head; the grid is one stop of the tab key. @param {Event} event */
function walk(event) {
  if (!(event instanceof KeyboardEvent) || !(event.target instanceof HTMLElement)) return;
  const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
  const spot = event.target.dataset.spot?.split(' ').map(Number);
  if (!step || !spot) return;
  event.preventDefault();
  const grid = event.target.closest('.thumbs');
  const next = grid?.querySelector(`[data-spot="${spot[0] + step[0]} ${spot[1] + step[1]}"]`);
  if (!(next instanceof HTMLElement)) return;
  event.target.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
}

/** @param {Float32Array} weights @param {number} size */
function picture(weights, size) {
  const canvas = h('canvas', { width: size, height: size, 'aria-hidden': 'true' });
  const context = canvas.getContext('2d');
  if (!context || !weights) return canvas;
  const ramp = rampBytes(get().theme);
  const image = context.createImageData(size, size);
  weights.forEach((w, i) => {
    if (w < 0) return;
    const at = 4 * Math.round(fraction('sqrt', w) * 255);
    image.data.set(ramp.subarray(at, at + 4), 4 * i);
  });
  context.putImageData(image, 0, 0);
  return canvas;
}
