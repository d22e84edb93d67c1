// Runs with made-up numbers, and the arithmetic of attention done the plain way, for tests of the
// page that must not wait for a model: long texts, many layers, grouped heads, any mask.

import { existsSync, readFileSync } from 'node:fs';

const EXAMPLE = new URL('../../crates/inspect/src/example.json', import.meta.url);

/** @typedef {{token: string, special?: boolean, part?: [number, number]}} Word */

/**
 * What a head may do to its scores and its rows beside the plain case.
 * @typedef {object} Terms
 * @property {number} [softcap]
 * @property {number} [alibi]          its slope
 * @property {number} [relative_bias]  times the distance
 * @property {number} [bias]           times the key
 * @property {number} [sink]           its score
 * @property {(i: number, j: number) => string | null} [hides]
 * @property {'lse' | 'nan'} [damage]  an lse that does not fit, or numbers that are none
 */

/**
 * @typedef {object} Run
 * @property {string} id
 * @property {string} source
 * @property {string} kind
 * @property {string} text
 * @property {any[]} tokens
 * @property {boolean} causal
 * @property {{left: number, right: number} | null} window
 * @property {number} layers
 * @property {number} q_heads
 * @property {number} kv_heads
 * @property {number} head_dim
 * @property {number} v_head_dim
 * @property {any} worked
 * @property {Terms} terms
 * @property {(layer: number, head: number) => {q: number[][], k: number[][], v: number[][]}} head
 */

const dot = (/** @type {number[]} */ a, /** @type {number[]} */ b) => a.reduce((sum, x, i) => sum + x * b[i], 0);
const times = (/** @type {number[][]} */ a, /** @type {number[][]} */ b) =>
  a.map((row) => b[0].map((_, c) => row.reduce((sum, x, i) => sum + x * b[i][c], 0)));

/** A small generator of numbers that are the same every time. @param {number} seed */
function random(seed) {
  let s = seed >>> 0 || 1;
  const next = () => {
    s ^= s << 13;
    s ^= s >>> 17;
    s ^= s << 5;
    return (s >>> 0) / 2 ** 32;
  };
  for (let i = 0; i < 8; i++) next();
  return () => Math.sqrt(-2 * Math.log(next() + 1e-12)) * Math.cos(2 * Math.PI * next());
}

/** @param {boolean} causal @returns {Run} */
export function exampleRun(causal) {
  if (!existsSync(EXAMPLE)) throw new Error(`the worked example is missing: ${EXAMPLE.pathname}`);
  const e = JSON.parse(readFileSync(EXAMPLE, 'utf8'));
  const [q, k, v] = [times(e.x, e.w_q), times(e.x, e.w_k), times(e.x, e.w_v)];
  /** @type {Run} */
  const run = {
    id: causal ? 'example-causal' : 'example',
    source: 'example',
    kind: 'example',
    text: e.tokens.join(' '),
    tokens: e.tokens.map((/** @type {string} */ text) => ({ id: null, text, special: false })),
    causal,
    window: null,
    layers: 1,
    q_heads: 1,
    kv_heads: 1,
    head_dim: q[0].length,
    v_head_dim: v[0].length,
    worked: null,
    terms: {},
    head: () => ({ q, k, v }),
  };
  const rows = e.tokens.map((/** @type {string} */ _, /** @type {number} */ i) => rowOf(run, 0, 0, i));
  const open = e.tokens.map((/** @type {string} */ _, /** @type {number} */ i) =>
    rowOf({ ...run, causal: false }, 0, 0, i),
  );
  const z = rows.map((/** @type {any} */ row) =>
    v[0].map((_, c) =>
      row.weights.reduce(
        (/** @type {number} */ sum, /** @type {number} */ w, /** @type {number} */ j) => sum + w * v[j][c],
        0,
      ),
    ),
  );
  const zo = times(z, e.w_o);
  run.worked = {
    dims: e.dims,
    dim_notes: e.dim_notes,
    x: e.x,
    w_q: e.w_q,
    w_k: e.w_k,
    w_v: e.w_v,
    w_o: e.w_o,
    q,
    k,
    v,
    z,
    zo,
    y: e.x.map((/** @type {number[]} */ x, /** @type {number} */ i) => x.map((a, c) => a + zo[i][c])),
    scores: rows.map((/** @type {any} */ row) => row.scores),
    m: rows.map((/** @type {any} */ row) => row.mask.map((/** @type {string | null} */ why) => (why ? null : 0))),
    weights: rows.map((/** @type {any} */ row) => row.weights),
    weights_unmasked: open.map((/** @type {any} */ row) => row.weights),
  };
  return run;
}

