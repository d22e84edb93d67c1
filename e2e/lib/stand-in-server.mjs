// A stand-in for the real server: the same routes with made-up numbers, and failures on demand.
// For tests of the page itself, and for looking at it: `node lib/stand-in-server.mjs 4173`.

import { createServer } from 'node:http';
import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { pathToFileURL } from 'node:url';
import { pooled } from './stand-in-pooled.mjs';
import { cellOf, columnOf, exampleRun, headsOf, madeUpRun, rowOf, thumbsOf } from './stand-in-runs.mjs';

const ROOT = new URL('../../', import.meta.url);
const CODES = ['future', 'outside_window', 'padding', 'other_segment', 'knocked_out'];
/** @type {Record<string, string>} */
const TYPES = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
};
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const SOURCES = [
  {
    id: 'example',
    label: 'The worked example',
    kind: 'example',
    note: 'Hand-designed, not trained.',
    text: 'The robot carried the patient because it was tired .',
    text_fixed: true,
    causal: false,
    causal_choice: true,
  },
  {
    id: 's1',
    label: 'Stand-in-30x9',
    kind: 'model',
    family: 'llama',
    note: 'Made-up numbers.',
    text: 'The robot carried the patient because it was tired.\n\tWhy? <b>日本</b> 👩‍🚀',
    text_fixed: false,
    causal: true,
    causal_choice: false,
    max_tokens: 8192,
  },
  {
    id: 'long',
    label: 'Stand-in, 512 tokens',
    kind: 'model',
    family: 'llama',
    note: 'Made-up numbers.',
    text: 'long',
    text_fixed: true,
    causal: true,
    causal_choice: false,
  },
  {
    id: 'longer',
    label: 'Stand-in, 1,500 tokens, window',
    kind: 'model',
    family: 'llama',
    note: 'Made-up numbers.',
    text: 'longer',
    text_fixed: true,
    causal: true,
    causal_choice: false,
  },
  {
    id: 'book',
    label: 'Stand-in, 8,000 tokens',
    kind: 'model',
    family: 'llama',
    note: 'Made-up numbers.',
    text: 'book',
    text_fixed: true,
    causal: true,
    causal_choice: false,
  },
  {
    id: 'slow',
    label: 'Stand-in that takes its time',
    kind: 'model',
    family: 'llama',
    note: 'Made-up numbers.',
    text: 'slow and steady',
    text_fixed: false,
    causal: true,
    causal_choice: false,
  },
  // Traces of what is rare: each of a few words, which cannot be changed.
  ...Object.entries({
    terms: 'softcap, ALiBi and biases',
    sink: 'a sink',
    masks: 'masks of every kind',
    unfit: 'an lse that does not fit',
    nan: 'numbers that are none',
    one: 'one head, a window without end',
    bare: 'no attention',
  }).map(([id, label]) => ({
    id,
    label: `Stand-in with ${label}`,
    kind: 'trace',
    family: 'llama',
    note: 'Made-up numbers.',
    text: 'one two three four five',
    text_fixed: true,
    causal: true,
    causal_choice: false,
  })),
];

/** @type {Record<string, Partial<Parameters<typeof madeUpRun>[0]>>} */
const RARE = {
  terms: { terms: { softcap: 5, alibi: 0.5, relative_bias: 0.25, bias: -0.125 } },
  // Its first token sees nothing but the sink.
  sink: { terms: { sink: 6, hides: (i) => (i === 0 ? 'knocked_out' : null) } },
  masks: {
    causal: false,
    terms: {
      hides: (i, j) =>
        i === 5 ? 'padding' : j === 5 ? 'padding' : i < 2 !== j < 2 ? 'other_segment' : i === 4 && j === 2 ? 'knocked_out' : null,
    },
  },
  unfit: { terms: { damage: 'lse' } },
  nan: { terms: { damage: 'nan' } },
  one: { heads: 1, window: { left: 2 ** 64, right: 2 ** 64 } },
  bare: { layers: 0 },
};

/** Splits into words with their leading space, whitespace and marks apart. @param {string} text */
function tokens(text) {
  const words =
    text.match(
      /<\|[^|]*\|>| ?[\p{L}\p{N}]+|\s|<[^>]*>|\p{Extended_Pictographic}(?:\u200d\p{Extended_Pictographic})*|[^\s\p{L}\p{N}]/gu,
    ) ?? [];
  return [
    { id: 0, text: '<|endoftext|>', special: true },
    ...words.flatMap((word, i) =>
      /\p{Extended_Pictographic}/u.test(word)
        ? [
            { id: i, text: word, special: false, part: [1, 2] },
            { id: i, text: '', special: false, part: [2, 2] },
          ]
        : [{ id: i, text: word, special: /^<\|/.test(word) }],
    ),
  ];
}

const manyTokens = (/** @type {number} */ n) =>
  Array.from({ length: n }, (_, i) => ({
    id: i,
    text: ` ${['the', 'model', 'looks', 'at', 'every', 'word', 'of', 'a', 'long', 'text'][(i * 7) % 10]}`,
    special: false,
  }));

