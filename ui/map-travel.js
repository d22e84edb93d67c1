// Moves the camera over the map: by hand, by key, to a place in the address, to a cell.

/** @import { Camera, Place } from './map-camera.js' */
/** @import { Frame } from './map-geometry.js' */
/** @import { Spot } from './store.js' */
import {
  cameraAt,
  further,
  held,
  isWhole,
  placeOf,
  pointOf,
  rest,
  reveal,
  stops,
  whole,
  zoomed,
} from './map-camera.js';
import { Motion, still } from './map-motion.js';

/** After a double click on the whole map a cell has this side. */
const READABLE = 16;
/** Milliseconds in which a map that was let go loses most of its speed. */
const ROLL = 160;

export class Travel {
  /** @type {Frame | null} */
  frame = null;
  #motion = new Motion({ cell: 1, x: 0, y: 0 });
  /** Which way a zoom by hand goes; 0 where none is under way. */
  #way = 0;
  /** The point that it leaves where it is. */
  #about = { x: 0, y: 0 };
  #rolling = 0;
  #moved;

  /** @param {() => void} moved  called whenever the camera has another aim */
  constructor(moved) {
    this.#moved = moved;
  }

  /** Where the camera is. @returns {Camera} */
  get now() {
    return this.#motion.now;
  }

  /** Where it is going. @returns {Camera} */
  get to() {
    return this.#motion.to;
  }

  get isWhole() {
    return !this.frame || isWhole(this.frame, this.to);
  }

  get isNearest() {
    const sizes = this.frame ? stops(this.frame) : [];
    return this.to.cell >= (sizes[sizes.length - 1] ?? 0) * 0.999;
  }

  /** As it stands in the address. @returns {Place | null} */
  get place() {
    return this.frame && placeOf(this.frame, this.to);
  }

  /** To be called before each picture. @returns {boolean}  it has not arrived */
  step() {
    return this.#motion.step();
  }

  /** Another shape or size: what was in view stays in view, or what a link says is. @param {Frame} frame @param {Place | null} place */
  settleIn(frame, place) {
    this.frame = frame;
    this.#motion.jump(cameraAt(frame, place));
  }

  /** @param {Place | null} place */
  goTo(place) {
    if (this.frame) this.#aim(cameraAt(this.frame, place));
  }

  /** Brings a cell into view. @param {Spot} spot */
  show(spot) {
    if (!this.frame) return;
    const to = reveal(this.frame, this.to, spot);
    if (to.x !== this.to.x || to.y !== this.to.y) this.#aim(to);
  }

  /** @param {number} dx @param {number} dy */
  move(dx, dy) {
    cancelAnimationFrame(this.#rolling);
    this.#shift(dx, dy);
  }

  /** @param {number} dx @param {number} dy */
  #shift(dx, dy) {
    if (!this.frame) return;
    const { cell, x, y } = this.to;
    this.#motion.jump(held(this.frame, { cell, x: x + dx, y: y + dy }));
    this.#moved();
  }

  /** Let go in motion it comes to rest by itself. @param {number} vx @param {number} vy  in pixels a millisecond */
  roll(vx, vy) {
    if (still.matches) return;
    let [x, y, last] = [vx, vy, performance.now()];
    const roll = (/** @type {number} */ now) => {
      const passed = Math.max(0, Math.min(50, now - last));
      last = now;
      if (Math.hypot(x, y) < 0.03) return;
      this.#shift(x * passed, y * passed);
      const slower = Math.exp(-passed / ROLL);
      [x, y] = [x * slower, y * slower];
      this.#rolling = requestAnimationFrame(roll);
    };
    this.#rolling = requestAnimationFrame(roll);
  }

  /** By hand, about a point of the canvas. @param {number} factor @param {number} x @param {number} y */
  zoom(factor, x, y) {
    this.#way = factor > 1 ? 1 : -1;
    this.#about = { x, y };
    this.#zoomTo(this.to.cell * factor, x, y);
  }

  /** The hand is done: on to the next size at which pixels and cells agree. */
  settle() {
    if (!this.frame || this.#way === 0) return;
    const cell = rest(this.frame, this.to.cell, this.#way);
    this.#way = 0;
    this.#zoomTo(cell, this.#about.x, this.#about.y);
  }

  /** By a button or a key: about a cell where it is in view, else about the middle. @param {number} by @param {Spot | null} spot */
  stepZoom(by, spot) {
    const f = this.frame;
    if (!f) return;
    const middle = { x: f.left + f.width / 2, y: f.top + f.height / 2 };
    const at = spot ? pointOf(f, this.to, spot) : middle;
    const inside = at.x >= f.left && at.x <= f.left + f.width && at.y >= f.top && at.y <= f.top + f.height;
    const { x, y } = inside ? at : middle;
    this.#zoomTo(further(f, this.to.cell, by), x, y);
  }

  /** All of it; or where that is in view already and its names have no room, in to where they have. @param {number} x @param {number} y */
  turn(x, y) {
    if (!this.frame) return;
    if (!this.isWhole || this.frame.fit >= READABLE) this.showAll();
    else this.#zoomTo(rest(this.frame, READABLE, -1), x, y);
  }

  showAll() {
    if (this.frame) this.#aim(whole(this.frame));
  }

  /** A cell in the middle. @param {number} query @param {number} key */
  centre(query, key) {
    const f = this.frame;
    if (!f) return;
    const { cell, x, y } = this.to;
    this.move(key * cell - f.width / 2 - x, query * cell - f.height / 2 - y);
  }

  /** @param {number} cell @param {number} x @param {number} y */
  #zoomTo(cell, x, y) {
    if (this.frame) this.#aim(zoomed(this.frame, this.to, cell, x, y));
  }

  /** @param {Camera} to */
  #aim(to) {
    cancelAnimationFrame(this.#rolling);
    this.#motion.glide(to);
    this.#moved();
  }
}
