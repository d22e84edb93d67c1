// How the camera gets from where it is to where it should be: at once under a finger, and else in a
// short glide that keeps what lies under the pointer there.

/** @import { Camera } from './map-camera.js' */

/** Milliseconds. */
const GLIDE = 160;

export const still = matchMedia('(prefers-reduced-motion: reduce)');

export class Motion {
  /** Where it is. @type {Camera} */
  now;
  /** Where it goes. @type {Camera} */
  to;
  /** @type {Camera} */
  #from;
  #since = 0;

  /** @param {Camera} camera */
  constructor(camera) {
    this.now = this.to = this.#from = camera;
  }

  /** @param {Camera} camera */
  jump(camera) {
    this.now = this.to = this.#from = camera;
  }

  /** @param {Camera} camera */
  glide(camera) {
    if (still.matches) return this.jump(camera);
    this.#from = this.now;
    this.to = camera;
    this.#since = performance.now();
  }

  /** To be called before each picture. @returns {boolean}  it has not arrived */
  step() {
    if (this.now === this.to) return false;
    const t = Math.min(1, (performance.now() - this.#since) / GLIDE);
    if (t >= 1) {
      this.now = this.to;
      return false;
    }
    const { to } = this;
    const from = this.#from;
    const eased = 1 - (1 - t) ** 3;
    const cell = from.cell * (to.cell / from.cell) ** eased;
    // Linear in the size of a cell, so that the fixed point of the zoom is fixed all the way.
    const part = to.cell === from.cell ? eased : (cell - from.cell) / (to.cell - from.cell);
    this.now = { cell, x: from.x + (to.x - from.x) * part, y: from.y + (to.y - from.y) * part };
    return true;
  }
}
