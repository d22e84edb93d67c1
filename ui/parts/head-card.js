// One head of the picture of all heads: larger, with its statistics, its patterns and its proof.

/** @import { HeadSpot } from '../heads-layout.js' */
import { openInMap } from '../actions.js';
import { siteOf } from '../axes.js';
import { h } from '../dom.js';
import { paintThumb } from '../heads-painter.js';
import { headsInView } from '../heads-picture.js';
import { PATTERNS, patternsOf } from '../patterns.js';
import { SCALES } from '../scales.js';
import { lookOf } from '../shades.js';
import { get } from '../store.js';
import { themeInks } from '../theme-inks.js';
import { proof, sharing, statistics } from './head-facts.js';
import { Part } from './part.js';

const SIDE = 224;

export class HeadCard extends Part {
  #canvas = h('canvas', { role: 'img' });

  begin() {
    this.watch(
      (s) => [s.trace.value, s.grid.value, s.view, s.hoverHead, s.theme],
      (meta, grid, view, hover, _theme) => {
        const spot = hover ?? { layer: view.layer, head: view.head };
        const site = meta && siteOf(meta, { site: view.site, layer: spot.layer });
        if (!meta || !site || !grid) return this.show();
        const heads = headsInView(meta, view, grid);
        const facts = heads.facts(spot.layer, spot.head);
        const { scale } = lookOf(view, meta);
        this.#paint(spot);
        this.show(
          h('h3', null, `Layer ${spot.layer}, head ${spot.head}`),
          this.#canvas,
          h(
            'button',
            { type: 'button', class: 'main', 'data-focus': 'open-head', onclick: () => openInMap(spot) },
            'Open in the map',
          ),
          h('p', { class: 'label' }, `queries down, keys across · ${SCALES[scale].name} scale`),
          facts
            ? h(
                'p',
                { class: 'is-pattern' },
                patternsOf(facts, heads.even(spot.layer)).map((name) =>
                  h('span', { class: 'tag' }, PATTERNS[name].name),
                ),
                patternsOf(facts, heads.even(spot.layer)).length === 0
                  ? h('span', { class: 'note' }, 'none of the named patterns')
                  : null,
              )
            : h('p', { class: 'note' }, 'Its statistics are still to come.'),
          facts ? statistics(facts, site) : null,
          facts ? proof(facts) : null,
          sharing(site, spot.head),
        );
      },
    );
  }

  /** @param {HeadSpot} spot */
  #paint(spot) {
    const { grid, view, theme, trace } = get();
    const ctx = this.#canvas.getContext('2d');
    if (!ctx || !grid.value || !trace.value) return;
    const ratio = devicePixelRatio;
    Object.assign(this.#canvas, { width: SIDE * ratio, height: SIDE * ratio });
    this.#canvas.setAttribute('aria-label', `Map of layer ${spot.layer}, head ${spot.head}, small`);
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    const look = lookOf(view, trace.value);
    paintThumb(
      ctx,
      { thumbs: grid.value.thumbs, ...look, theme, inks: themeInks().inks },
      { ...spot, x: 0, y: 0 },
      SIDE,
    );
  }
}

customElements.define('head-card', HeadCard);
