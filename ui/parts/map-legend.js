// What the colours mean, exactly, and the cell under the pointer.

/** @import { Cell, HiddenReason, Meta, Token } from '../contract.js' */
/** @import { Spot, State } from '../store.js' */
/** @import { View } from '../address.js' */
/** @import { Shown } from '../map-shown.js' */
/** @import { Palette } from '../palette.js' */
/** @import { Scale } from '../scales.js' */
import { keysOf, queriesOf, siteOf } from '../axes.js';
import { h, vars } from '../dom.js';
import { num, tokenChip, tokenText } from '../figures.js';
import { BECAUSE, REASONS, reasonOf, SHORT, windowWords } from '../hidden.js';
import { headRef } from '../living.js';
import { quantity } from '../map-shown.js';
import { show } from '../numbers.js';
import { css, rampAt } from '../palette.js';
import { defaultScale, fraction, LOG_FLOOR, SCALES } from '../scales.js';
import { known, weightAt } from '../tiles.js';
import { MapOptions } from './map-options.js';
import { Part } from './part.js';

/** More columns than this are counted, not named. */
const NAMED = 4;

export class MapLegend extends Part {
  #readout = h('p', { class: 'readout' });
  #key = h('div', { class: 'key' });

  begin() {
    this.replaceChildren(this.#readout, this.#key, new MapOptions());
    this.watch(
      (s) => [s.trace.value, s.hover, s.view, s.tiles, s.cell.value],
      (...now) => this.#read(...now),
    );
    this.watch(
      (s) => [
        s.trace.value,
        s.shown,
        s.view.scale,
        s.view.site,
        s.view.layer,
        s.view.palette,
        s.view.blocks,
        s.theme,
        reasonsSeen(s).join(),
      ],
      (meta, shown, scale, site, layer, palette, blocks, theme, reasons) => {
        const here = meta && siteOf(meta, { site, layer });
        if (!meta || !here || !shown) return this.#key.replaceChildren();
        const now = scale ?? defaultScale(meta.kind);
        this.#key.replaceChildren(
          h(
            'p',
            { class: 'label says' },
            h('span', { class: 't-weight', 'data-term': 'weight' }, quantity(shown, blocks)),
            ', ',
            scaleWords(now, shown.top),
          ),
          bar(now, shown, theme, palette ?? 'amber'),
          h(
            'div',
            { class: 'swatches' },
            reasons ? swatch('hidden', hiddenWords(/** @type {HiddenReason[]} */ (reasons.split(',')), shown)) : '',
            shown.leftOut.length > 0 ? swatch('left-out', ...leftOutWords(keysOf(meta, here), now, shown)) : '',
          ),
        );
      },
    );
  }

  /**
   * @param {Meta | null} meta
   * @param {Spot | null} hover
   * @param {View} view
   * @param {unknown} _tiles
   * @param {Cell | null} cell
   */
  #read(meta, hover, view, _tiles, cell) {
    const chosen = view.query !== null && view.key !== null ? { query: view.query, key: view.key } : null;
    /** @type {Spot | null} */
    const spot = hover ?? chosen;
    const [query, key] = spot && meta ? [queriesOf(meta, view)[spot.query], keysOf(meta, view)[spot.key]] : [];
    if (!spot || !query || !key) return this.#readout.replaceChildren();
    if (spot.block) return this.#readout.replaceChildren(...blockReading(spot, query, key));
    const here = weightAt(headRef(), spot.query, spot.key);
    const known = !hover && cell?.query.index === spot.query && cell.key.index === spot.key ? cell : null;
    const weight = here ?? (known?.mask ? null : (known?.weight ?? null));
    const reason = here === null ? (known?.mask ?? null) : reasonOf(here);
    this.#readout.replaceChildren(...pair(query, key, spot), ' ', reading(weight, reason));
  }
}

/** @param {Token} query @param {Token} key @param {Spot} spot */
const pair = (query, key, spot) => [tokenChip(query, spot.query, 'q'), ' → ', tokenChip(key, spot.key, 'k')];

/** @param {number | null} weight @param {keyof typeof SHORT | null} reason */
const reading = (weight, reason) =>
  reason ? h('em', null, `hidden: ${SHORT[reason]}`) : weight === null ? '…' : num(weight, 'weight');

/** @param {Spot} spot @param {Token} query @param {Token} key */
function blockReading(spot, query, key) {
  const { block: b, weight } = spot;
  if (!b) return [];
  const range = (/** @type {number} */ from, /** @type {number} */ to) =>
    to - from === 1 ? String(from) : `${from}–${to - 1}`;
  const where = h('span', { class: 'block-place' }, `queries ${range(b.q0, b.q1)}, keys ${range(b.k0, b.k1)}: `);
  if (weight === undefined) return [where, '…'];
  const reason = reasonOf(weight);
  if (reason) return [where, h('em', null, `all hidden: ${SHORT[reason]}`)];
  return [where, 'largest ', num(weight, 'weight'), ' at ', ...pair(query, key, spot)];
}

