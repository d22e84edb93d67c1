// Every head, small, on one canvas: layer by head, or in the order asked for. The pointer and the arrow
// keys move over heads; a click or Enter opens one in the map.

/** @import { HeadSpot, HeadsLayout } from '../heads-layout.js' */
/** @import { HeadsScene } from '../heads-painter.js' */
import { openInMap, pointAtHead } from '../actions.js';
import { readWords } from '../axes.js';
import { h } from '../dom.js';
import { headAt, layOutGrid, layOutList, stepFrom } from '../heads-layout.js';
import { complete } from '../heads-loading.js';
import { paintHeads } from '../heads-painter.js';
import { printHeads } from '../heads-print.js';
import { headsInView } from '../heads-picture.js';
import { show } from '../numbers.js';
import { PATTERNS, patternsOf, STATISTICS } from '../patterns.js';
import { lookOf } from '../shades.js';
import { say } from '../speech.js';
import { get, set } from '../store.js';
import { themeInks } from '../theme-inks.js';
import { Part } from './part.js';

/** The largest canvas that browsers draw. */
const MOST_PIXELS = 16000;

export class HeadGrid extends Part {
  #canvas = h('canvas', {
    role: 'application',
    tabindex: '0',
    'aria-roledescription': 'grid of heads',
    'data-focus': 'head-grid',
  });
  #ring = h('div', { class: 'ring', 'aria-hidden': 'true' });
  #pointer = h('div', { class: 'ring pointer', 'aria-hidden': 'true' });
  #across = h('p', { class: 'axis' });
  #down = h('p', { class: 'axis axis-down' });
  #box = h('div', { class: 'heads-box' }, this.#canvas, this.#ring, this.#pointer);
  #empty = h('p', { class: 'note', hidden: true }, 'No head passes.');
  /** @type {HeadsLayout | null} */
  #layout = null;
  #soon = false;
  /** @type {HeadsScene | null} */
  #scene = null;

  begin() {
    this.replaceChildren(this.#across, this.#down, this.#box, this.#empty);
    const resize = new ResizeObserver(() => this.#drawSoon());
    resize.observe(this);
    this.until(() => resize.disconnect());
    this.#canvas.addEventListener('pointermove', (event) => this.#point(event));
    this.#canvas.addEventListener('pointerleave', () => set({ hoverHead: null }));
    this.#canvas.addEventListener('click', (event) => {
      const spot = this.#layout && headAt(this.#layout, event.offsetX, event.offsetY);
      if (spot) openInMap({ layer: spot.layer, head: spot.head });
    });
    this.#canvas.addEventListener('keydown', (event) => this.#key(event));
    this.watch(
      (s) => [
        s.trace.value,
        s.grid.value?.thumbs,
        // Statistics that are still coming change nothing here unless they sort or filter.
        s.view.sort || s.view.pattern || complete(s.grid.value) ? s.grid.value?.facts : null,
        s.theme,
        s.view.site,
        s.view.scale,
        s.view.palette,
        s.view.sort,
        s.view.rising,
        s.view.pattern,
        s.view.least,
        s.view.most,
        s.view.tab,
      ],
      () => this.#drawSoon(),
    );
    this.watch(
      (s) => [s.view.layer, s.view.head, s.hoverHead],
      () => this.#mark(),
    );
  }

  /** Where the heads are, for those that want to point at one. */
  get layout() {
    return this.#layout;
  }

  /** What is shown, as a picture to take along. @returns {Promise<Blob>} */
  async print() {
    const { trace, view } = get();
    if (!this.#scene || !trace.value) throw new Error('There is no picture yet.');
    const sorted = view.sort ? `, by ${STATISTICS[view.sort].name}` : '';
    const only = view.pattern ? `, ${PATTERNS[view.pattern].many}` : '';
    return printHeads(this.#scene, {
      title: `Attention heads of ${trace.value.model.name}${only}${sorted}`,
      note: `${readWords(trace.value, view)}; queries down, keys across, the largest weight of each block`,
      across: this.#across.textContent ?? '',
      down: this.#down.textContent ?? '',
    });
  }

  #drawSoon() {
    if (this.#soon) return;
    this.#soon = true;
    requestAnimationFrame(() => {
      this.#soon = false;
      if (this.checkVisibility()) this.#draw();
    });
  }

  #draw() {
    const { trace, view, grid, theme } = get();
    const meta = trace.value;
    if (!meta || !grid.value) return;
    const heads = headsInView(meta, view, grid.value);
    const inks = themeInks();
    const width = Math.max(240, this.clientWidth - 4);
    // What stands above, so that all of it is seen at once where the window has room.
    const height = Math.max(340, innerHeight - 36 * inks.nameSize);
    const layout = view.sort
      ? layOutList(heads.chosen, width, inks.nameSize)
      : layOutGrid(heads.sites, width - inks.nameSize * 1.4, height, inks.nameSize);
    this.#layout = layout;
    this.#empty.hidden = !view.sort || heads.chosen.length > 0 || heads.all.length === 0;
    this.classList.toggle('listed', !layout.grid);
    this.#across.textContent = layout.grid ? `${layout.layersDown ? 'head' : 'layer'} →` : 'layer · head';
    this.#down.textContent = layout.grid ? `${layout.layersDown ? 'layer' : 'head'} →` : '';
    const ratio = Math.min(devicePixelRatio, MOST_PIXELS / layout.height, MOST_PIXELS / layout.width);
    const ctx = this.#canvas.getContext('2d');
    if (!ctx) return;
    const [w, t] = [Math.round(layout.width * ratio), Math.round(layout.height * ratio)];
    if (this.#canvas.width !== w || this.#canvas.height !== t) Object.assign(this.#canvas, { width: w, height: t });
    for (const box of [this.#canvas, this.#box])
      Object.assign(box.style, { width: `${layout.width}px`, height: `${layout.height}px` });
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.#scene = {
      layout,
      thumbs: grid.value.thumbs,
      facts: heads.facts,
      passes: heads.passes,
      filtered: heads.filtered,
      sort: view.sort,
      ...lookOf(view, meta),
      theme,
      ...inks,
    };
    paintHeads(ctx, this.#scene);
    this.toggleAttribute('data-painted', grid.value.thumbs.size === grid.value.layers.length);
    this.toggleAttribute('data-complete', complete(grid.value));
    this.#canvas.setAttribute(
      'aria-label',
      `${layout.places.length} heads. Arrow keys go from head to head, Enter opens one in the map.`,
    );
    this.#mark();
  }

  /** Rings around the head of the view and the one under the pointer: moving them repaints nothing. */
  #mark() {
    const { view, hoverHead } = get();
    place(this.#ring, this.#layout, view);
    place(this.#pointer, this.#layout, hoverHead);
  }

  /** @param {MouseEvent} event */
  #point(event) {
    const spot = this.#layout && headAt(this.#layout, event.offsetX, event.offsetY);
    const before = get().hoverHead;
    this.#canvas.style.cursor = spot ? 'pointer' : 'default';
    if (spot?.layer === before?.layer && spot?.head === before?.head) return;
    set({ hoverHead: spot ? { layer: spot.layer, head: spot.head } : null });
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const { view } = get();
    if (!this.#layout || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === 'Enter' || event.key === ' ') {
      event.preventDefault();
      openInMap({});
      return;
    }
    if (!/^(Arrow(Left|Right|Up|Down)|Home|End)$/.test(event.key)) return;
    event.preventDefault();
    const next = stepFrom(this.#layout, view, event.key);
    if (!next) return;
    set({ hoverHead: null });
    pointAtHead({ layer: next.layer, head: next.head });
    announce(next);
    this.#ring.scrollIntoView({ block: 'nearest' });
  }
}

/** @param {HTMLElement} ring @param {HeadsLayout | null} layout @param {HeadSpot | null} spot */
function place(ring, layout, spot) {
  const at = spot && layout?.places.find((p) => p.layer === spot.layer && p.head === spot.head);
  ring.hidden = !at;
  if (!at || !layout) return;
  Object.assign(ring.style, {
    transform: `translate(${at.x}px, ${at.y}px)`,
    width: `${layout.side}px`,
    height: `${layout.side}px`,
  });
}

/** @param {HeadSpot} spot */
function announce({ layer, head }) {
  const { trace, view, grid } = get();
  if (!trace.value) return;
  const heads = headsInView(trace.value, view, grid.value);
  const facts = heads.facts(layer, head);
  if (!facts) return say(`Layer ${layer}, head ${head}`);
  const names = patternsOf(facts, heads.even(layer)).map((name) => PATTERNS[name].name);
  const by = view.sort ?? (view.pattern ? PATTERNS[view.pattern].by : 'entropy');
  const value = STATISTICS[by].of(facts);
  say(
    `Layer ${layer}, head ${head}${names.length ? `, ${names.join(', ')}` : ''}${value === null ? '' : `, ${STATISTICS[by].name} ${show(value)}`}`,
  );
}

customElements.define('head-grid', HeadGrid);
