// What is shown, to take along: as a picture, as numbers, as a link, as a command.

/** @import { State } from '../store.js' */
/** @import { Meta } from '../contract.js' */
/** @import { View } from '../address.js' */
import { formatAddress } from '../address.js';
import * as api from '../api.js';
import { ofTwoTexts } from '../axes.js';
import { columnCommand, headsCommand, mapCommand, rowCommand } from '../command.js';
import { h } from '../dom.js';
import { copyButton } from '../figures.js';
import { headsInView } from '../heads-picture.js';
import { living } from '../living.js';
import { lookOf } from '../shades.js';
import { spreadJson, spreadTable, toCsv } from '../table.js';
import { give } from '../take.js';
import { get } from '../store.js';
import { Part } from './part.js';

/** @typedef {'map' | 'row' | 'cell' | 'heads' | 'column' | 'text'} What */
/** @typedef {'png' | 'svg' | 'html' | 'csv' | 'json'} Format */

/** What each can be taken along as. @type {Record<What, {name: string, formats: Format[]}>} */
const KINDS = {
  map: { name: 'this map', formats: ['png', 'svg', 'html', 'csv', 'json'] },
  row: { name: 'this row', formats: ['png', 'svg', 'html', 'csv', 'json'] },
  cell: { name: 'this cell', formats: ['png', 'svg', 'html', 'csv', 'json'] },
  heads: { name: 'all heads', formats: ['png', 'svg', 'csv', 'json'] },
  column: { name: 'this column', formats: ['png', 'svg', 'html', 'csv', 'json'] },
  text: { name: 'this text', formats: ['png', 'svg', 'csv', 'json'] },
};

/** @type {Format[]} */
const PICTURES = ['png', 'svg'];

/** A text can be drawn as the row of one token. @param {What} what @param {View} view */
const drawn = (what, view) =>
  what !== 'text' || (view.facing === 'to' && view.pins.length <= 1 && headOfText(view) !== null);

/** Whether there is such a thing: the text view shades one text. @param {What} what @param {State} state */
const offers = (what, { trace, view }) => trace.value !== null && !(what === 'text' && ofTwoTexts(trace.value, view));

export class TakeAlong extends Part {
  #trouble = h('p', { class: 'trouble', role: 'alert', hidden: true });

  /** @param {What} [what] */
  constructor(what) {
    super();
    if (what) this.what = what;
  }

  /** @type {What} */
  what = 'map';

  /** The same again is the same. @param {TakeAlong} next */
  become(next) {
    if (next.what === this.what) return;
    this.what = next.what;
    this.disconnectedCallback();
    this.begin();
  }

  begin() {
    const { what } = this.dataset;
    if (what && Object.hasOwn(KINDS, what)) this.what = /** @type {What} */ (what);
    this.setAttribute('role', 'group');
    this.setAttribute('aria-label', `Take ${KINDS[this.what].name} along`);
    this.watch(
      (s) => [offers(this.what, s), s.sources.value !== null, drawn(this.what, s.view), s.view.facing],
      (offered, sources, pictures, _facing) => {
        if (!offered || !sources) return this.show();
        const { name } = KINDS[this.what];
        const formats = KINDS[this.what].formats.filter((format) => pictures || !PICTURES.includes(format));
        this.show(
          h('span', { class: 'label', 'aria-hidden': 'true' }, `Take ${name} along`),
          ...formats.map((format) => this.#button(format)),
          this.what === 'cell' ? null : copyButton('Link', linkNow, `${this.what}-link`),
          this.what === 'cell' || commandNow(this.what) === null
            ? null
            : copyButton('Command', () => commandNow(this.what) ?? '', `${this.what}-command`),
          this.#trouble,
        );
      },
    );
  }

  /** @param {Format} format */
  #button(format) {
    return h(
      'button',
      {
        type: 'button',
        class: 'quiet',
        'data-focus': `take-${this.what}-${format}`,
        'aria-label': `${format.toUpperCase()} of ${KINDS[this.what].name}`,
        onclick: () => this.#take(format),
      },
      format.toUpperCase(),
    );
  }

  /** @param {Format} format */
  async #take(format) {
    this.#trouble.hidden = true;
    try {
      const here = format === 'png' ? await printed(this.what) : own(this.what, format, get());
      const file = here ?? (await fromServer(this.what, format));
      give(file.blob, file.name);
    } catch (error) {
      this.#trouble.textContent = error instanceof Error ? error.message : String(error);
      this.#trouble.hidden = false;
    }
  }
}