/**
 * @param {object} of
 * @param {string} of.id
 * @param {string} of.source
 * @param {string} of.text
 * @param {any[]} of.tokens
 * @param {number} [of.layers]
 * @param {{left: number, right: number} | null} [of.window]
 * @param {number} [of.heads]
 * @param {boolean} [of.causal]
 * @param {Terms} [of.terms]
 * @returns {Run}
 */
export function madeUpRun({
  id,
  source,
  text,
  tokens,
  layers = 30,
  window = null,
  heads = 9,
  causal = true,
  terms = {},
}) {
  /** @type {Map<string, {q: number[][], k: number[][], v: number[][]}>} */
  const known = new Map();
  const vectors = (/** @type {number} */ seed, /** @type {number} */ d) => {
    const normal = random(seed);
    return tokens.map(() => Array.from({ length: d }, normal));
  };
  return {
    id,
    source,
    kind: 'model',
    text,
    tokens,
    causal,
    window,
    layers,
    q_heads: heads,
    kv_heads: Math.ceil(heads / 3),
    head_dim: 64,
    v_head_dim: 64,
    worked: null,
    terms,
    head(layer, head) {
      const name = `${layer} ${head}`;
      const kv = Math.floor(head / 3);
      const made = known.get(name) ?? {
        q: vectors(1 + layer * 1009 + head * 31, 64),
        k: vectors(7 + layer * 2003 + kv * 57, 64),
        v: vectors(13 + layer * 3001 + kv * 91, 64),
      };
      // The first key attracts everyone, as in real models, and near keys a little.
      if (!known.has(name)) made.k[0] = made.k[0].map((x, c) => x * 0.4 + mean(made.q, c) * 12 * (1 + (head % 3)));
      known.set(name, made);
      return made;
    },
  };
}

const mean = (/** @type {number[][]} */ rows, /** @type {number} */ c) =>
  rows.reduce((sum, row) => sum + row[c], 0) / rows.length;

/** @param {Run} run @param {number} i @param {number} j */
function hiddenBy(run, i, j) {
  if (run.causal && j > i) return 'future';
  if (run.window && (j < i - run.window.left || j > i + run.window.right)) return 'outside_window';
  return run.terms.hides?.(i, j) ?? null;
}

/** What is added to a score. @param {Terms} terms @param {number} i @param {number} j */
const added = ({ alibi, relative_bias, bias }, i, j) => ({
  alibi: alibi === undefined ? null : -alibi * Math.abs(i - j),
  relative_bias: relative_bias === undefined ? null : relative_bias * (i - j),
  bias: bias === undefined ? null : bias * j,
});

/** @param {Run} run @param {number} layer @param {number | 'mean'} head @param {number} i @returns {any} */
export function rowOf(run, layer, head, i) {
  if (head === 'mean') return meanRow(run, layer, i);
  const { q, k } = run.head(layer, head);
  const scale = 1 / Math.sqrt(run.head_dim);
  const { softcap, sink, damage } = run.terms;
  const plain = Object.keys(run.terms).length === 0;
  const scores = k.map((key, j) => {
    const scaled = dot(q[i], key) * scale;
    // Of the long texts there are millions of these.
    if (plain) return scaled;
    const capped = softcap === undefined ? scaled : softcap * Math.tanh(scaled / softcap);
    return Object.values(added(run.terms, i, j)).reduce((/** @type {number} */ sum, term) => sum + (term ?? 0), capped);
  });
  const mask = k.map((_, j) => hiddenBy(run, i, j));
  const seen = scores.filter((_, j) => mask[j] === null);
  const all = sink === undefined ? seen : [...seen, sink];
  const top = Math.max(...all);
  const lse =
    top + Math.log(all.reduce((sum, s) => sum + Math.exp(s - top), 0)) - (damage === 'lse' ? Math.log(1.5) : 0);
  const weights = scores.map((s, j) => (mask[j] ? 0 : damage === 'nan' ? NaN : Math.exp(s - lse)));
  const place = (/** @type {number} */ index) => ({ index, token: run.tokens[index].text });
  return {
    layer,
    head,
    site: 'self',
    query: place(i),
    weights,
    scores,
    mask,
    lse: all.length > 0 ? lse : null,
    row_sum: weights.reduce((a, b) => a + b, 0),
    sink: sink === undefined ? null : Math.exp(sink - lse),
    entropy: -weights.reduce((sum, w) => sum + (w === 0 ? 0 : w * Math.log(w)), 0),
    visible: seen.length,
    strongest: weights
      .map((weight, index) => ({ ...place(index), weight }))
      .sort((a, b) => b.weight - a.weight)
      .slice(0, 20),
  };
}

