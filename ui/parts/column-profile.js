// The column as it stands, from the first query to the last, as bars.

/** @import { Column } from '../contract.js' */
import { h } from '../dom.js';
import { show } from '../numbers.js';
import { themeInks } from '../theme-inks.js';
import { Part } from './part.js';

export class ColumnProfile extends Part {
  /** @type {Column | null} */
  column = null;
  /** @type {number | null} */
  query = null;
  #canvas = h('canvas', { class: 'profile', role: 'img' });
  #size = { width: 0, height: 0 };
  #soon = 0;

  begin() {
    this.replaceChildren(this.#canvas);
    // So the size is known without asking, which would lay the page out once more.
    const resize = new ResizeObserver(([{ contentRect }]) => {
      this.#size = contentRect;
      this.#draw();
    });
    resize.observe(this.#canvas);
    this.until(() => resize.disconnect());
    this.until(() => cancelAnimationFrame(this.#soon));
    this.watch(
      (s) => [s.theme],
      () => this.#drawSoon(),
    );
    this.#name();
  }

  /** @param {ColumnProfile} next */
  become({ column, query }) {
    Object.assign(this, { column, query });
    this.#name();
    this.#drawSoon();
  }

  #name() {
    if (!this.column) return;
    const most = this.column.weights.reduce((top, w, i) => (this.column?.mask[i] ? top : Math.max(top, w)), 0);
    this.#canvas.setAttribute(
      'aria-label',
      `The weights of the column from the first query to the last, the largest ${show(most)}`,
    );
  }

  #drawSoon() {
    this.#soon ||= requestAnimationFrame(() => this.#draw());
  }

  #draw() {
    cancelAnimationFrame(this.#soon);
    this.#soon = 0;
    if (this.column && this.#size.width > 0) paint(this.#canvas, this.#size, this.column, this.query);
  }
}

/** @param {Column} column @param {number | null} query */
export function columnProfile(column, query) {
  const element = /** @type {ColumnProfile} */ (document.createElement('column-profile'));
  return Object.assign(element, { column, query });
}

/**
 * @param {HTMLCanvasElement} canvas
 * @param {{width: number, height: number}} size
 * @param {Column} column
 * @param {number | null} query
 */
function paint(canvas, { width, height }, column, query) {
  const ctx = canvas.getContext('2d');
  if (!ctx) return;
  const [w, t] = [Math.round(width * devicePixelRatio), Math.round(height * devicePixelRatio)];
  if (canvas.width !== w || canvas.height !== t) Object.assign(canvas, { width: w, height: t });
  ctx.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
  ctx.clearRect(0, 0, width, height);
  const { inks } = themeInks();
  const n = column.weights.length;
  const visible = (/** @type {number} */ i) => (column.mask[i] ? 0 : column.weights[i]);
  const most = column.weights.reduce((top, _, i) => Math.max(top, visible(i)), 1e-9);
  const step = width / n;
  // Where queries are narrower than pixels, the largest of each pixel.
  const bars = Math.min(n, Math.ceil(width));
  for (let b = 0; b < bars; b++) {
    const from = Math.floor((b * n) / bars);
    const to = Math.max(Math.floor(((b + 1) * n) / bars), from + 1);
    let top = 0;
    let hidden = true;
    for (let i = from; i < to; i++) {
      top = Math.max(top, visible(i));
      hidden &&= column.mask[i] !== null;
    }
    const x = (b * width) / bars;
    const wide = Math.max(0.6, width / bars - (step > 4 ? 1 : 0));
    const tall = hidden ? 3 : Math.max(1, (top / most) * height);
    ctx.fillStyle = hidden ? inks.hatchLine : inks.bar;
    ctx.fillRect(x, height - tall, wide, tall);
  }
  if (query !== null) {
    ctx.fillStyle = inks.q;
    ctx.fillRect((query + 0.5) * step - 1, 0, 2, height);
  }
}

customElements.define('column-profile', ColumnProfile);
