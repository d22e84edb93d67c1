// The heat map: a canvas, the camera over it, and the tiles that the camera sees.

/** @import { Meta, Site } from '../contract.js' */
/** @import { Place } from '../map-camera.js' */
/** @import { Frame } from '../map-geometry.js' */
/** @import { Layer } from '../map-painter.js' */
/** @import { Look } from '../map-picture.js' */
/** @import { Shown } from '../map-shown.js' */
/** @import { Spot, State } from '../store.js' */
import { choose, dressMap } from '../actions.js';
import { keysOf, queriesOf, siteOf } from '../axes.js';
import { h } from '../dom.js';
import { headRef } from '../living.js';
import { placeOf, seen } from '../map-camera.js';
import { canvasHeight, canvasWidth, layOut } from '../map-geometry.js';
import { listenToHands } from '../map-gestures.js';
import { listenToMapKeys } from '../map-keys.js';
import { gather } from '../map-layers.js';
import { columnsOf, joined, parts, toggled } from '../map-left-out.js';
import { levelOf, overview } from '../map-levels.js';
import { LONGEST, NUMBERED, widestName } from '../map-names.js';
import { paint } from '../map-painter.js';
import { Pointing } from '../map-pointing.js';
import { largest } from '../map-range.js';
import { partWords } from '../map-shown.js';
import { Travel } from '../map-travel.js';
import { defaultScale, SCALES } from '../scales.js';
import { announce, say } from '../speech.js';
import { get, set } from '../store.js';
import { themeInks } from '../theme-inks.js';
import { retry } from '../tiles.js';
import { MapMinimap } from './map-minimap.js';
import { Part } from './part.js';

