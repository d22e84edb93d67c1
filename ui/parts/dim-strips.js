// Long vectors as rows of bars, one bar an entry, with the entry under the pointer written out.

/** @import { Term } from '../store.js' */
import { h } from '../dom.js';
import { num } from '../figures.js';
import { themeInks } from '../theme-inks.js';
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
  /** @type {WeakMap<Element, number>} */
  #widths = new WeakMap();

  /** Other numbers in the same lanes. @param {DimStrips} next */
  become({ lanes, hint }) {
    const same =
      lanes.length === this.lanes.length &&
      lanes.every(({ name, term }, i) => name === this.lanes[i].name && term === this.lanes[i].term);
    Object.assign(this, { lanes, hint });
    if (!same) {
      this.disconnectedCallback();
      return this.begin();
    }
    if (this.#at !== null) this.#at = Math.min(this.#at, lanes[0].values.length - 1);
    this.#name();
    this.#say();
    this.#drawSoon();
  }

  begin() {
    this.#canvases = this.lanes.map(() => h('canvas', { role: 'img' }));
    this.#name();
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
    // So sizes are known without asking, which would lay the page out once more.
    const resize = new ResizeObserver((entries) => {
      for (const { target, contentRect } of entries) this.#widths.set(target, contentRect.width);
      this.#draw();
    });
    for (const canvas of this.#canvases) resize.observe(canvas);
    this.until(() => resize.disconnect());
    this.until(() => cancelAnimationFrame(this.#soon));
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

  #name() {
    this.lanes.forEach(({ name, values }, i) =>
      this.#canvases[i].setAttribute('aria-label', `${name}: ${values.length} entries as bars`),
    );
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
    const { inks } = themeInks();
    this.lanes.forEach((lane, i) => {
      const canvas = this.#canvases[i];
      drawLane(canvas, lane, this.#at, this.#widths.get(canvas) ?? 0, inks[lane.term], inks.line);
    });
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
  const [w, t] = [Math.round(width * devicePixelRatio), Math.round(HEIGHT * devicePixelRatio)];
  // A canvas that changes its size lays the page out anew.
  if (canvas.width !== w || canvas.height !== t) Object.assign(canvas, { width: w, height: t });
  ctx.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
  ctx.clearRect(0, 0, width, HEIGHT);
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
