// The server, and the runs of known lengths that it is measured on.

import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { BIN, FOLDER, HEADS_MODEL, MODEL } from './settings.mjs';

const run = promisify(execFile);

const SENTENCES = [
  'The robot carried the patient because it was tired.',
  'He sat down on the bank of the river and counted seven letters.',
  'The bank approved the loan although nobody had asked for it.',
  'A fox followed the old captain to the station before the morning came.',
  'When the bell rang, the engineer opened the wooden door and listened.',
];

/** Starts the server on some sources; stops with `stop`. */
export async function view(...sources) {
  const child = spawn(BIN, ['view', ...sources, '--port', '0', '--no-open'], { stdio: ['ignore', 'pipe', 'inherit'] });
  const url = await new Promise((resolve) => createInterface({ input: child.stdout }).once('line', resolve));
  const ended = new Promise((resolve) => child.once('exit', resolve));
  return { url: `${String(url).trim().replace(/\/$/, '')}/`, stop: () => (child.kill(), ended) };
}

/** Runs of exactly so many tokens of one text. */
export async function traces(lengths) {
  await mkdir(FOLDER, { recursive: true });
  const file = (n) => join(FOLDER, `${n}.safetensors`);
  const missing = lengths.filter((n) => !existsSync(file(n)));
  if (missing.length === 0) return lengths.map(file);
  const small = join(FOLDER, 'small.safetensors');
  const text = Array.from({ length: 60 }, (_, i) => SENTENCES[(i * 3 + (i >> 2)) % SENTENCES.length]).join(' ');
  await run(BIN, ['trace', MODEL, '--text', text, '-o', small, '--json']);
  const server = await view(small);
  const post = { method: 'POST', headers: { 'content-type': 'application/json' } };
  const { sources } = await (await fetch(`${server.url}api/sources`)).json();
  const source = sources.find((one) => one.kind === 'trace').id;
  const meta = await (await fetch(`${server.url}api/traces`, { ...post, body: JSON.stringify({ source }) })).json();
  await server.stop();
  const ids = meta.tokens.map((token) => token.id);
  for (const n of missing) {
    console.error(`making a run of ${n} tokens …`);
    const list = Array.from({ length: n }, (_, i) => ids[i % ids.length]).join(',');
    await run(BIN, ['trace', MODEL, '--ids', list, '-o', `${file(n)}.part.safetensors`, '--json'], {
      maxBuffer: 1 << 26,
    });
    await rename(`${file(n)}.part.safetensors`, file(n));
  }
  await rm(small, { force: true });
  return lengths.map(file);
}

/** A run of 512 tokens of a model whose every head fits in the grid; null without the model. */
export async function headsTrace() {
  if (!existsSync(HEADS_MODEL)) return null;
  await mkdir(FOLDER, { recursive: true });
  const file = join(FOLDER, 'heads.safetensors');
  if (existsSync(file)) return file;
  // [CLS], words of the vocabulary, [SEP].
  const ids = Array.from({ length: 512 }, (_, i) => (i === 0 ? 101 : i === 511 ? 102 : 2000 + ((i * 37) % 8000)));
  const part = `${file}.part.safetensors`;
  await run(BIN, ['trace', HEADS_MODEL, '--ids', ids.join(','), '-o', part, '--json'], { maxBuffer: 1 << 26 });
  await rename(part, file);
  return file;
}
