// The heat map: a canvas that fills a scrolling window, drawn anew from the tiles at every change.

/** @import { Meta, Site, Token } from '../contract.js' */
/** @import { Geometry } from '../map-geometry.js' */
/** @import { Spot, State } from '../store.js' */
/** @import { Tile } from '../tiles.js' */
/** @import { Scene } from '../map-painter.js' */
import { choose, headRef, siteOf } from '../actions.js';
import { h } from '../dom.js';
import { cellAt, layOut, mapHeight, mapWidth, reveal, seen } from '../map-geometry.js';
import { LONGEST, widestName } from '../map-names.js';
import { paint } from '../map-painter.js';
import { defaultScale } from '../scales.js';
import { get, set } from '../store.js';
import { announce } from '../speech.js';
import { covering, retry, want } from '../tiles.js';
import { themeInks } from '../theme-inks.js';
import { Part } from './part.js';

const ZOOMS = [1, 1.5, 2, 3, 4, 6, 8, 12, 16, 24, 32];

export class AttentionMap extends Part {
  #canvas = h('canvas', {
    role: 'application',
    tabindex: '0',
    'aria-roledescription': 'heat map',
    'data-focus': 'map',
  });
  #extent = h('div', { class: 'extent' }, this.#canvas);
  #window = h('div', { class: 'window', tabindex: '-1' }, this.#extent);
  #trouble = h('p', { class: 'trouble', role: 'alert', hidden: true });
  #wait = h('p', { class: 'wait note', hidden: true }, 'Fetching the map…');
  #zoomOut = zoomButton('−', 'Zoom out', () => this.#zoomBy(-1));
  #zoomIn = zoomButton('+', 'Zoom in', () => this.#zoomBy(1));
  #zoom = 0;
  /** @type {Geometry | null} */
  #g = null;
  /** The last complete picture stays up until the next head's is here. @type {{of: string, tiles: Tile[]} | null} */
  #last = null;
  #drawing = false;

  begin() {
    this.replaceChildren(
      h(
        'p',
        { class: 'axis axis-k', 'data-term': 'k' },
        h('span', { class: 't-k' }, 'key'),
        ' columns: who is looked at →',
      ),
      h('p', { class: 'axis axis-q', 'data-term': 'q' }, h('span', { class: 't-q' }, 'query'), ' rows: who looks →'),
      this.#window,
      this.#wait,
      h('div', { class: 'zoom', role: 'group', 'aria-label': 'Zoom' }, this.#zoomOut, this.#zoomIn),
      this.#trouble,
    );
    const resize = new ResizeObserver(() => this.#resized());
    resize.observe(this);
    this.until(() => resize.disconnect());
    this.#window.addEventListener('scroll', () => this.#drawSoon());
    this.#canvas.addEventListener('click', (event) => this.#clicked(event));
    this.#canvas.addEventListener('pointermove', (event) => set({ hover: this.#spot(event) }));
    this.#canvas.addEventListener('pointerleave', () => set({ hover: null }));
    this.#window.addEventListener('wheel', (event) => this.#wheel(event), { passive: false });
    this.watch(
      (s) => [s.trace.value, s.view.site, s.view.layer],
      () => this.#resized(),
    );
    this.watch(
      (s) => [s.view.query, s.view.key],
      () => this.#follow(),
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
    return this.#g;
  }

  /** The map's shape or its room is another one. */
  #resized() {
    const { trace, view } = get();
    const site = trace.value && siteOf(trace.value, view);
    const ctx = this.#canvas.getContext('2d');
    if (!site || !ctx || !trace.value) return this.#drawSoon();
    const { font, nameSize } = themeInks();
    const small = this.clientWidth < 480;
    const most = small ? 60 : LONGEST;
    const name =
      widestName(ctx, trace.value.tokens, `${nameSize}px ${font}`, most) + (site.kv_len > 60 ? 2.2 * nameSize : 2);
    const room = { width: this.#room(), height: Math.max(260, Math.min(innerHeight * 0.6, 820)) };
    const make = (/** @type {number} */ zoom) =>
      layOut({
        rows: site.q_len,
        columns: site.kv_len,
        ...room,
        zoom,
        ratio: devicePixelRatio,
        rowName: name,
        columnName: name,
      });
    this.#g = make(ZOOMS[this.#zoom]);
    this.#zoomOut.disabled = this.#zoom === 0;
    this.#zoomIn.disabled = make(ZOOMS[ZOOMS.length - 1]).cell <= this.#g.cell;
    const [width, height] = [mapWidth(this.#g), mapHeight(this.#g)];
    Object.assign(this.#extent.style, { width: `${width}px`, height: `${height}px` });
    // Scroll bars need a margin of their own, or each would call for the other.
    const scrolls = width > room.width || height > room.height;
    this.#window.classList.toggle('scrolls', scrolls);
    Object.assign(this.#window.style, {
      width: `${Math.min(width, room.width)}px`,
      height: `${Math.min(height, room.height)}px`,
    });
    this.#canvas.setAttribute('aria-label', labelOf(site));
    this.#follow();
    this.#drawSoon();
  }

  /** Width without the axis name at the side. */
  #room() {
    return Math.max(200, this.clientWidth - 26);
  }

  /** Brings the chosen cell into view. */
  #follow() {
    const { view } = get();
    if (!this.#g || view.query === null || view.key === null) return;
    const to = reveal(this.#g, this.#view(), { query: view.query, key: view.key });
    this.#window.scrollTo(to.x, to.y);
  }

  #view() {
    const w = this.#window;
    return { x: w.scrollLeft, y: w.scrollTop, width: w.clientWidth, height: w.clientHeight };
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
    const g = this.#g;
    const ctx = this.#canvas.getContext('2d');
    this.toggleAttribute('data-empty', !meta);
    if (!meta || !g || !ctx) return;
    const view = this.#view();
    fitCanvas(this.#canvas, ctx, view.width, view.height);
    const part = seen(g, view);
    const wanted = want(headRef(), covering(part, g.rows, g.columns));
    const shape = `${meta.source} ${g.rows} ${g.columns}`;
    if (wanted.complete) this.#last = { of: shape, tiles: wanted.here };
    const old = !wanted.complete && this.#last?.of === shape && wanted.here.length === 0;
    this.classList.toggle('stale', !wanted.complete && !state.tiles.error);
    this.#wait.hidden = wanted.complete || wanted.here.length > 0 || old || state.tiles.error !== null;
    paint(ctx, scene(state, g, view, part, old ? (this.#last?.tiles ?? []) : wanted.here, meta));
    this.#say(state.tiles.error);
  }

  /** @param {string | null} error */
  #say(error) {
    this.#trouble.hidden = error === null;
    if (error)
      this.#trouble.replaceChildren(
        error,
        ' ',
        h('button', { type: 'button', class: 'quiet', onclick: retry }, 'Try again'),
      );
  }

  /** @param {MouseEvent} event */
  #spot(event) {
    if (!this.#g) return null;
    return cellAt(this.#g, this.#view(), event.offsetX, event.offsetY);
  }

  /** @param {MouseEvent} event */
  #clicked(event) {
    const spot = this.#spot(event);
    this.#canvas.focus({ preventScroll: true });
    if (spot) choose(spot);
  }

  /** Ctrl and the wheel zoom about the pointer. @param {WheelEvent} event */
  #wheel(event) {
    if (!event.ctrlKey) return;
    event.preventDefault();
    this.#zoomBy(event.deltaY < 0 ? 1 : -1, this.#spot(event), event);
  }

  /**
   * @param {number} by
   * @param {Spot | null} [about]  keeps its place on the screen; the chosen cell where there is none
   * @param {WheelEvent} [event]
   * @returns {void}
   */
  #zoomBy(by, about, event) {
    const next = Math.max(0, Math.min(ZOOMS.length - 1, this.#zoom + by));
    if (next === this.#zoom) return;
    const before = this.#g?.cell;
    this.#zoom = next;
    this.#resized();
    const g = this.#g;
    if (!g) return;
    // Cells are whole pixels, so that a small zoom may change nothing: then go on.
    if (g.cell === before) return this.#zoomBy(by, about, event);
    const { query, key } = about ?? get().view;
    const [w, at] = [
      this.#window,
      event ?? { offsetX: (this.#window.clientWidth + g.left) / 2, offsetY: (this.#window.clientHeight + g.top) / 2 },
    ];
    w.scrollTo(((key ?? 0) + 0.5) * g.cell + g.left - at.offsetX, ((query ?? 0) + 0.5) * g.cell + g.top - at.offsetY);
  }
}

/** @param {string} sign @param {string} name @param {() => void} press */
const zoomButton = (sign, name, press) =>
  h(
    'button',
    { type: 'button', class: 'arrow', 'aria-label': name, title: `${name} (Ctrl + wheel)`, onclick: press },
    sign,
  );

/** @param {Site} site */
function labelOf(site) {
  return `Attention map of layer ${site.layer}: ${site.q_len} query rows by ${site.kv_len} key columns. Arrow keys move the cell; the calculation follows.`;
}

/**
 * @param {State} state
 * @param {Geometry} g
 * @param {Scene['window']} window
 * @param {Scene['part']} part
 * @param {Tile[]} tiles
 * @param {Meta} meta
 * @returns {Scene}
 */
function scene(state, g, window, part, tiles, meta) {
  const { view, hover, lit, theme } = state;
  const chosen = view.query === null || view.key === null ? null : { query: view.query, key: view.key };
  /** @type {Token[]} */
  const names = meta.tokens;
  return {
    g,
    window,
    part,
    tiles,
    queries: names,
    keys: names,
    chosen,
    hover,
    lit,
    theme,
    scale: view.scale ?? defaultScale(meta.kind),
    ...themeInks(),
  };
}

/**
 * @param {HTMLCanvasElement} canvas
 * @param {CanvasRenderingContext2D} ctx
 * @param {number} width
 * @param {number} height
 */
function fitCanvas(canvas, ctx, width, height) {
  const [w, t] = [Math.round(width * devicePixelRatio), Math.round(height * devicePixelRatio)];
  if (canvas.width !== w || canvas.height !== t) {
    Object.assign(canvas, { width: w, height: t });
    Object.assign(canvas.style, { width: `${width}px`, height: `${height}px` });
  }
  ctx.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
}

customElements.define('attention-map', AttentionMap);