/** The PNG of all heads is drawn by the page, which has them at hand. @param {What} what */
async function printed(what) {
  if (what !== 'heads') return null;
  const { HeadGrid } = await import('./head-grid.js');
  const grid = document.querySelector('head-grid');
  return grid instanceof HeadGrid ? { blob: await grid.print(), name: nameNow(what, 'png') } : null;
}

/** @param {What} what @param {Format} format */
async function fromServer(what, format) {
  const { view, trace, theme, spread } = get();
  const { scale, palette } = lookOf(view, /** @type {Meta} */ (trace.value));
  const wish = {
    what: what === 'text' ? 'row' : what,
    format,
    ...(view.site === 'self' ? {} : { site: view.site }),
    ...placeOf(what, get()),
    ...(what === 'text' ? { query: spread.value?.tokens[0] ?? 0, head: headOfText(view) ?? view.head } : {}),
    scale,
    ...(view.leftOut === null ? {} : { without: view.leftOut }),
    ...(view.range === null ? {} : { range: view.range }),
    ...(view.blocks === null ? {} : { blocks: view.blocks }),
    palette,
    theme,
  };
  const answer = await living(({ trace: id }) => api.exported(id, wish));
  return { blob: answer.blob, name: answer.name ?? nameNow(what, format) };
}

/** @param {What} what @param {State} state @returns {Record<string, number | string>} */
function placeOf(what, state) {
  const { view, shown, column } = state;
  if (what === 'heads') return headsShown(state);
  if (what === 'column' && column.value) {
    const { layer, head: of, key } = column.value;
    return { layer, head: of, key: key.index };
  }
  const head = { layer: view.layer, head: view.head };
  if (what === 'row') return { ...head, query: view.query ?? 0 };
  if (what === 'cell') return { ...head, query: view.query ?? 0, key: view.key ?? 0 };
  return what === 'map' && shown && !shown.whole ? { ...head, ...shown.part } : head;
}

/** Which heads a picture shows, and in which order. @param {State} state @returns {Record<string, string>} */
function headsShown({ view, trace, grid }) {
  if (!trace.value || !grid.value) return {};
  const { chosen, filtered } = headsInView(trace.value, view, grid.value);
  return {
    ...(view.sort ? { sort: view.sort, order: view.rising ? 'rising' : 'falling' } : {}),
    ...(filtered ? { only: chosen.map(({ layer, head }) => `${layer}.${head}`).join(',') } : {}),
  };
}

/** The one head that a text is shaded by, or the mean of all; null where it is a mean over some. @param {View} view */
function headOfText({ heads, head }) {
  if (heads === 'mean') return heads;
  return heads === null || heads.length === 1 ? (heads?.[0] ?? head) : null;
}

/**
 * What the page itself has in hand.
 * @param {What} what
 * @param {Format} format
 * @param {State} state
 */
function own(what, format, { trace, spread, view }) {
  const meta = trace.value;
  if (what !== 'text' || PICTURES.includes(format) || !meta || !spread.value) return null;
  const text =
    format === 'csv'
      ? toCsv(spreadTable(meta, view, spread.value))
      : `${JSON.stringify(spreadJson(meta, view, spread.value), null, 1)}\n`;
  return {
    blob: new Blob([text], { type: format === 'csv' ? 'text/csv;charset=utf-8' : 'application/json' }),
    name: nameNow(what, format),
  };
}

/** @param {What} what @param {Format} format */
function nameNow(what, format) {
  const { view, trace } = get();
  const model = (trace.value?.model.name ?? 'run').replace(/[^\w.-]+/g, '-');
  const where = what === 'heads' ? '' : `-layer${view.layer}${what === 'text' ? '' : `-head${view.head}`}`;
  return `${model}${where}-${what}.${format}`;
}

const linkNow = () => new URL(formatAddress(get().view), location.href).href;

/** @param {What} what @returns {string | null} */
function commandNow(what) {
  const { view, sources, spread, column } = get();
  const source = sources.value?.find((s) => s.id === view.source);
  if (!source) return null;
  if (what === 'column') return column.value && columnCommand(source, view, column.value);
  if (what === 'map') return mapCommand(source, view);
  if (what === 'heads') return headsCommand(source, view);
  if (what === 'row') return rowCommand(source, view, view.query);
  if (view.facing !== 'to') return null;
  const heads = view.heads === 'mean' ? /** @type {const} */ (['mean']) : (view.heads ?? [view.head]);
  const tokens = spread.value?.tokens ?? [view.query];
  return tokens.flatMap((token) => heads.map((head) => rowCommand(source, view, token, head))).join('\n');
}

customElements.define('take-along', TakeAlong);