/**
 * Why cells of this map are hidden: what the layer says of itself, and what has been seen to hide something.
 * @param {State} state
 * @returns {HiddenReason[]}
 */
function reasonsSeen({ trace, view, row }) {
  const site = trace.value && siteOf(trace.value, view);
  if (!site) return [];
  const seen = new Set(known(headRef()).flatMap((tile) => tile.reasons));
  if (site.causal) seen.add('future');
  if (windowWords(site)) seen.add('outside_window');
  for (const why of row.value?.mask ?? []) if (why) seen.add(why);
  return REASONS.filter((reason) => seen.has(reason));
}

/** @param {HiddenReason[]} reasons @param {Shown} shown */
function hiddenWords(reasons, shown) {
  const why = reasons.map((reason) => BECAUSE[reason]).join(', or ');
  return shown.level.kind === 'exact' ? `hidden: ${why}` : `every cell of the block is hidden: ${why}`;
}

/**
 * @param {readonly Token[]} tokens
 * @param {Scale} scale
 * @param {Shown} shown
 * @returns {(Node | string)[]}
 */
function leftOutWords(tokens, scale, { leftOut, level }) {
  const name = (/** @type {number} */ column) => h('span', null, tokenText(tokens[column]), h('sub', null, column));
  const named =
    leftOut.length > NAMED
      ? [`${leftOut.length} columns`]
      : leftOut.flatMap((column, i) => [i > 0 ? ', ' : '', name(column)]);
  const blocks = level.kind !== 'exact' && SCALES[scale].rows ? ', and the blocks they are in' : '';
  const beyond = SCALES[scale].rows ? '' : '; beyond the end of the scale they keep its last colour';
  return ['not in the scale: ', ...named, blocks, beyond];
}

/** @param {'hidden' | 'left-out'} kind @param {...(Node | string)} words */
const swatch = (kind, ...words) =>
  h('span', { class: `swatch swatch-${kind}` }, h('i', { 'aria-hidden': 'true' }), h('span', null, ...words));

/**
 * @param {Scale} scale
 * @param {Shown} shown
 * @param {'light' | 'dark'} theme
 * @param {Palette} palette
 */
function bar(scale, shown, theme, palette) {
  const steps = Array.from({ length: 48 }, (_, i) => css(rampAt(theme, i / 47, palette)));
  const strip = vars(h('div', { class: 'ramp', 'aria-hidden': 'true' }), {
    '--ramp': `linear-gradient(to right, ${steps.join(', ')})`,
  });
  const ticks = SCALES[scale].ticks.map((tick) =>
    vars(h('span', null, tickText(scale, tick, shown.top)), {
      '--at': scale === 'rank' ? tick : fraction(scale, tick),
    }),
  );
  return h('div', { class: 'ramp-box' }, strip, h('div', { class: `ramp-ticks ticks-${scale}` }, ticks));
}

/** @param {Scale} scale @param {number | null} top */
function scaleWords(scale, top) {
  const end = top === null ? '…' : top === 1 ? '1' : show(top);
  if (scale === 'row') return 'each row from 0 to its own largest';
  if (scale === 'rank') return 'by rank within its row: order only, no sizes';
  const from = scale === 'log' ? (top === null ? '…' : tenth(LOG_FLOOR * top)) : '0';
  return `${SCALES[scale].name} from ${from} to ${end}`;
}

/** @param {Scale} scale @param {number} tick @param {number | null} top */
function tickText(scale, tick, top) {
  if (scale === 'rank') return tick === 0 ? 'smallest' : tick === 1 ? 'largest of the row' : 'middle';
  if (scale === 'row') return tick === 0 ? '0' : tick === 1 ? 'largest of the row' : tick === 0.5 ? 'half of it' : '';
  if (top === null) return '';
  if (top === 1) return scale === 'log' && tick < 0.01 ? tenth(tick) : String(tick);
  return scale === 'log' ? tenth(tick * top) : tick === 0 ? '0' : show(tick * top).replace(/\.?0+$/, '');
}

/** As a power of ten where it is one. @param {number} value */
const tenth = (value) =>
  value >= 0.01 ? show(value) : value.toExponential(Number.isInteger(Math.log10(value)) ? 0 : 1).replace('e-', 'e−');

customElements.define('map-legend', MapLegend);
