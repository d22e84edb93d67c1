// Questions of the lesson to the server. Nothing is worked out here: every number is the engine's.

/** @import { Cell, HeadFacts, Meta, Row, Source, Token, Worked } from '../contract.js' */
import { ApiError, cell, heads, makeTrace, row, sources, worked } from '../api.js';

/**
 * @typedef {object} Change          What is different from the built-in example.
 * @property {boolean} causal
 * @property {number[][]} [x]
 * @property {number[][]} [w_q]
 * @property {number[][]} [w_k]
 * @property {number[][]} [w_v]
 * @property {number[][]} [w_o]
 * @property {number[][]} [k]        In the place of X W_K.
 * @property {number[][]} [v]        In the place of X W_V.
 * @property {{query: number, key: number} | null} [knock_out]  One key hidden from one query.
 * @property {number | null} [scale]
 * @property {{query: number, key: number, add: number} | null} [extra_score]
 */

/**
 * @typedef {object} Computed        What the engine found for the changed example, beside its matrices.
 * @property {number[]} lse
 * @property {number[]} row_sum
 * @property {number[]} entropy
 * @property {number} output_error
 * @property {number} row_sum_error
 * @property {boolean} same_weights_as_built_in  Bit for bit.
 */

/** @typedef {Worked & Computed} Scratch */

/** @typedef {{weights: number[], log_weights: number[], jacobian: number[][], largest: number}} Gradient */

/** @typedef {{scores: number[], weights: number[], slope: number}} SampleRow  slope: the steepest of any weight by any score */

/**
 * @typedef {object} ScalePoint
 * @property {number} d_k
 * @property {number} variance_raw
 * @property {number} variance_scaled
 * @property {number} largest_raw
 * @property {number} largest_scaled
 * @property {number} gradient_raw
 * @property {number} gradient_scaled
 * @property {SampleRow} row_raw        The first of the rows that were drawn.
 * @property {SampleRow} row_scaled     The same query and keys.
 */

/** @typedef {{points: ScalePoint[], seed: number, samples: number, keys: number}} ScaleStudy */

/** @typedef {{ms: number, bytes: number}} Cost */

/**
 * @typedef {object} Bill
 * @property {number} n
 * @property {number} head_dim
 * @property {Cost | null} naive
 * @property {Cost} ours
 * @property {Cost} window
 * @property {number} window_left          How many earlier keys the sliding window keeps.
 * @property {number | null} largest_difference  Between the outputs of both ways.
 * @property {{row_sum_error: number, output_error: number}} proof
 */

/**
 * @typedef {object} Words           One word in two texts, layer by layer.
 * @property {{layer: number, cosine: number, equal: boolean}[]} layers  0: what goes into the first.
 * @property {string[][]} tokens
 * @property {number[]} positions
 * @property {boolean} same_word_embedding
 */

/**
 * @typedef {object} Cut
 * @property {string[]} tokens
 * @property {number[]} with_attention
 * @property {number[]} without_attention
 */

/**
 * @typedef {object} Cache
 * @property {string[]} prompt_tokens
 * @property {{token: string, reads: number, computes: number, keys_unchanged: boolean}[]} steps
 */

/** @typedef {{meta: Meta, worked: Worked}} Example */

/** @type {Promise<Source[]> | null} */
let known = null;

/** The sources, asked for once. @returns {Promise<Source[]>} */
export function allSources() {
  known ??= sources(new AbortController().signal).catch((error) => {
    known = null;
    throw error;
  });
  return known;
}

/**
 * A model of this kind, if one is open here.
 * @param {'bert' | 'llama'} family
 * @returns {Promise<Source | null>}
 */
export async function modelOf(family) {
  const wanted = family === 'bert' ? /minilm|bert/i : /smollm|llama/i;
  const models = (await allSources()).filter((s) => s.kind === 'model');
  return (
    models.find((s) => s.family === family) ??
    models.find((s) => wanted.test(s.label)) ??
    (family === 'llama' ? models.find((s) => s.causal) : undefined) ??
    null
  );
}

/**
 * The worked example as it is built in.
 * @param {boolean} causal
 * @param {AbortSignal} signal
 * @returns {Promise<Example>}
 */
export async function example(causal, signal) {
  const source = (await allSources()).find((s) => s.kind === 'example');
  if (!source) throw new ApiError('The worked example is not open here. Start attnscope with it.', 0);
  const meta = await makeTrace({ source: source.id, text: null, causal }, signal);
  return { meta, worked: await worked(meta.id, signal) };
}