/** Milliseconds of rest before the part in view is written into the address. */
const REST = 250;

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
  #fit = zoomButton('⤢', 'Show the whole map', 'f', () => this.#showAll());
  #travel = new Travel(() => this.#moved());
  #pointing = new Pointing(this.#travel);
  /** The place last written into the address by this map. @type {Place | null} */
  #written = null;
  #writing = 0;
  /** Someone did something on the page: until then a link decides which part is in view. */
  #touched = false;
  /** The last picture stays up until the next head's is here. @type {{of: string, layers: Layer[]} | null} */
  #last = null;
  /** The last known end of the scale. */
  #top = 1;
  #drawing = false;

  begin() {
    this.#minimap.go = (query, key) => this.#travel.centre(query, key);
    this.replaceChildren(
      axis('k', 'key', ' columns: who is looked at →'),
      axis('q', 'query', ' rows: who looks', h('span', { class: 'way' }, ' →')),
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
    this.#listen();
    this.watch(
      (s) => [s.trace.value, s.view.site, s.view.layer],
      () => this.#resized(),
    );
    this.watch(
      (s) => [s.view.place],
      (place) => {
        if (place === this.#written) return;
        this.#written = place;
        this.#travel.goTo(place);
      },
    );
    this.watch(
      (s) => [s.view.query, s.view.key],
      (query, key) => {
        const here = `${query} ${key}` === this.#pointing.clicked;
        if (this.#touched && !here && query !== null && key !== null) this.#travel.show({ query, key });
      },
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

  #listen() {
    const [travel, pointing] = [this.#travel, this.#pointing];
    listenToHands(this.#canvas, {
      zoom: (factor, x, y) => travel.zoom(factor, x, y),
      zoomed: () => travel.settle(),
      move: (dx, dy) => travel.move(dx, dy),
      let: (vx, vy) => travel.roll(vx, vy),
      point: (x, y) => pointing.point(x, y),
      leave: () => pointing.leave(),
      choose: (x, y) => {
        this.#canvas.focus({ preventScroll: true });
        pointing.choose(x, y);
      },
      twice: (x, y) => {
        travel.turn(x, y);
        this.#sayPart();
      },
      whole: () => travel.isWhole,
    });
    this.until(
      listenToMapKeys(this.#canvas, {
        zoom: (by) => this.#zoomBy(by),
        fit: () => this.#showAll(),
        leap,
        leaveOut: leaveOutColumn,
      }),
    );
  }

  /** Where the cells are, for those that want to point at one. */
  get geometry() {
    const { frame: f, to } = this.#travel;
    return f && { rows: f.rows, columns: f.columns, left: f.left, top: f.top, ...to };
  }

  /** @param {number} by */
  #zoomBy(by) {
    this.#travel.stepZoom(by, chosenOf(get()));
    this.#sayPart();
  }

  #showAll() {
    this.#travel.showAll();
    this.#sayPart();
  }

  #sayPart() {
    const { frame: f, to, isWhole: whole } = this.#travel;
    if (f) say(partWords({ part: seen(f, to), whole, rows: f.rows, columns: f.columns }));
  }

  /** The camera goes elsewhere: draw it, and write it into the address when it has come to rest. */
  #moved() {
    this.#pointing.again();
    this.#drawSoon();
    clearTimeout(this.#writing);
    this.#writing = window.setTimeout(() => {
      this.#written = this.#travel.place;
      if (this.#written || get().view.place) dressMap({ place: this.#written });
    }, REST);
  }

  /** The map's shape or its room is another one. */
  #resized() {
    const { trace, view } = get();
    const site = trace.value && siteOf(trace.value, view);
    if (!site || !trace.value || this.clientWidth === 0) return this.#drawSoon();
    const before = this.#travel.frame;
    const f = this.#frame(trace.value, site);
    if (before?.rows === f.rows && before.columns === f.columns)
      this.#travel.settleIn(f, placeOf(before, this.#travel.to));
    else this.#otherMap(f, before !== null);
    const [width, height] = [canvasWidth(f), canvasHeight(f)];
    Object.assign(this.#window.style, { width: `${width}px`, height: `${height}px` });
    this.#canvas.setAttribute('aria-label', labelOf(site));
    this.#drawSoon();
  }

  /** @param {Meta} meta @param {Site} site @returns {Frame} */
  #frame(meta, site) {
    const ctx = /** @type {CanvasRenderingContext2D} */ (this.#canvas.getContext('2d'));
    const { font, nameSize } = themeInks();
    ctx.font = `${nameSize}px ${font}`;
    const number = site.kv_len >= NUMBERED ? Math.ceil(ctx.measureText(`${site.kv_len} `).width) : 0;
    const most = this.clientWidth < 480 ? 44 : LONGEST;
    const both = [queriesOf(meta, site), keysOf(meta, site)];
    const name = Math.max(...both.map((tokens) => widestName(ctx, tokens, ctx.font, most))) + number + 2;
    return layOut({
      rows: site.q_len,
      columns: site.kv_len,
      // Without the axis name at the side, where it stands there.
      width: Math.max(200, this.clientWidth - this.#window.offsetLeft),
      height: Math.max(260, Math.min(innerHeight * 0.74, 1100)),
      ratio: devicePixelRatio,
      rowName: name,
      columnName: name,
    });
  }

  /** Another text: what was in view of the last one means nothing now. @param {Frame} f @param {boolean} again */
  #otherMap(f, again) {
    const { place, leftOut } = get().view;
    const stays = !again || place !== this.#written;
    this.#travel.settleIn(f, stays ? place : null);
    this.#pointing.clicked = '';
    this.#pointing.leave();
    this.#last = null;
    if (stays) return;
    this.#written = null;
    dressMap({ place: null, leftOut: joined(parts(leftOut).filter((part) => !/^\d/.test(part))) });
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
    const { frame: f } = this.#travel;
    const ctx = this.#canvas.getContext('2d');
    this.toggleAttribute('data-empty', !meta);
    // Asking for visibility would lay the page out anew at every picture.
    if (!meta || !f || !ctx || state.view.tab !== 'cell') return;
    const moves = this.#travel.step();
    const { now, to, isWhole: whole } = this.#travel;
    const leftOut = columnsOf(state.view.leftOut, keysOf(meta, state.view));
    const { look, known } = this.#look(state, meta, f, leftOut);
    const { here, minimap, sharp, more } = gather(headRef(), f, to, look, leftOut);
    if (moves || more) this.#drawSoon();
    const shape = `${meta.source} ${f.rows} ${f.columns}`;
    const old = here.length === 0 && this.#last?.of === shape ? this.#last.layers : null;
    if (here.length > 0) this.#last = { of: shape, layers: here };
    this.classList.toggle('stale', old !== null && !state.tiles.error);
    this.toggleAttribute('data-sharp', sharp && known && !moves);
    this.#wait.hidden = here.length > 0 || old !== null || state.tiles.error !== null;
    fitCanvas(this.#canvas, ctx, f);
    const inks = themeInks();
    const chosen = chosenOf(state);
    paint(ctx, {
      f,
      c: now,
      part: seen(f, now),
      layers: old ?? here,
      look,
      queries: queriesOf(meta, state.view),
      keys: keysOf(meta, state.view),
      chosen,
      hover: state.hover,
      block: this.#pointing.block,
      leftOut,
      lit: state.lit,
      ...inks,
    });
    this.#minimap.hidden = whole || minimap.length === 0;
    if (!whole) this.#minimap.paint(f, now, minimap, inks.inks, chosen);
    this.#canvas.classList.toggle('whole', whole);
    this.#zoomOut.disabled = this.#fit.disabled = whole;
    this.#zoomIn.disabled = this.#travel.isNearest;
    tell({
      level: levelOf(f, to.cell),
      sharp: sharp && known,
      part: seen(f, to),
      whole,
      cell: to.cell,
      top: known ? look.top : null,
      leftOut,
      rows: f.rows,
      columns: f.columns,
      pools: overview(f).kind !== 'exact',
    });
    this.#say(state.tiles.error);
  }

  /**
   * @param {State} state
   * @param {Meta} meta
   * @param {Frame} f
   * @param {number[]} leftOut
   * @returns {{look: Look, known: boolean}}  known: where the scale ends
   */
  #look({ view, theme }, meta, f, leftOut) {
    const scale = view.scale ?? defaultScale(meta.kind);
    const toOne = SCALES[scale].rows || (leftOut.length === 0 && view.range === null);
    const top = toOne ? 1 : largest(headRef(), f, leftOut);
    this.#top = top ?? this.#top;
    /** @type {Look} */
    const look = {
      scale,
      top: this.#top,
      theme,
      palette: view.palette ?? 'amber',
      pooling: view.blocks === 'mean' ? 'mean' : 'most',
    };
    return { look, known: top !== null };
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

/** Says what is shown, when that is something else. @param {Shown} shown */
function tell(shown) {
  if (JSON.stringify(shown) !== JSON.stringify(get().shown)) set({ shown });
}

/** @param {State} state @returns {Spot | null} */
const chosenOf = ({ view: { query, key } }) => (query === null || key === null ? null : { query, key });

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

/** @param {'q' | 'k'} term @param {string} name @param {...(Node | string)} words */
const axis = (term, name, ...words) =>
  h('p', { class: `axis axis-${term}`, 'data-term': term }, h('span', { class: `t-${term}` }, name), ...words);

/** @param {string} sign @param {string} name @param {string} key @param {() => void} press */
const zoomButton = (sign, name, key, press) =>
  h(
    'button',
    { type: 'button', class: 'arrow', 'aria-label': name, title: `${name} (key ${key})`, onclick: press },
    sign,
  );

/** @param {Site} site */
const labelOf = (site) =>
  [
    `Attention map of layer ${site.layer}: ${site.q_len} query rows by ${site.kv_len} key columns.`,
    'Arrow keys move the cell, with Shift by ten; the calculation follows.',
    'Plus and minus zoom, f shows the whole, x leaves the column out of the colour scale.',
  ].join(' ');

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
