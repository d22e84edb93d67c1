// Questions to the server. Every failure becomes one sentence that can be shown as it is.

/** @import { Cell, Column, HeadFacts, Meta, Row, Source, Standing, Values, Worked } from './contract.js' */
import { wholeCell, wholeFacts, wholeRow, wholeValues } from './not-finite.js';
import { unpack } from './packed.js';

export class ApiError extends Error {
  /**
   * @param {string} message
   * @param {number} status  0 where there was no answer
   */
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

/**
 * One head of one layer of one run.
 * @typedef {{trace: string, site: string, layer: number, head: number}} HeadRef
 */

/**
 * The same, or the mean over the heads of the layer.
 * @typedef {Omit<HeadRef, 'head'> & {head: number | 'mean'}} HeadOrMean
 */

/** @typedef {{q0: number, q1: number, k0: number, k1: number}} Span  Half-open. */

/** @param {AbortSignal} signal @returns {Promise<Source[]>} */
export const sources = async (signal) => (await json('/api/sources', { signal })).sources;

/**
 * Runs a source on a text.
 * @param {{source: string, text: string | null, causal: boolean | null}} wish
 * @param {AbortSignal} signal
 * @returns {Promise<Meta>}
 */
export function makeTrace(wish, signal) {
  run = `${Date.now().toString(36)}-${Math.random().toString(36).slice(2, 10)}`;
  return json('/api/traces', {
    signal,
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...wish, text: wish.text ?? undefined, run }),
  });
}

/** What the server calls the run that was asked for last. */
let run = '';

/**
 * How far that run is; null where it has not begun, or has ended.
 * @returns {Promise<Standing | null>}
 */
export const standing = () => json(`/api/runs/${run}`, {}).catch(() => null);

/** @param {string} id @param {AbortSignal} signal @returns {Promise<Meta>} */
export const trace = (id, signal) => json(`/api/traces/${encodeURIComponent(id)}`, { signal });

/** @param {HeadRef} ref @param {number} query @param {number} key @param {AbortSignal} signal @returns {Promise<Cell>} */
export const cell = async (ref, query, key, signal) =>
  wholeCell(await json(path(ref, 'cell', { query, key }), { signal }));

/** @param {HeadRef} ref @param {number} query @param {AbortSignal} signal @returns {Promise<Row>} */
export const row = async (ref, query, signal) =>
  wholeRow(await packed(path(ref, 'row', { query, packed: true }), signal));

/** @param {HeadRef} ref @param {number} key @param {AbortSignal} signal @returns {Promise<Column>} */
export const column = (ref, key, signal) => packed(path(ref, 'column', { key, packed: true }), signal);

/** @param {HeadRef} ref @param {AbortSignal} signal @returns {Promise<Values>} */
export const values = async (ref, signal) => wholeValues(await json(path(ref, 'values', {}), { signal }));

/** @param {string} id @param {AbortSignal} signal @returns {Promise<Worked>} */
export const worked = (id, signal) => json(`/api/traces/${encodeURIComponent(id)}/worked`, { signal });

/**
 * The statistics of every head of one layer.
 * @param {string} id
 * @param {string} site
 * @param {number} layer
 * @param {AbortSignal} signal
 * @returns {Promise<HeadFacts[]>}
 */
export async function heads(id, site, layer, signal) {
  const params = new URLSearchParams({ layer: String(layer) });
  if (site !== 'self') params.set('site', site);
  return wholeFacts(await json(`/api/traces/${encodeURIComponent(id)}/heads?${params}`, { signal }));
}

/**
 * A rectangle of weights, row by row; negative numbers say why a cell is hidden.
 * @param {HeadOrMean} ref
 * @param {Span} span
 * @param {AbortSignal} signal
 * @returns {Promise<Float32Array>}
 */
export async function tile(ref, span, signal) {
  const answer = await ask(path(ref, 'tile', span), { signal });
  const bytes = await answer.arrayBuffer();
  const count = (span.q1 - span.q0) * (span.k1 - span.k0);
  if (bytes.byteLength !== 4 * count) throw new ApiError('The map came back with a wrong size. Reload the page.', 0);
  return floats(bytes, 0, count);
}

/**
 * A rectangle in squares of several cells: the largest and the mean weight of each.
 * @param {HeadRef} ref
 * @param {Span} span
 * @param {number} rows
 * @param {number} columns
 * @param {AbortSignal} signal
 * @returns {Promise<[Float32Array, Float32Array]>}
 */