/** @param {Run} run @param {number} layer @param {number} i */
function meanRow(run, layer, i) {
  const rows = Array.from({ length: run.q_heads }, (_, head) => rowOf(run, layer, head, i));
  const weights = rows[0].weights.map(
    (/** @type {number} */ _, /** @type {number} */ j) =>
      rows.reduce((sum, row) => sum + row.weights[j], 0) / rows.length,
  );
  return { ...rows[0], head: 'mean', weights, scores: null, lse: null };
}

/** @param {Run} run @param {number} layer @param {number | 'mean'} head @param {number} j */
export function columnOf(run, layer, head, j) {
  const rows = run.tokens.map((_, i) => rowOf(run, layer, head, i));
  const place = (/** @type {number} */ index) => ({ index, token: run.tokens[index].text });
  const weights = rows.map((row) => row.weights[j]);
  const mask = rows.map((row) => row.mask[j]);
  return {
    layer,
    head,
    site: 'self',
    key: place(j),
    weights,
    mask,
    received: weights.reduce((a, b) => a + b, 0),
    visible: mask.filter((why) => why === null).length,
    strongest: weights
      .map((weight, index) => ({ ...place(index), weight }))
      .sort((a, b) => b.weight - a.weight)
      .slice(0, 20),
  };
}

/**
 * Every head of a layer as the largest weight of each block; what is hidden is -1.
 * @param {Run} run
 * @param {number} layer
 * @param {number} size
 */
export function thumbsOf(run, layer, size) {
  const n = run.tokens.length;
  const side = Math.min(size, n);
  const maps = Array.from({ length: run.q_heads }, (_, head) => {
    const map = new Float32Array(side * side).fill(-1);
    for (let i = 0; i < n; i++) {
      const row = rowOf(run, layer, head, i);
      for (let j = 0; j < n; j++) {
        const at = Math.floor((i * side) / n) * side + Math.floor((j * side) / n);
        if (!row.mask[j]) map[at] = Math.max(map[at], row.weights[j]);
      }
    }
    return map;
  });
  return { side, maps };
}

/** @param {Run} run @param {number} layer @param {number} head @param {number} i @param {number} j */
export function cellOf(run, layer, head, i, j) {
  const row = rowOf(run, layer, head, i);
  const { q, k, v } = run.head(layer, head);
  const length = (/** @type {number} */ key) => row.weights[key] * Math.hypot(...v[key]);
  const all = v.reduce((sum, _, key) => sum + length(key), 0);
  return {
    layer,
    head,
    kv_head: Math.floor(head / (run.q_heads / run.kv_heads)),
    site: 'self',
    query: row.query,
    key: { index: j, token: run.tokens[j].text },
    q: q[i],
    k: k[j],
    products: q[i].map((x, c) => x * k[j][c]),
    dot: dot(q[i], k[j]),
    scale: 1 / Math.sqrt(run.head_dim),
    scaled: dot(q[i], k[j]) / Math.sqrt(run.head_dim),
    softcap: run.terms.softcap ?? null,
    ...added(run.terms, i, j),
    sink: row.sink,
    score: row.scores[j],
    mask: row.mask[j],
    lse: row.lse,
    log_weight: row.mask[j] ? null : row.scores[j] - row.lse,
    weight: row.weights[j],
    row_sum: row.row_sum,
    v: v[j],
    out: v[0].map((_, c) =>
      row.weights.reduce(
        (/** @type {number} */ sum, /** @type {number} */ w, /** @type {number} */ key) => sum + w * v[key][c],
        0,
      ),
    ),
    share: all > 0 ? length(j) / all : 0,
  };
}

/** @param {Run} run @param {number} layer */
export function headsOf(run, layer) {
  return Array.from({ length: run.q_heads }, (_, head) => {
    // A few rows are enough for a stand-in.
    const picked = run.tokens.map((_, i) => i).filter((i) => i % Math.ceil(run.tokens.length / 16) === 0);
    const rows = picked.map((i) => rowOf(run, layer, head, i));
    const average = (/** @type {(row: any, i: number) => number} */ f) =>
      rows.reduce((sum, row, n) => sum + f(row, picked[n]), 0) / rows.length;
    return {
      layer,
      head,
      entropy: average((r) => r.entropy),
      first: average((r) => r.weights[0]),
      self: average((r, i) => r.weights[i]),
      previous: average((r, i) => (i ? r.weights[i - 1] : 0)),
      distance: average((r, i) =>
        r.weights.reduce(
          (/** @type {number} */ s, /** @type {number} */ w, /** @type {number} */ j) => s + w * Math.abs(i - j),
          0,
        ),
      ),
      proof: { row_sum_error: run.terms.damage === 'nan' ? null : 1.2e-7, output_error: 2.9e-7 },
    };
  });
}
