// The cell under the pointer. On a map that is zoomed out it is a block, and its strongest cell
// stands for it.

/** @import { Span } from './api.js' */
/** @import { Spot } from './store.js' */
/** @import { Travel } from './map-travel.js' */
import { choose } from './actions.js';
import { headRef } from './living.js';
import { cellAt } from './map-camera.js';
import { blockAt, levelOf, tilesOf } from './map-levels.js';
import { strongest } from './map-probe.js';
import { get, set } from './store.js';

/** Milliseconds on one block before its cells are asked for. */
const PAUSE = 40;

export class Pointing {
  /** The block under the pointer. @type {Span | null} */
  block = null;
  /** The cell chosen last by a click here, which is in sight. */
  clicked = '';
  /** @type {{x: number, y: number} | null} */
  #pointer = null;
  #travel;

  /** @param {Travel} travel */
  constructor(travel) {
    this.#travel = travel;
  }

  /** @param {number} x @param {number} y */
  point(x, y) {
    const spot = this.#spot(x, y);
    if (!spot) return this.leave();
    this.#pointer = { x, y };
    const block = this.#blockOf(spot);
    if (!block) {
      this.block = null;
      return hover(spot);
    }
    if (this.block && block.q0 === this.block.q0 && block.k0 === this.block.k0) return;
    this.block = block;
    set({ hover: { ...spot, block } });
    // Not for every pixel that the pointer crosses.
    setTimeout(async () => {
      if (this.block !== block) return;
      const cell = await strongest(headRef(), block).catch(() => null);
      if (cell && this.block === block) set({ hover: { ...cell, block } });
    }, PAUSE);
  }

  leave() {
    this.#pointer = this.block = null;
    hover(null);
  }

  /** The map has moved under the pointer. */
  again() {
    this.block = null;
    if (this.#pointer) this.point(this.#pointer.x, this.#pointer.y);
  }

  /** Opens the cell at a point. @param {number} x @param {number} y */
  async choose(x, y) {
    const spot = this.#spot(x, y);
    if (!spot) return;
    const block = this.#blockOf(spot);
    const found = block && !isOneCell(block) ? await strongest(headRef(), block).catch(() => null) : null;
    const { query, key } = found && found.weight >= 0 ? found : spot;
    this.clicked = `${query} ${key}`;
    choose({ query, key });
  }

  /** @param {number} x @param {number} y */
  #spot(x, y) {
    const { frame, to } = this.#travel;
    return frame && cellAt(frame, to, x, y);
  }

  /** The cells behind the pixel in which one lies, or null where that is the cell alone. @param {Spot} spot */
  #blockOf(spot) {
    const { frame, to } = this.#travel;
    if (!frame) return null;
    const level = levelOf(frame, to.cell);
    if (level.kind === 'exact') return null;
    const one = { q0: spot.query, q1: spot.query + 1, k0: spot.key, k1: spot.key + 1 };
    for (const plan of tilesOf(frame, level, one)) {
      const found = blockAt(plan, spot.query, spot.key);
      if (found) return found.span;
    }
    return null;
  }
}

/** @param {Span} block */
const isOneCell = ({ q0, q1, k0, k1 }) => q1 - q0 === 1 && k1 - k0 === 1;

/** @param {Spot | null} spot */
function hover(spot) {
  const now = get().hover;
  const same = now && spot && !now.block && now.query === spot.query && now.key === spot.key;
  if (now !== spot && !same) set({ hover: spot });
}
