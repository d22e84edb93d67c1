// The heat map: a canvas, the camera over it, and the tiles that the camera sees.

/** @import { Span } from '../api.js' */
/** @import { Meta, Site, Token } from '../contract.js' */
/** @import { Camera, Place } from '../map-camera.js' */
/** @import { Frame } from '../map-geometry.js' */
/** @import { Plan } from '../map-levels.js' */
/** @import { Layer } from '../map-painter.js' */
/** @import { Look } from '../map-picture.js' */
/** @import { Rows } from '../map-rows.js' */
/** @import { Shown } from '../map-shown.js' */
/** @import { Spot, State } from '../store.js' */
/** @import { Tile } from '../tiles.js' */
import { choose, dressMap, headRef, siteOf } from '../actions.js';
import { h } from '../dom.js';
import {
  cameraAt,
  cellAt,
  further,
  held,
  isWhole,
  placeOf,
  pointOf,
  rest,
  reveal,
  seen,
  stops,
  whole,
  zoomed,
} from '../map-camera.js';
import { canvasHeight, canvasWidth, layOut } from '../map-geometry.js';
import { listenToHands } from '../map-gestures.js';
import { listenToMapKeys } from '../map-keys.js';
import { columnsOf, joined, parts, toggled } from '../map-left-out.js';
import { blockAt, levelOf, overview, tilesOf } from '../map-levels.js';
import { Motion } from '../map-motion.js';
import { LONGEST, NUMBERED, widestName } from '../map-names.js';
import { paint } from '../map-painter.js';
import { lastPictureOf, pictureOf } from '../map-picture.js';
import { strongest } from '../map-probe.js';
import { largest } from '../map-range.js';
import { rowsOf } from '../map-rows.js';
import { partWords } from '../map-shown.js';
import { defaultScale, SCALES } from '../scales.js';
import { announce, say } from '../speech.js';
import { get, set } from '../store.js';
import { themeInks } from '../theme-inks.js';
import { known, retry, want } from '../tiles.js';
import { MapMinimap } from './map-minimap.js';
import { Part } from './part.js';

/** Milliseconds of one frame that may go into colouring tiles. */
const COLOURING = 8;
/** After a double click on the whole map a cell has this side. */
const READABLE = 16;