export class StandIn {
  /** @type {Map<string, import('./stand-in-runs.mjs').Run>} */
  runs = new Map();
  slow = 1500;
  /** What it offers; a server started again may offer something else. */
  sources = SOURCES;
  #server = createServer((request, response) => {
    this.#answer(request, response).catch((error) => send(response, error.status ?? 500, { error: error.message }));
  });

  /** @param {number} [port] @returns {Promise<string>} its address */
  start(port = 0) {
    return new Promise((resolve) => {
      this.#server.listen(port, '127.0.0.1', () =>
        resolve(`http://127.0.0.1:${/** @type {any} */ (this.#server.address()).port}/`),
      );
    });
  }

  stop() {
    this.#server.closeAllConnections();
    return new Promise((resolve) => this.#server.close(resolve));
  }

  /** @param {import('node:http').IncomingMessage} request @param {import('node:http').ServerResponse} response */
  async #answer(request, response) {
    const url = new URL(request.url ?? '/', 'http://localhost');
    if (url.pathname === '/' || url.pathname.startsWith('/ui/')) return file(url.pathname, response);
    if (url.pathname === '/api/health') return send(response, 200, { ok: true, version: 'stand-in' });
    if (url.pathname === '/api/sources') return send(response, 200, { sources: this.sources });
    if (url.pathname === '/api/traces' && request.method === 'POST')
      return send(response, 200, await this.#make(await body(request)));
    const [, id, what] = url.pathname.match(/^\/api\/traces\/([^/]+)(?:\/(\w+))?$/) ?? [];
    const run = this.runs.get(id);
    if (!run) throw failure(404, `There is no run ${id}. Make it again.`);
    return this.#about(run, what, url.searchParams, response);
  }

  /** @param {any} wish */
  async #make(wish) {
    const source = this.sources.find((s) => s.id === wish.source);
    if (!source) throw failure(400, `There is no source ${wish.source}.`);
    if (!source.text_fixed && !(wish.text ?? '').trim())
      throw failure(400, 'The text is empty: type a few words and run again.');
    if (source.id === 'slow') await new Promise((resolve) => setTimeout(resolve, this.slow));
    const text = source.text_fixed ? source.text : wish.text;
    const run =
      source.id === 'example'
        ? exampleRun(Boolean(wish.causal))
        : source.id === 'long'
          ? madeUpRun({ id: 'long', source: 'long', text, tokens: manyTokens(512), layers: 2 })
          : source.id === 'longer'
            ? madeUpRun({
                id: 'longer',
                source: 'longer',
                text,
                tokens: manyTokens(1500),
                layers: 2,
                window: { left: 255, right: 0 },
              })
            : source.id === 'book'
              ? madeUpRun({ id: 'book', source: 'book', text, tokens: manyTokens(8000), layers: 2 })
              : madeUpRun({
                  id: `${source.id}-${Buffer.from(text).toString('hex').slice(0, 40)}`,
                  source: source.id,
                  text,
                  tokens: tokens(text),
                  ...(RARE[source.id] && { layers: 2, ...RARE[source.id] }),
                });
    this.runs.set(run.id, run);
    return meta(run);
  }

  /** @param {import('./stand-in-runs.mjs').Run} run @param {string | undefined} what @param {URLSearchParams} p @param {import('node:http').ServerResponse} response */
  #about(run, what, p, response) {
    const n = (/** @type {string} */ name) => Number(p.get(name) ?? 0);
    const head = p.get('head') === 'mean' ? 'mean' : n('head');
    switch (what) {
      case undefined:
        return send(response, 200, meta(run));
      case 'cell':
        return send(response, 200, cellOf(run, n('layer'), n('head'), n('query'), n('key')));
      case 'row':
        return sendWeights(response, rowOf(run, n('layer'), head, n('query')), p);
      case 'column':
        return sendWeights(response, columnOf(run, n('layer'), head, n('key')), p);
      case 'thumbs':
        return thumbs(run, n('layer'), n('size'), response);
      case 'export':
        response
          .writeHead(200, {
            'content-type': 'application/json',
            'content-disposition': `attachment; filename="${p.get('what')}.${p.get('format')}"`,
          })
          .end(JSON.stringify(Object.fromEntries(p)));
        return;
      case 'values':
        if (run.tokens.length > 512) throw failure(400, 'Values are given up to 512 keys.');
        return send(response, 200, { v: run.head(n('layer'), n('head')).v });
      case 'heads':
        return send(response, 200, headsOf(run, n('layer')));
      case 'worked':
        if (!run.worked) throw failure(404, 'Only the example has its matrices.');
        return send(response, 200, run.worked);
      case 'pooled':
        response.writeHead(200, { 'content-type': 'application/octet-stream' });
        return void response.end(pooled(run, n('layer'), n('head'), p));
      case 'tile':
        return tile(run, n('layer'), head, n('q0'), n('q1'), n('k0'), n('k1'), response);
      default:
        throw failure(404, `There is nothing at ${what}.`);
    }
  }
}