export async function pooled(ref, span, rows, columns, signal) {
  const answer = await ask(path(ref, 'pooled', { ...span, rows, columns }), { signal });
  const bytes = await answer.arrayBuffer();
  const count = rows * columns;
  if (bytes.byteLength !== 8 + 8 * count)
    throw new ApiError('The map came back with a wrong size. Reload the page.', 0);
  return [floats(bytes, 8, count), floats(bytes, 8 + 4 * count, count)];
}

const LITTLE_ENDIAN = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;

/**
 * The bytes are little-endian whatever this machine is.
 * @param {ArrayBuffer} bytes
 * @param {number} from
 * @param {number} count
 */
function floats(bytes, from, count) {
  if (LITTLE_ENDIAN) return new Float32Array(bytes, from, count);
  const view = new DataView(bytes, from);
  return Float32Array.from({ length: count }, (_, i) => view.getFloat32(4 * i, true));
}

/** @typedef {{side: number, maps: Float32Array[]}} Thumbs  One map of side x side for each head, the largest weight of each block. */

/**
 * Every head of one layer, small.
 * @param {string} id
 * @param {string} site
 * @param {number} layer
 * @param {number} size  at most so many pixels a side
 * @param {AbortSignal} signal
 * @returns {Promise<Thumbs>}
 */
export async function thumbs(id, site, layer, size, signal) {
  const params = new URLSearchParams({ layer: String(layer), size: String(size) });
  if (site !== 'self') params.set('site', site);
  const answer = await ask(`/api/traces/${encodeURIComponent(id)}/thumbs?${params}`, { signal });
  const view = new DataView(await answer.arrayBuffer());
  const [heads, side] = [view.getUint32(0, true), view.getUint32(4, true)];
  const cells = side * side;
  if (view.byteLength !== 8 + 4 * heads * cells)
    throw new ApiError('The pictures of the heads came back with a wrong size. Reload the page.', 0);
  const map = (/** @type {number} */ head) =>
    Float32Array.from({ length: cells }, (_, i) => view.getFloat32(8 + 4 * (head * cells + i), true));
  return { side, maps: Array.from({ length: heads }, (_, head) => map(head)) };
}

/**
 * What is shown, as a file.
 * @param {string} id
 * @param {Record<string, string | number>} wish  what, format, layer, head, query, key, scale, palette, theme
 * @param {AbortSignal} [signal]
 * @returns {Promise<{blob: Blob, name: string | null}>}  the name the server gives it
 */
export async function exported(id, wish, signal) {
  const params = new URLSearchParams(Object.entries(wish).map(([name, value]) => [name, String(value)]));
  const answer = await ask(`/api/traces/${encodeURIComponent(id)}/export?${params}`, { signal });
  const name = /filename="([^"]+)"/.exec(answer.headers.get('content-disposition') ?? '')?.[1] ?? null;
  return { blob: await answer.blob(), name };
}

/**
 * @param {HeadOrMean} ref
 * @param {string} what
 * @param {Record<string, number | boolean>} more
 */
function path(ref, what, more) {
  const params = new URLSearchParams({ layer: String(ref.layer), head: String(ref.head) });
  if (ref.site !== 'self') params.set('site', ref.site);
  for (const [name, value] of Object.entries(more)) params.set(name, String(value));
  return `/api/traces/${encodeURIComponent(ref.trace)}/${what}?${params}`;
}

/**
 * An answer whose numbers come as bytes.
 * @param {string} url
 * @param {AbortSignal} signal
 * @returns {Promise<any>}
 */
async function packed(url, signal) {
  const answer = await ask(url, { signal });
  try {
    return unpack(await answer.arrayBuffer());
  } catch (error) {
    if (signal.aborted) throw error;
    throw new ApiError('The server gave an answer that cannot be read. Reload the page.', answer.status);
  }
}

/** @param {string} url @param {RequestInit} options @returns {Promise<any>} */
async function json(url, options) {
  const answer = await ask(url, options);
  try {
    return await answer.json();
  } catch {
    throw new ApiError('The server gave an answer that cannot be read. Reload the page.', answer.status);
  }
}

/** @param {string} url @param {RequestInit} options @returns {Promise<Response>} */
async function ask(url, options) {
  /** @type {Response} */
  let answer;
  try {
    answer = await fetch(url, options);
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw new ApiError('The server does not answer. Is attnscope still running?', 0);
  }
  if (answer.ok) return answer;
  const body = await answer.json().catch(() => null);
  const says = typeof body?.error === 'string' ? body.error : `The server answered ${answer.status}.`;
  throw new ApiError(says, answer.status);
}