/** @param {Source} source @param {string | null} text @param {AbortSignal} signal @returns {Promise<Meta>} */
export const run = (source, text, signal) =>
  makeTrace({ source: source.id, text: source.text_fixed ? null : text, causal: null }, signal);

/** @param {string} trace @param {number} query @param {number} key @param {AbortSignal} signal @returns {Promise<Cell>} */
export const oneCell = (trace, query, key, signal) =>
  cell({ trace, site: 'self', layer: 0, head: 0 }, query, key, signal);

/** @param {string} trace @param {number} query @param {AbortSignal} signal @returns {Promise<Row>} */
export const oneRow = (trace, query, signal) => row({ trace, site: 'self', layer: 0, head: 0 }, query, signal);

/** The statistics of every head. @param {Meta} meta @param {AbortSignal} signal @returns {Promise<HeadFacts[]>} */
export async function allHeads(meta, signal) {
  const sites = meta.sites.filter((s) => s.site === meta.sites[0].site);
  const layers = await Promise.all(sites.map((s) => heads(meta.id, s.site, s.layer, signal)));
  return layers.flat();
}

/** @param {Change} change @param {AbortSignal} signal @returns {Promise<Scratch>} */
export const scratch = (change, signal) => post('/api/scratch/example', change, signal);

/** @param {number[]} scores @param {AbortSignal} signal @returns {Promise<Gradient>} */
export const gradient = (scores, signal) => post('/api/scratch/gradient', { scores }, signal);

/** @param {{seed: number, samples: number, keys: number}} wish @param {AbortSignal} signal @returns {Promise<ScaleStudy>} */
export const scaleStudy = (wish, signal) => json(`/api/scratch/scale?${numbers(wish)}`, { signal });

/** @param {number} n @param {AbortSignal} signal @returns {Promise<Bill>} */
export const bill = (n, signal) => json(`/api/scratch/bill?${numbers({ n })}`, { signal });

/** @param {{source: string, texts: string[], word: string}} wish @param {AbortSignal} signal @returns {Promise<Words>} */
export const words = (wish, signal) => post('/api/lesson/words', wish, signal);

/** @param {{source: string, text: string, position: number, replace: string}} wish @param {AbortSignal} signal @returns {Promise<Cut>} */
export const cut = (wish, signal) => post('/api/lesson/cut', wish, signal);

/** @param {{source: string, text: string, max_tokens: number}} wish @param {AbortSignal} signal @returns {Promise<Cache>} */
export const cache = (wish, signal) => post('/api/lesson/cache', wish, signal);

/**
 * Small pictures of every head, the largest weight in each block.
 * @param {string} trace
 * @param {number} size
 * @param {AbortSignal} signal
 * @returns {Promise<{size: number, pictures: Float32Array[]}>}
 */
export async function thumbs(trace, size, signal) {
  const answer = await ask(`/api/traces/${encodeURIComponent(trace)}/thumbs?${numbers({ size })}`, { signal });
  const view = new DataView(await answer.arrayBuffer());
  const [count, side] = [view.getUint32(0, true), view.getUint32(4, true)];
  const cells = side * side;
  if (view.byteLength !== 8 + 4 * count * cells) throw new ApiError('The pictures came back with a wrong size.', 0);
  return {
    size: side,
    pictures: Array.from({ length: count }, (_, head) =>
      Float32Array.from({ length: cells }, (_, i) => view.getFloat32(8 + 4 * (head * cells + i), true)),
    ),
  };
}

/** A token as the inspector's figures want it. @param {string} text @returns {Token} */
export const asToken = (text) => ({ id: null, text, special: /^(\[[A-Z]+\]|<[^>]+>)$/.test(text) });

/** @param {Record<string, number>} values */
const numbers = (values) => new URLSearchParams(Object.entries(values).map(([name, v]) => [name, String(v)]));

/** @param {string} url @param {unknown} body @param {AbortSignal} signal @returns {Promise<any>} */
const post = (url, body, signal) =>
  json(url, {
    signal,
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

/** @param {string} url @param {RequestInit} options @returns {Promise<any>} */
const json = async (url, options) => (await ask(url, options)).json();

/** @param {string} url @param {RequestInit} options @returns {Promise<Response>} */
async function ask(url, options) {
  const answer = await fetch(url, options).catch((error) => {
    if (options.signal?.aborted) throw error;
    throw new ApiError('The server does not answer. Is attnscope still running?', 0);
  });
  if (answer.ok) return answer;
  const body = await answer.json().catch(() => null);
  throw new ApiError(
    typeof body?.error === 'string' ? body.error : `The server answered ${answer.status}.`,
    answer.status,
  );
}