/** @param {import('./stand-in-runs.mjs').Run} run @param {number} layer @param {number} size @param {import('node:http').ServerResponse} response */
function thumbs(run, layer, size, response) {
  const { side, maps } = thumbsOf(run, layer, size);
  const bytes = Buffer.alloc(8 + 4 * maps.length * side * side);
  bytes.writeUInt32LE(maps.length, 0);
  bytes.writeUInt32LE(side, 4);
  maps.forEach((map, head) => map.forEach((weight, i) => bytes.writeFloatLE(weight, 8 + 4 * (head * side * side + i))));
  response.writeHead(200, { 'content-type': 'application/octet-stream' }).end(bytes);
}

/** @param {import('./stand-in-runs.mjs').Run} run @param {number} layer @param {number | 'mean'} head @param {number} q0 @param {number} q1 @param {number} k0 @param {number} k1 @param {import('node:http').ServerResponse} response */
function tile(run, layer, head, q0, q1, k0, k1, response) {
  if ((q1 - q0) * (k1 - k0) > 512 * 512) throw failure(400, 'A tile holds at most 512 x 512 cells.');
  const bytes = Buffer.alloc(4 * (q1 - q0) * (k1 - k0));
  let at = 0;
  for (let i = q0; i < q1; i++) {
    const row = rowOf(run, layer, head, i);
    for (let j = k0; j < k1; j++, at += 4) {
      const why = row.mask[j];
      bytes.writeFloatLE(why ? -1 - CODES.indexOf(why) : row.weights[j], at);
    }
  }
  response.writeHead(200, { 'content-type': 'application/octet-stream' }).end(bytes);
}

/**
 * A row or a column, packed where that is asked for.
 * @param {import('node:http').ServerResponse} response
 * @param {any} answer
 * @param {URLSearchParams} p
 */
function sendWeights(response, answer, p) {
  if (p.get('packed') !== 'true') return send(response, 200, answer);
  const { weights, mask } = answer;
  const json = Buffer.from(JSON.stringify({ ...answer, weights: [], scores: null, mask: [] }));
  const bytes = Buffer.alloc(8 + Math.ceil(json.length / 8) * 8 + 8 * weights.length, ' ');
  const from = bytes.length - 8 * weights.length;
  bytes.writeUInt32LE(from - 8, 0);
  bytes.writeUInt32LE(weights.length, 4);
  json.copy(bytes, 8);
  weights.forEach((/** @type {number} */ weight, /** @type {number} */ i) =>
    bytes.writeDoubleLE(mask[i] ? -1 - CODES.indexOf(mask[i]) : weight, from + 8 * i),
  );
  response.writeHead(200, { 'content-type': 'application/octet-stream' }).end(bytes);
}

/** @param {import('./stand-in-runs.mjs').Run} run */
function meta(run) {
  const n = run.tokens.length;
  return {
    id: run.id,
    source: run.source,
    text: run.text,
    kind: run.kind,
    model: { name: run.source, family: 'llama', sha256: null },
    note: run.kind === 'example' ? 'hand-designed, not trained' : '',
    tokens: run.tokens,
    isa: 'plain',
    version: 'stand-in',
    seconds: 0.1,
    worked: run.worked !== null,
    sites: Array.from({ length: run.layers }, (_, layer) => ({
      site: 'self',
      layer,
      q_heads: run.q_heads,
      kv_heads: run.kv_heads,
      head_dim: run.head_dim,
      v_head_dim: run.v_head_dim,
      q_len: n,
      kv_len: n,
      causal: run.causal,
      window: run.window,
      scale: 1 / Math.sqrt(run.head_dim),
      softcap: run.terms.softcap ?? null,
    })),
  };
}

/** @param {string} path @param {import('node:http').ServerResponse} response */
async function file(path, response) {
  const name = path === '/' ? 'ui/index.html' : path.slice(1);
  if (name.includes('..')) throw failure(404, 'Not found.');
  const content = await readFile(new URL(name, ROOT)).catch(() => null);
  if (!content) throw failure(404, `There is no ${name}.`);
  response
    .writeHead(200, {
      'content-type': TYPES[extname(name)] ?? 'application/octet-stream',
      'content-security-policy': POLICY,
    })
    .end(content);
}

/** @param {import('node:http').IncomingMessage} request */
async function body(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return JSON.parse(Buffer.concat(chunks).toString());
}

/** @param {number} status @param {string} message */
const failure = (status, message) => Object.assign(new Error(message), { status });

/** @param {import('node:http').ServerResponse} response @param {number} status @param {unknown} value */
function send(response, status, value) {
  response
    .writeHead(status, { 'content-type': 'application/json', 'content-security-policy': POLICY })
    .end(JSON.stringify(value));
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  console.log(await new StandIn().start(Number(process.argv[2] ?? 0)));
}
