// Long vectors as rows of bars, one bar an entry, with the entry under the pointer written out.

/** @import { Term } from '../store.js' */
import { h } from '../dom.js';
import { num } from '../figures.js';
import { Part } from './part.js';

/** @typedef {{name: string, term: Term, values: number[]}} Lane */

const HEIGHT = 44;

export class DimStrips extends Part {
  /** @type {Lane[]} */
  lanes = [];
  hint = '';
  #readout = h('p', { class: 'readout' });
  /** @type {HTMLCanvasElement[]} */
  #canvases = [];
  /** @type {number | null} */
  #at = null;
  #soon = 0;

  begin() {
    this.#canvases = this.lanes.map((lane) =>
      h('canvas', { role: 'img', 'aria-label': `${lane.name}: ${lane.values.length} entries as bars` }),
    );
    this.replaceChildren(
      ...this.lanes.map((lane, i) =>
        h(
          'div',
          { class: 'lane' },
          h('span', { class: `name t-${lane.term}`, 'data-term': lane.term }, lane.name),
          this.#canvases[i],
        ),
      ),
      this.#readout,
    );
    const resize = new ResizeObserver(() => this.#draw());
    resize.observe(this);
    this.until(() => resize.disconnect());
    this.watch(
      (s) => [s.theme],
      () => this.#drawSoon(),
    );
    for (const canvas of this.#canvases) {
      canvas.addEventListener('pointermove', (event) =>
        this.#point(Math.floor((event.offsetX / canvas.clientWidth) * this.lanes[0].values.length)),
      );
      canvas.addEventListener('pointerleave', () => this.#point(null));
    }
    this.#say();
  }

  /** @param {number | null} at */
  #point(at) {
    if (at === this.#at) return;
    this.#at = at === null ? null : Math.max(0, Math.min(this.lanes[0].values.length - 1, at));
    this.#say();
    this.#drawSoon();
  }

  #say() {
    const at = this.#at;
    if (at === null) return this.#readout.replaceChildren(this.hint);
    this.#readout.replaceChildren(
      `entry ${at}: `,
      ...this.lanes.flatMap((lane, i) => [
        i === 0 ? '' : i === this.lanes.length - 1 ? ' = ' : ' × ',
        num(lane.values[at], lane.term),
      ]),
    );
  }

  /** With the next picture, when the page has been laid out once for everything that changed. */
  #drawSoon() {
    this.#soon ||= requestAnimationFrame(() => this.#draw());
  }

  #draw() {
    cancelAnimationFrame(this.#soon);
    this.#soon = 0;
    // All is read before anything is drawn: a canvas that changes its size lays the page out anew.
    const widths = this.#canvases.map((canvas) => canvas.clientWidth);
    const style = getComputedStyle(document.documentElement);
    const line = style.getPropertyValue('--line');
    const inks = this.lanes.map(({ term }) => style.getPropertyValue(`--${term}`));
    this.lanes.forEach((lane, i) => drawLane(this.#canvases[i], lane, this.#at, widths[i], inks[i], line));
  }
}

/**
 * @param {Lane[]} lanes  all of one length
 * @param {string} [hint] shown while nothing is pointed at
 */
export function dimStrips(lanes, hint = '') {
  const element = /** @type {DimStrips} */ (document.createElement('dim-strips'));
  return Object.assign(element, { lanes, hint });
}

/**
 * @param {HTMLCanvasElement} canvas
 * @param {Lane} lane
 * @param {number | null} at
 * @param {number} width
 * @param {string} ink
 * @param {string} line
 */
function drawLane(canvas, lane, at, width, ink, line) {
  const ctx = canvas.getContext('2d');
  if (!ctx || width === 0) return;
  canvas.width = Math.round(width * devicePixelRatio);
  canvas.height = Math.round(HEIGHT * devicePixelRatio);
  ctx.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
  const most = Math.max(1e-12, ...lane.values.map(Math.abs));
  const step = width / lane.values.length;
  ctx.fillStyle = line;
  ctx.fillRect(0, HEIGHT / 2 - 0.5, width, 1);
  if (at !== null) ctx.fillRect(at * step, 0, step, HEIGHT);
  ctx.fillStyle = ink;
  lane.values.forEach((value, i) => {
    const tall = (value / most) * (HEIGHT / 2 - 1);
    ctx.fillRect(
      i * step + step * 0.12,
      HEIGHT / 2 - Math.max(0, tall),
      Math.max(1, step * 0.76),
      Math.max(0.75, Math.abs(tall)),
    );
  });
}

customElements.define('dim-strips', DimStrips);