export class AttentionMap extends Part {
  #canvas = h('canvas', {
    role: 'application',
    tabindex: '0',
    'aria-roledescription': 'heat map',
    'data-focus': 'map',
  });
  #minimap = new MapMinimap();
  #window = h('div', { class: 'window' }, this.#canvas, this.#minimap);
  #trouble = h('p', { class: 'trouble', role: 'alert', hidden: true });
  #wait = h('p', { class: 'wait note', hidden: true }, 'Fetching the map…');
  #zoomOut = zoomButton('−', 'Zoom out', '−', () => this.#zoomBy(-1));
  #zoomIn = zoomButton('+', 'Zoom in', '+', () => this.#zoomBy(1));
  #fit = zoomButton('⤢', 'Show the whole map', 'f', () => this.#showWhole());
  /** @type {Frame | null} */
  #f = null;
  #motion = new Motion({ cell: 1, x: 0, y: 0 });
  /** Which way a zoom under way goes. */
  #way = 0;
  /** The place last written into the address by this map. @type {Place | null} */
  #written = null;
  #writing = 0;
  /** Someone did something on the page: until then a link decides which part is in view. */
  #touched = false;
  /** The cell chosen last by a click here, which is in sight. */
  #clicked = '';
  /** Where the pointer is. @type {{x: number, y: number} | null} */
  #pointer = null;
  /** The block under the pointer. @type {Span | null} */
  #block = null;
  /** The last picture stays up until the next head's is here. @type {{of: string, layers: Layer[]} | null} */
  #last = null;
  /** The last known end of the scale. */
  #top = 1;
  #drawing = false;
  #gliding = 0;

  begin() {
    this.#minimap.go = (query, key) => this.#centre(query, key);
    this.replaceChildren(
      h(
        'p',
        { class: 'axis axis-k', 'data-term': 'k' },
        h('span', { class: 't-k' }, 'key'),
        ' columns: who is looked at →',
      ),
      h('p', { class: 'axis axis-q', 'data-term': 'q' }, h('span', { class: 't-q' }, 'query'), ' rows: who looks', h('span', { class: 'way' }, ' →')),
      this.#window,
      this.#wait,
      h('div', { class: 'zoom', role: 'group', 'aria-label': 'Zoom' }, this.#zoomOut, this.#zoomIn, this.#fit),
      this.#trouble,
    );
    const resize = new ResizeObserver(() => this.#resized());
    resize.observe(this);
    this.until(() => resize.disconnect());
    for (const name of ['keydown', 'pointerdown'])
      document.addEventListener(name, () => (this.#touched = true), { capture: true, once: true });
    listenToHands(this.#canvas, {
      zoom: (factor, x, y) => this.#zoomTo(this.#motion.to.cell * factor, x, y, true),
      zoomed: () => this.#settle(),
      move: (dx, dy) => this.#move(dx, dy),
      let: (vx, vy) => this.#let(vx, vy),
      point: (x, y) => this.#point(x, y),
      leave: () => this.#leave(),
      choose: (x, y) => this.#choose(x, y),
      twice: (x, y) => this.#twice(x, y),
      whole: () => !this.#f || isWhole(this.#f, this.#motion.to),
    });
    this.until(
      listenToMapKeys(this.#canvas, {
        zoom: (by) => this.#zoomBy(by),
        fit: () => this.#showWhole(),
        leap: (down, right) => leap(down, right),
        leaveOut: () => leaveOutColumn(),
      }),
    );
    this.watch(
      (s) => [s.trace.value, s.view.site, s.view.layer],
      () => this.#resized(),
    );
    this.watch(
      (s) => [s.view.place],
      (place) => place !== this.#written && this.#goTo(place),
    );
    this.watch(
      (s) => [s.view.query, s.view.key],
      (query, key) => this.#touched && `${query} ${key}` !== this.#clicked && this.#follow(),
    );
    this.watch(
      (s) => [s.view, s.hover, s.theme, s.tiles, s.lit],
      () => this.#drawSoon(),
    );
    this.watch(
      (s) => [s.cell.value, s.cell.busy],
      (cell, busy) => announce(cell, busy),
    );
  }

  /** Where the cells are, for those that want to point at one. */
  get geometry() {
    const f = this.#f;
    if (!f) return null;
    const { cell, x, y } = this.#motion.to;
    return { rows: f.rows, columns: f.columns, cell, left: f.left, top: f.top, x, y };
  }

  /** The map's shape or its room is another one. */
  #resized() {
    const { trace, view } = get();
    const site = trace.value && siteOf(trace.value, view);
    const ctx = this.#canvas.getContext('2d');
    if (!site || !ctx || !trace.value || this.clientWidth === 0) return this.#drawSoon();
    const { font, nameSize } = themeInks();
    const narrow = this.clientWidth < 480;
    const most = narrow ? 44 : LONGEST;
    const numbered = site.kv_len >= NUMBERED ? `${site.kv_len} ` : '';
    ctx.font = `${nameSize}px ${font}`;
    const number = Math.ceil(ctx.measureText(numbered).width);
    const name = widestName(ctx, trace.value.tokens, ctx.font, most) + number + 2;
    const before = this.#f;
    const f = layOut({
      rows: site.q_len,
      columns: site.kv_len,
      // Without the axis name at the side, where it stands there.
      width: Math.max(200, this.clientWidth - this.#window.offsetLeft),
      height: Math.max(260, Math.min(innerHeight * 0.74, 1100)),
      ratio: devicePixelRatio,
      rowName: name,
      columnName: name,
    });
    this.#f = f;
    const [width, height] = [canvasWidth(f), canvasHeight(f)];
    Object.assign(this.#window.style, { width: `${width}px`, height: `${height}px` });
    this.#canvas.setAttribute('aria-label', labelOf(site));
    if (before?.rows === f.rows && before.columns === f.columns) {
      // The same part as before, as large as the room now allows.
      const at = placeOf(before, this.#motion.to);
      this.#motion.jump(cameraAt(f, at));
    } else this.#otherMap(f, before !== null);
    this.#drawSoon();
  }

  /** Another text: what was in view of the last one means nothing now. @param {Frame} f @param {boolean} again */
  #otherMap(f, again) {
    const { place, leftOut } = get().view;
    const stays = !again || place !== this.#written;
    this.#motion.jump(stays ? cameraAt(f, place) : whole(f));
    this.#clicked = '';
    this.#last = null;
    this.#leave();
    if (stays) return;
    this.#written = null;
    dressMap({ place: null, leftOut: joined(parts(leftOut).filter((part) => !/^\d/.test(part))) });
  }

  /** @param {Place | null} place */
  #goTo(place) {
    if (!this.#f) return;
    this.#written = place;
    this.#motion.glide(cameraAt(this.#f, place));
    this.#drawSoon();
  }

  /** Brings the chosen cell into view. */
  #follow() {
    const { query, key } = get().view;
    if (!this.#f || query === null || key === null) return;
    const to = reveal(this.#f, this.#motion.to, { query, key });
    if (to.x === this.#motion.to.x && to.y === this.#motion.to.y) return;
    this.#motion.glide(to);
    this.#moved();
  }

  /** @param {number} dx @param {number} dy */
  #move(dx, dy) {
    if (!this.#f) return;
    cancelAnimationFrame(this.#gliding);
    const { cell, x, y } = this.#motion.to;
    this.#motion.jump(held(this.#f, { cell, x: x + dx, y: y + dy }));
    this.#moved();
  }

  /** Let go in motion it comes to rest by itself. @param {number} vx @param {number} vy */
  #let(vx, vy) {
    if (matchMedia('(prefers-reduced-motion: reduce)').matches) return;
    let [x, y, last] = [vx, vy, performance.now()];
    const roll = (/** @type {number} */ now) => {
      const passed = Math.max(0, Math.min(50, now - last));
      last = now;
      if (Math.hypot(x, y) < 0.03) return;
      const { cell, x: left, y: top } = this.#motion.to;
      if (this.#f) this.#motion.jump(held(this.#f, { cell, x: left + x * passed, y: top + y * passed }));
      this.#moved();
      const slower = Math.exp(-passed / 160);
      [x, y] = [x * slower, y * slower];
      this.#gliding = requestAnimationFrame(roll);
    };
    this.#gliding = requestAnimationFrame(roll);
  }

  /**
   * @param {number} cell
   * @param {number} x
   * @param {number} y
   * @param {boolean} [under]  a hand is at it: no stop yet
   */
  #zoomTo(cell, x, y, under = false) {
    const f = this.#f;
    if (!f) return;
    cancelAnimationFrame(this.#gliding);
    const from = this.#motion.to;
    this.#way = cell > from.cell ? 1 : -1;
    this.#about = { x, y };
    this.#motion.glide(zoomed(f, from, cell, x, y));
    this.#block = null;
    hover(null);
    // What is under the pointer when it rests is told then.
    if (!under && this.#pointer) this.#point(this.#pointer.x, this.#pointer.y);
    this.#moved();
  }

  /** The point that the zoom under way leaves where it is. */
  #about = { x: 0, y: 0 };

  /** After a zoom by hand: to the next size at which pixels and cells agree. */
  #settle() {
    const f = this.#f;
    if (!f || this.#way === 0) return;
    const to = rest(f, this.#motion.to.cell, this.#way);
    this.#motion.glide(zoomed(f, this.#motion.to, to, this.#about.x, this.#about.y));
    this.#way = 0;
    if (this.#pointer) this.#point(this.#pointer.x, this.#pointer.y);
    this.#moved();
  }

  /** By a button or a key: about the chosen cell where it is in view, else about the middle. @param {number} by */
  #zoomBy(by) {
    const f = this.#f;
    if (!f) return;
    const { query, key } = get().view;
    const c = this.#motion.to;
    const middle = { x: f.left + f.width / 2, y: f.top + f.height / 2 };
    const at = query !== null && key !== null ? pointOf(f, c, { query, key }) : middle;
    const inside = at.x >= f.left && at.x <= f.left + f.width && at.y >= f.top && at.y <= f.top + f.height;
    const { x, y } = inside ? at : middle;
    this.#zoomTo(further(f, c.cell, by), x, y);
    this.#way = 0;
    this.#sayPart();
  }

  #showWhole() {
    if (!this.#f) return;
    cancelAnimationFrame(this.#gliding);
    this.#motion.glide(whole(this.#f));
    this.#moved();
    this.#sayPart();
  }

  /** @param {number} query @param {number} key */
  #centre(query, key) {
    const f = this.#f;
    if (!f) return;
    const { cell } = this.#motion.to;
    this.#motion.jump(held(f, { cell, x: key * cell - f.width / 2, y: query * cell - f.height / 2 }));
    this.#moved();
  }

  #sayPart() {
    const f = this.#f;
    if (!f) return;
    const c = this.#motion.to;
    const site = { rows: f.rows, columns: f.columns };
    say(partWords({ .../** @type {Shown} */ ({}), ...site, part: seen(f, c), whole: isWhole(f, c) }));
  }

  /** The camera goes elsewhere: draw it, and write it into the address when it has come to rest. */
  #moved() {
    this.#drawSoon();
    clearTimeout(this.#writing);
    this.#writing = window.setTimeout(() => {
      if (!this.#f) return;
      this.#written = placeOf(this.#f, this.#motion.to);
      if (this.#written || get().view.place) dressMap({ place: this.#written });
    }, 250);
  }

  /** @param {number} x @param {number} y */
  #point(x, y) {
    const f = this.#f;
    const spot = f && cellAt(f, this.#motion.to, x, y);
    if (!f || !spot) return this.#leave();
    this.#pointer = { x, y };
    const block = this.#blockAt(spot);
    if (!block) {
      this.#block = null;
      return hover(spot);
    }
    const same = this.#block && block.q0 === this.#block.q0 && block.k0 === this.#block.k0;
    if (same) return;
    this.#block = block;
    hover(spot, block);
    this.#drawSoon();
    // Not for every pixel that the pointer crosses.
    setTimeout(async () => {
      if (this.#block !== block) return;
      const cell = await strongest(headRef(), block).catch(() => null);
      if (cell && this.#block === block) hover(cell, block);
    }, 40);
  }

  #leave() {
    this.#pointer = this.#block = null;
    hover(null);
    this.#drawSoon();
  }

  /** The cells behind the pixel in which one lies, or null where that is the cell alone. @param {Spot} spot */
  #blockAt(spot) {
    const f = this.#f;
    if (!f) return null;
    const level = levelOf(f, this.#motion.to.cell);
    if (level.kind === 'exact') return null;
    const one = { q0: spot.query, q1: spot.query + 1, k0: spot.key, k1: spot.key + 1 };
    for (const plan of tilesOf(f, level, one)) {
      const found = blockAt(plan, spot.query, spot.key);
      if (found) return found.span;
    }
    return null;
  }

  /** @param {number} x @param {number} y */
  async #choose(x, y) {
    this.#canvas.focus({ preventScroll: true });
    const f = this.#f;
    const spot = f && cellAt(f, this.#motion.now, x, y);
    if (!f || !spot) return;
    const block = this.#blockAt(spot);
    const found = block && (await strongest(headRef(), block).catch(() => null));
    const cell = found && found.weight >= 0 ? found : spot;
    this.#clicked = `${cell.query} ${cell.key}`;
    choose({ query: cell.query, key: cell.key });
  }

  /** @param {number} x @param {number} y */
  #twice(x, y) {
    const f = this.#f;
    if (!f) return;
    if (!isWhole(f, this.#motion.to) || f.fit >= READABLE) return this.#showWhole();
    this.#zoomTo(rest(f, READABLE, -1), x, y);
    this.#way = 0;
    this.#sayPart();
  }

  #drawSoon() {
    if (this.#drawing) return;
    this.#drawing = true;
    requestAnimationFrame(() => {
      this.#drawing = false;
      this.#draw();
    });
  }

  #draw() {
    const state = get();
    const meta = state.trace.value;
    const f = this.#f;
    const ctx = this.#canvas.getContext('2d');
    this.toggleAttribute('data-empty', !meta);
    if (!meta || !f || !ctx || !this.checkVisibility()) return;
    if (this.#motion.step()) this.#drawSoon();
    const [c, to] = [this.#motion.now, this.#motion.to];
    const { view } = state;
    const leftOut = columnsOf(view.leftOut, meta.tokens);
    const look = this.#look(state, meta, f, leftOut);
    const { here, sharp, minimap } = this.#tiles(f, to, look, leftOut);
    const shape = `${meta.source} ${f.rows} ${f.columns}`;
    const old = here.length === 0 && this.#last?.of === shape ? this.#last.layers : null;
    if (here.length > 0) this.#last = { of: shape, layers: here };
    this.classList.toggle('stale', old !== null && !state.tiles.error);
    this.toggleAttribute('data-sharp', sharp && c === to);
    this.#wait.hidden = here.length > 0 || old !== null || state.tiles.error !== null;
    fitCanvas(this.#canvas, ctx, f);
    const inks = themeInks();
    /** @type {Token[]} */
    const names = meta.tokens;
    const chosen = view.query === null || view.key === null ? null : { query: view.query, key: view.key };
    paint(ctx, {
      f,
      c,
      part: seen(f, c),
      layers: old ?? here,
      look,
      queries: names,
      keys: names,
      chosen,
      hover: state.hover,
      block: this.#block,
      leftOut,
      lit: state.lit,
      ...inks,
    });
    const all = isWhole(f, to);
    this.#minimap.hidden = all || minimap.length === 0;
    if (!all) this.#minimap.paint(f, c, minimap, inks.inks, chosen);
    this.#canvas.classList.toggle('whole', all);
    const sizes = stops(f);
    this.#zoomOut.disabled = this.#fit.disabled = all;
    this.#zoomIn.disabled = to.cell >= sizes[sizes.length - 1] * 0.999;
    this.#tell(f, to, look, sharp, leftOut);
    this.#say(state.tiles.error);
  }

  /**
   * @param {State} state
   * @param {Meta} meta
   * @param {Frame} f
   * @param {number[]} leftOut
   * @returns {Look}
   */
  #look({ view, theme }, meta, f, leftOut) {
    const scale = view.scale ?? defaultScale(meta.kind);
    const palette = view.palette ?? 'amber';
    const pooling = view.blocks === 'mean' ? 'mean' : 'most';
    this.#known = true;
    if (SCALES[scale].rows || (leftOut.length === 0 && view.range === null)) this.#top = 1;
    else {
      const top = largest(headRef(), f, leftOut);
      this.#known = top !== null;
      this.#top = top ?? this.#top;
    }
    return { scale, top: this.#top, theme, palette, pooling };
  }

  /** The end of the scale is known. */
  #known = true;

  /**
   * What is here of what is wanted, in the order of drawing.
   * @param {Frame} f
   * @param {Camera} to
   * @param {Look} look
   * @param {number[]} leftOut
   * @returns {{here: Layer[], sharp: boolean, minimap: Layer[]}}
   */
  #tiles(f, to, look, leftOut) {
    const ref = headRef();
    const level = levelOf(f, to.cell);
    const part = seen(f, to);
    const inView = tilesOf(f, level, part);
    // Rows are compared with themselves, so all of each is needed.
    const beside = SCALES[look.scale].rows ? tilesOf(f, level, { ...part, k0: 0, k1: f.columns }) : [];
    const all = isWhole(f, to) ? [] : tilesOf(f, overview(f), { q0: 0, q1: f.rows, k0: 0, k1: f.columns });
    const plans = [...new Map([...inView, ...beside, ...all].map((plan) => [plan.name, plan])).values()];
    const got = want(ref, plans);
    /** @type {Map<string, Tile>} */
    const there = new Map();
    plans.forEach((plan, i) => got[i] && there.set(plan.name, got[i]));
    const end = performance.now() + COLOURING;
    let finished = true;
    /** @param {Tile} tile @param {boolean} wanted @returns {Layer | null} */
    const layer = (tile, wanted) => {
      const rows = rowsFor(tile, plans, there, look, leftOut);
      const ready = rows !== null || !SCALES[look.scale].rows;
      if (wanted && ready && performance.now() < end) return { tile, canvas: pictureOf(tile, look, rows), rows };
      const canvas = lastPictureOf(tile);
      if (wanted && ready && !canvas) finished = false;
      if (wanted && !ready) finished = false;
      if (wanted && ready) this.#drawSoon();
      return canvas && canvas.width > 0 ? { tile, canvas, rows } : null;
    };
    const exact = new Set(inView.map((plan) => plan.name));
    const whole = new Set(all.map((plan) => plan.name));
    // From coarse to fine, and last the level that belongs to this size of cells.
    const under = known(ref)
      .filter((tile) => !exact.has(tile.plan.name))
      .sort((a, b) => b.plan.level.block - a.plan.level.block)
      .map((tile) => layer(tile, whole.has(tile.plan.name)))
      .filter((l) => l !== null);
    const over = inView
      .map((plan) => there.get(plan.name))
      .map((tile) => (tile ? layer(tile, true) : null))
      .filter((l) => l !== null);
    return {
      here: [...under, ...over],
      sharp: finished && this.#known && over.length === inView.length,
      minimap: [...under, ...over].filter((l) => whole.has(l.tile.plan.name)),
    };
  }

  /** Says what is shown, when that is something else. @param {Frame} f @param {Camera} to @param {Look} look @param {boolean} sharp @param {number[]} leftOut */
  #tell(f, to, look, sharp, leftOut) {
    /** @type {Shown} */
    const shown = {
      level: levelOf(f, to.cell),
      sharp,
      part: seen(f, to),
      whole: isWhole(f, to),
      cell: to.cell,
      top: this.#known ? look.top : null,
      leftOut,
      rows: f.rows,
      columns: f.columns,
      pools: overview(f).kind !== 'exact',
    };
    if (JSON.stringify(shown) !== JSON.stringify(get().shown)) set({ shown });
  }

  /** @param {string | null} error */
  #say(error) {
    if (this.#trouble.hidden === (error === null)) return;
    this.#trouble.hidden = error === null;
    if (error)
      this.#trouble.replaceChildren(
        error,
        ' ',
        h('button', { type: 'button', class: 'quiet', onclick: retry }, 'Try again'),
      );
  }
}

/**
 * @param {Tile} tile
 * @param {Plan[]} plans
 * @param {Map<string, Tile>} there
 * @param {Look} look
 * @param {number[]} leftOut
 * @returns {Rows | null}
 */
function rowsFor(tile, plans, there, look, leftOut) {
  if (look.scale !== 'row' && look.scale !== 'rank') return null;
  const { level, span } = tile.plan;
  const side = plans.filter((plan) => plan.level.kind === level.kind && plan.level.block === level.block && plan.span.q0 === span.q0);
  const row = side.map((plan) => there.get(plan.name)).filter((one) => one !== undefined);
  if (row.length === 0 || row.length < side.length) return null;
  return rowsOf(row.sort((a, b) => a.plan.span.k0 - b.plan.span.k0), look.scale, look.pooling, leftOut);
}

/**
 * The strongest cell of a block stands for it, once it is known.
 * @param {Spot | null} spot
 * @param {Span} [block]
 */
function hover(spot, block) {
  const now = get().hover;
  if (now === spot || (!block && now && spot && now.query === spot.query && now.key === spot.key)) return;
  set({ hover: spot && (block ? { ...spot, block } : spot) });
}

/** @param {number} down @param {number} right */
function leap(down, right) {
  const { query, key } = get().view;
  choose({ query: Math.max(0, (query ?? 0) + down), key: Math.max(0, (key ?? 0) + right) });
}

function leaveOutColumn() {
  const { key, leftOut } = get().view;
  if (key === null) return;
  dressMap({ leftOut: toggled(leftOut, String(key)) });
  const out = parts(get().view.leftOut).includes(String(key));
  say(`Column ${key} is ${out ? 'left out of' : 'back in'} the colour scale`);
}

/** @param {string} sign @param {string} name @param {string} key @param {() => void} press */
const zoomButton = (sign, name, key, press) =>
  h(
    'button',
    { type: 'button', class: 'arrow', 'aria-label': name, title: `${name} (key ${key})`, onclick: press },
    sign,
  );

/** @param {Site} site */
function labelOf(site) {
  return `Attention map of layer ${site.layer}: ${site.q_len} query rows by ${site.kv_len} key columns. Arrow keys move the cell, with Shift by ten; the calculation follows. Plus and minus zoom, f shows the whole, x leaves the column out of the colour scale.`;
}

/**
 * @param {HTMLCanvasElement} canvas
 * @param {CanvasRenderingContext2D} ctx
 * @param {Frame} f
 */
function fitCanvas(canvas, ctx, f) {
  const [width, height] = [canvasWidth(f), canvasHeight(f)];
  const [w, t] = [Math.round(width * f.ratio), Math.round(height * f.ratio)];
  if (canvas.width !== w || canvas.height !== t) {
    Object.assign(canvas, { width: w, height: t });
    Object.assign(canvas.style, { width: `${width}px`, height: `${height}px` });
  }
  ctx.setTransform(f.ratio, 0, 0, f.ratio, 0, 0);
}

customElements.define('attention-map', AttentionMap);
