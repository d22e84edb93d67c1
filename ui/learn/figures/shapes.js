// A head as a chain of boxes, each as high and wide as its matrix (in logarithms), with its sizes.

/** @import { Term } from '../../store.js' */
import { h, vars } from '../../dom.js';
import { title } from '../../matrix.js';
import { choice } from '../controls/choice.js';
import { answer } from '../prose.js';

/** @typedef {{n: number, d: number | null, d_k: number, d_v: number, heads: number, kv_heads: number, name: string}} Sizes */
/** @typedef {{name: string, term: Term | null, rows: number | null, columns: number | null}} Box */
/** @typedef {{left: Box, right: Box, sign: string, out: Box, says: string}} Step */

/** From X to Y. */
export const STEPS = 6;

/** Up to this many cells a side can be counted. */
const COUNTED = 16;

/** @param {Sizes} sizes @param {number} first  the step shown @param {(step: number) => void} chosen @returns {HTMLElement} */
export function shapes(sizes, first, chosen) {
  const steps = stepsOf(sizes);
  const most = Math.max(
    ...steps.flatMap((step) => [step.left, step.right, step.out]).flatMap((b) => [b.rows ?? 0, b.columns ?? 0]),
  );
  const told = answer();
  const place = h('div', { class: 'product' });
  const draw = (/** @type {number} */ i) => {
    const step = steps[i];
    place.replaceChildren(
      box(step.left, most),
      h('span', { class: 'sign' }, step.sign),
      box(step.right, most),
      h('span', { class: 'sign' }, '='),
      box(step.out, most),
    );
    told.says(step.says);
  };
  const chooser = choice(
    'Step',
    steps.map((step, i) => ({
      value: String(i),
      text: h(
        'span',
        null,
        title(step.out.name, step.out.term),
        ' ',
        h('span', { class: 'size' }, `${step.out.rows ?? 'd'} × ${step.out.columns ?? 'd'}`),
      ),
    })),
    String(first),
    (v) => {
      chosen(Number(v));
      draw(Number(v));
    },
  );
  draw(first);
  return h('div', { class: 'stack-figure' }, chooser.element, place, told.element, facts(sizes));
}

/** @param {Sizes} sizes @returns {Step[]} */
function stepsOf({ n, d, d_k, d_v, heads, kv_heads }) {
  const b = (
    /** @type {string} */ name,
    /** @type {Term | null} */ term,
    /** @type {number | null} */ rows,
    /** @type {number | null} */ columns,
  ) => ({ name, term, rows, columns });
  const [x, q, k, v] = [b('X', null, n, d), b('Q', 'q', n, d_k), b('K', 'k', n, d_k), b('V', 'v', n, d_v)];
  const [scores, weights, z] = [b('S', 'score', n, n), b('A', 'weight', n, n), b('Z', 'v', n, d_v)];
  const shared =
    heads === kv_heads
      ? ''
      : ` Here ${heads / kv_heads} query heads share each key head and value head, so there are ${kv_heads} of these and ${heads} of Q.`;
  const rotary = d === null ? ' (Many models also turn Q and K by their positions; that changes no size.)' : '';
  return [
    {
      left: x,
      sign: '×',
      right: b('W_Q', 'q', d, d_k),
      out: q,
      says: `Each of the ${n} tokens gets a query of ${d_k} numbers.${rotary}`,
    },
    {
      left: x,
      sign: '×',
      right: b('W_K', 'k', d, d_k),
      out: k,
      says: `Keys must be as wide as queries, ${d_k}, or no product of the two would exist.${shared}`,
    },
    {
      left: x,
      sign: '×',
      right: b('W_V', 'v', d, d_v),
      out: v,
      says:
        d_v === d_k
          ? `Values are ${d_v} wide here, like the keys. They need not be: nothing ever multiplies a value by a key.`
          : `Values are ${d_v} wide while keys are ${d_k}: nothing ever multiplies a value by a key.`,
    },
    {
      left: q,
      sign: '×',
      right: b('K_T', 'k', d_k, n),
      out: scores,
      says: `The ${d_k} disappears and the number of tokens appears twice: ${(n * n).toLocaleString('en')} scores. Softmax keeps the size.`,
    },
    {
      left: weights,
      sign: '×',
      right: v,
      out: z,
      says: `The ${n} × ${n} square is gone again. What is left is one mix of ${d_v} numbers for each token.`,
    },
    {
      left: heads > 1 ? b('Z', 'v', n, heads * d_v) : z,
      sign: '×',
      right: b('W_O', null, heads * d_v, d),
      out: b('Y', null, n, d),
      says:
        heads > 1
          ? `The mixes of all ${heads} heads stand side by side, ${heads * d_v} wide, and W_O brings them back to the width of a token. Then X is added.`
          : `W_O brings the mix from ${d_v} back to the width of a token, ${d}. Then X is added, and the sizes fit because they must.`,
    },
  ];
}

/**
 * Small matrices are drawn cell by cell; the sides of large ones go with the root of their size.
 * @param {Box} look
 * @param {number} most  the longest side of all
 */
function box({ name, term, rows, columns }, most) {
  const counted = most <= COUNTED && rows !== null && columns !== null;
  const side = (/** @type {number | null} */ size) =>
    counted ? (size ?? 0) : size === null ? 9 : 1 + 10 * Math.sqrt(size / most);
  return h(
    'figure',
    { class: `box${term ? ` of-${term}` : ''}` },
    vars(h('div', { class: `box-body${counted ? ' counted' : ''}`, 'aria-hidden': 'true' }), {
      '--high': side(rows),
      '--wide': side(columns),
    }),
    h(
      'figcaption',
      null,
      name === 'K_T' ? h('span', null, title('K', 'k'), h('sup', null, 'T')) : title(name, term),
      h('span', { class: 'size' }, `${rows ?? 'd'} × ${columns ?? 'd'}`),
    ),
  );
}

/** @param {Sizes} sizes */
function facts({ n, d, d_k, d_v, heads, kv_heads, name }) {
  return h(
    'p',
    { class: 'note' },
    `${name}: ${n} tokens; `,
    d === null ? 'd, the width of a token; ' : `d, the width of a token: ${d}; `,
    'width of queries and keys d',
    h('sub', null, 'k'),
    `: ${d_k}; of values d`,
    h('sub', null, 'v'),
    `: ${d_v}; ${heads} ${heads === 1 ? 'head' : 'heads'} in a layer`,
    kv_heads === heads ? '.' : `, ${kv_heads} of keys and values.`,
  );
}
