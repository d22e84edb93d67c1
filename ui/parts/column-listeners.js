// The column of the chosen key: who listens to this token.

/** @import { Column, Meta } from '../contract.js' */
import { choose } from '../actions.js';
import { h, vars } from '../dom.js';
import { named, num, tokenChip } from '../figures.js';
import { show } from '../numbers.js';
import { Part } from './part.js';
import { TakeAlong } from './take-along.js';

/** Columns of at most this many queries are listed whole; of longer ones the strongest. */
const LISTED = 10;

export class ColumnListeners extends Part {
  begin() {
    this.watch(
      (s) => [s.column, s.trace.value, s.view.query],
      (column, meta, query) => {
        this.setAttribute('aria-busy', String(column.busy));
        if (column.error) return this.show(h('p', { class: 'trouble', role: 'alert' }, column.error));
        const { value } = column;
        if (!value || !meta || value.weights.length !== meta.tokens.length || !meta.tokens[value.key.index])
          return this.show();
        this.show(...listeners(value, meta, query));
      },
    );
  }
}

/** @param {Column} column @param {Meta} meta @param {number | null} query */
function listeners(column, meta, query) {
  const key = tokenChip(meta.tokens[column.key.index], column.key.index, 'k');
  const order = column.weights
    .map((_, i) => i)
    .filter((i) => column.mask[i] === null)
    .sort((a, b) => column.weights[b] - column.weights[a] || a - b);
  const listed = order.slice(0, order.length <= LISTED + 2 ? LISTED + 2 : LISTED);
  if (query !== null && column.mask[query] === null && !listed.includes(query)) listed.push(query);
  const rest = order.length - listed.length;
  const others = column.received - listed.reduce((sum, i) => sum + column.weights[i], 0);
  const most = Math.max(column.weights[order[0]] ?? 0, 1e-9);
  const hidden = column.mask.length - order.length;
  return [
    h('h3', null, 'The column: who listens to ', key),
    h(
      'p',
      null,
      `${order.length.toLocaleString('en')} ${order.length === 1 ? 'query' : 'queries'} may see it`,
      hidden ? ` (it is hidden from ${hidden.toLocaleString('en')})` : '',
      ' and together they give it ',
      num(column.received, 'weight'),
      ', on average ',
      num(order.length ? column.received / order.length : 0, 'weight'),
      '. A column is no budget: each ',
      named('weight', 'weight'),
      ' here was taken from another row, so the sum may be anything.',
    ),
    profile(column, query),
    h(
      'ol',
      { class: 'budget' },
      listed.map((i) =>
        h(
          'li',
          { class: i === query ? 'here' : '', 'data-query': i },
          h(
            'button',
            {
              type: 'button',
              class: 'link',
              'data-focus': `listener${i}`,
              'aria-pressed': String(i === query),
              onclick: () => choose({ query: i }),
            },
            tokenChip(meta.tokens[i], i, i === query ? 'q' : null),
          ),
          measure(column.weights[i], most),
          num(column.weights[i], 'weight'),
        ),
      ),
      rest > 0
        ? h(
            'li',
            { class: 'rest' },
            h('span', null, `the other ${rest.toLocaleString('en')} together`),
            h('span', null),
            num(others, 'weight'),
          )
        : null,
      h('li', { class: 'total' }, h('span', null, 'received'), h('span', null), num(column.received, 'weight')),
    ),
    new TakeAlong('column'),
  ];
}

/** The column as it stands, from the first query to the last. @param {Column} column @param {number | null} query */
function profile(column, query) {
  const canvas = h('canvas', {
    class: 'profile',
    role: 'img',
    'aria-label': `The weights of the column from the first query to the last, the largest ${show(Math.max(...column.weights.map((w, i) => (column.mask[i] ? 0 : w))))}`,
  });
  requestAnimationFrame(() => paintProfile(canvas, column, query));
  return h('div', { class: 'profile-box' }, canvas);
}

/** @param {HTMLCanvasElement} canvas @param {Column} column @param {number | null} query */
function paintProfile(canvas, column, query) {
  const { width, height } = canvas.getBoundingClientRect();
  const ctx = canvas.getContext('2d');
  if (!ctx || width === 0) return;
  Object.assign(canvas, { width: Math.round(width * devicePixelRatio), height: Math.round(height * devicePixelRatio) });
  ctx.scale(devicePixelRatio, devicePixelRatio);
  const style = getComputedStyle(canvas);
  const n = column.weights.length;
  const visible = (/** @type {number} */ i) => (column.mask[i] ? 0 : column.weights[i]);
  const most = column.weights.reduce((top, _, i) => Math.max(top, visible(i)), 1e-9);
  const step = width / n;
  // Where queries are narrower than pixels, the largest of each pixel.
  const bars = Math.min(n, Math.ceil(width));
  for (let b = 0; b < bars; b++) {
    const [from, to] = [
      Math.floor((b * n) / bars),
      Math.max(Math.floor(((b + 1) * n) / bars), Math.floor((b * n) / bars) + 1),
    ];
    let top = 0;
    let hidden = true;
    for (let i = from; i < to; i++) {
      top = Math.max(top, visible(i));
      hidden &&= column.mask[i] !== null;
    }
    const x = (b * width) / bars;
    const w = Math.max(0.6, width / bars - (step > 4 ? 1 : 0));
    ctx.fillStyle = style.getPropertyValue(hidden ? '--hatch-line' : '--bar');
    if (hidden) ctx.fillRect(x, height - 3, w, 3);
    else ctx.fillRect(x, height - Math.max(1, (top / most) * height), w, Math.max(1, (top / most) * height));
  }
  if (query !== null) {
    ctx.fillStyle = style.getPropertyValue('--q');
    ctx.fillRect((query + 0.5) * step - 1, 0, 2, height);
  }
}

/** @param {number} weight @param {number} most */
const measure = (weight, most) =>
  h(
    'span',
    { class: 'measure', 'aria-hidden': 'true' },
    vars(h('span', { class: 'bar' }), { '--full': weight / most }),
  );

customElements.define('column-listeners', ColumnListeners);
