// The whole map, small, with a frame around the part in view. The frame can be dragged.

/** @import { Camera } from '../map-camera.js' */
/** @import { Frame } from '../map-geometry.js' */
/** @import { Inks, Layer } from '../map-painter.js' */
import { h } from '../dom.js';
import { hatching } from '../map-hatching.js';
import { Part } from './part.js';

/** A frame smaller than this could not be found. */
const LEAST = 6;

export class MapMinimap extends Part {
  #canvas = h('canvas', { 'aria-hidden': 'true' });
  #root = this.attachShadow({ mode: 'closed' });
  #scale = 1;
  /** Goes so that a cell is in the middle. @type {(query: number, key: number) => void} */
  go = () => {};

  begin() {
    // Its picture is its own business: the page has one canvas that is the map.
    this.#root.replaceChildren(this.#canvas);
    const move = (/** @type {PointerEvent} */ event) => {
      if (event.buttons === 0) return;
      const box = this.#canvas.getBoundingClientRect();
      this.go((event.clientY - box.top) / this.#scale, (event.clientX - box.left) / this.#scale);
    };
    this.#canvas.addEventListener('pointerdown', (event) => {
      this.#canvas.setPointerCapture(event.pointerId);
      move(event);
    });
    this.#canvas.addEventListener('pointermove', move);
  }

  /**
   * @param {Frame} f
   * @param {Camera} c
   * @param {Layer[]} layers  of the level that shows the whole
   * @param {Inks} inks
   * @param {{query: number, key: number} | null} chosen
   */
  paint(f, c, layers, inks, chosen) {
    const room = Math.min(f.left - 10, f.top - 10);
    this.#scale = room / Math.max(f.rows, f.columns);
    const [width, height] = [Math.max(2, f.columns * this.#scale), Math.max(2, f.rows * this.#scale)];
    const [w, t] = [Math.round(width * f.ratio), Math.round(height * f.ratio)];
    if (this.#canvas.width !== w || this.#canvas.height !== t) {
      Object.assign(this.#canvas, { width: w, height: t });
      Object.assign(this.#canvas.style, { width: `${width}px`, height: `${height}px` });
    }
    const ctx = this.#canvas.getContext('2d');
    if (!ctx) return;
    ctx.setTransform(f.ratio, 0, 0, f.ratio, 0, 0);
    ctx.fillStyle = inks.hatch;
    ctx.fillRect(0, 0, width, height);
    ctx.fillStyle = hatching(ctx, inks.hatchLine);
    ctx.fillRect(0, 0, width, height);
    const s = this.#scale;
    ctx.imageSmoothingEnabled = true;
    ctx.imageSmoothingQuality = 'medium';
    for (const { tile, canvas } of layers) {
      const { q0, q1, k0, k1 } = tile.plan.place;
      if (canvas.width > 0) ctx.drawImage(canvas, k0 * s, q0 * s, (k1 - k0) * s, (q1 - q0) * s);
    }
    if (chosen) {
      ctx.fillStyle = inks.q;
      ctx.fillRect(0, (chosen.query + 0.5) * s - 0.5, width, 1);
      ctx.fillStyle = inks.k;
      ctx.fillRect((chosen.key + 0.5) * s - 0.5, 0, 1, height);
    }
    const side = (/** @type {number} */ at, /** @type {number} */ room, /** @type {number} */ all) => {
      const [from, long] = [(at / c.cell) * s, Math.min(all, (room / c.cell) * s)];
      const grown = Math.max(LEAST, long);
      return [Math.max(0, Math.min(all - grown, from - (grown - long) / 2)), grown];
    };
    const [[x, wide], [y, high]] = [side(c.x, f.width, width), side(c.y, f.height, height)];
    ctx.strokeStyle = inks.page;
    ctx.lineWidth = 4;
    ctx.strokeRect(x + 1, y + 1, wide - 2, high - 2);
    ctx.strokeStyle = inks.ink;
    ctx.lineWidth = 1.5;
    ctx.strokeRect(x + 1, y + 1, wide - 2, high - 2);
  }
}

customElements.define('map-minimap', MapMinimap);
