#!/usr/bin/env node
// How quick the page is: node tools/measure-page.mjs [--bin FILE] [--model FILE] [--runs 3] [--only WORD] [--keep]
//
// Starts the release build with traces of 512, 4,096 and 8,192 tokens, opens the page in headless
// Chromium and prints a table: for each figure the worst of the runs (of three, that is p95). The
// traces (2.4 GB) are made first, and are removed at the end unless --keep is given. Needs e2e's npm
// packages, chromium, the SmolLM2 model of tools/fetch-models, and for the heads its MiniLM.

import { execFile, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { openBare } from './bare-chromium.mjs';
import { chromium } from '../e2e/node_modules/playwright-core/index.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const argument = (name, otherwise) => {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? otherwise : process.argv[at + 1];
};
const BIN = argument('bin', join(root, 'target/release/attnscope'));
const MODEL = argument('model', join(root, 'models/smollm2-135m-instruct.Q4_1.gguf'));
const HEADS_MODEL = join(root, 'models/all-minilm-l6-v2');
const RUNS = Number(argument('runs', 3));
const ONLY = argument('only', '');
const KEEP = process.argv.includes('--keep');
const FOLDER = join(tmpdir(), 'attnscope-measure');
const FLAGS = ['--headless', '--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking'];
const run = promisify(execFile);

const SENTENCES = [
  'The robot carried the patient because it was tired.',
  'He sat down on the bank of the river and counted seven letters.',
  'The bank approved the loan although nobody had asked for it.',
  'A fox followed the old captain to the station before the morning came.',
  'When the bell rang, the engineer opened the wooden door and listened.',
];

/** Starts the server on some sources; stops with `stop`. */
async function view(...sources) {
  const child = spawn(BIN, ['view', ...sources, '--port', '0', '--no-open'], { stdio: ['ignore', 'pipe', 'inherit'] });
  const url = await new Promise((resolve) => createInterface({ input: child.stdout }).once('line', resolve));
  const ended = new Promise((resolve) => child.once('exit', resolve));
  return { url: `${String(url).trim().replace(/\/$/, '')}/`, stop: () => (child.kill(), ended) };
}

/** Runs of exactly so many tokens of one text. */
async function traces(lengths) {
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
async function headsTrace() {
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

/** A page in a browser of its own, so that nothing is warm. */
async function fresh(url, hash, { width = 1440, height = 900 } = {}) {
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: FLAGS,
  });
  const page = await browser.newPage({ viewport: { width, height } });
  await page.goto(url + hash, { waitUntil: 'commit' });
  return { page, browser };
}

/** Milliseconds since the page was asked for at which the map was complete and a cell worked out. Runs in the page. */
const painted = async () => {
  while (
    !document.querySelector('attention-map')?.hasAttribute('data-sharp') ||
    !document.querySelector('cell-headline h2') ||
    document.querySelector('cell-headline')?.getAttribute('aria-busy') !== 'false'
  )
    await new Promise((resolve) => requestAnimationFrame(resolve));
  return performance.now();
};

/** The same for the whole panel, down to what is out of sight. */
const allDrawn = async () => {
  while (
    !document.querySelector('column-listeners .total') ||
    document.querySelector(':not(:defined), #panel-cell [aria-busy="true"]')
  )
    await new Promise((resolve) => requestAnimationFrame(resolve));
  return performance.now();
};

/** Milliseconds until the picture of every head is in the grid. Runs in the page. */
const gridPainted = async () => {
  while (!document.querySelector('head-grid[data-painted]')) await new Promise((resolve) => requestAnimationFrame(resolve));
  await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
  return performance.now();
};

/** Megabytes of the page's process: shared pages counted in part, and what JavaScript holds. */
async function memory(browser, page) {
  const client = await page.context().newCDPSession(page);
  // What is only waiting to be collected is not counted.
  for (let i = 0; i < 2; i++) {
    await client.send('HeapProfiler.collectGarbage');
    await page.waitForTimeout(500);
  }
  await client.send('Performance.enable');
  const { metrics } = await client.send('Performance.getMetrics');
  const heap = metrics.find((metric) => metric.name === 'JSHeapUsedSize').value / 2 ** 20;
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  const sizes = processInfo
    .filter((one) => one.type === 'renderer')
    .map(({ id }) => Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${id}/smaps_rollup`, 'utf8'))?.[1] ?? 0) / 1024);
  return { process: Math.max(...sizes), heap };
}

/** What a page's process holds once all that is only waiting to be collected is gone. */
async function bareMemory(bare) {
  for (let i = 0; i < 3; i++) {
    await bare.ask('HeapProfiler.collectGarbage');
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  await bare.ask('Performance.enable');
  const { metrics } = await bare.ask('Performance.getMetrics');
  const metric = (name) => metrics.find((one) => one.name === name).value;
  const { processInfo } = await bare.askBrowser('SystemInfo.getProcessInfo');
  const sizes = processInfo
    .filter((one) => one.type === 'renderer')
    .map(({ id }) => Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${id}/smaps_rollup`, 'utf8'))?.[1] ?? 0) / 1024);
  return {
    process: Math.max(...sizes),
    heap: metric('JSHeapUsedSize') / 2 ** 20,
    nodes: metric('Nodes'),
    listeners: metric('JSEventListeners'),
  };
}

/**
 * Opens cells one after another, in the page itself, as a quick hand does: the pointer comes, rests for a tenth
 * of a second, clicks, and goes on a while after the cell is drawn. Milliseconds from each click to the picture
 * with its cell.
 */
const clicks = async (n) => {
  const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
  const canvas = document.querySelector('attention-map canvas');
  const headline = document.querySelector('cell-headline');
  const { rows, cell, left, top, x, y } = document.querySelector('attention-map').geometry;
  const times = [];
  let seed = 7;
  const random = (below) => (seed = (seed * 48271) % 2147483647) % below;
  const shown = () => headline.querySelector('.note')?.textContent ?? '';
  for (let i = 0; i < n; i++) {
    const box = canvas.getBoundingClientRect();
    const query = random(rows);
    const key = random(query + 1);
    const at = {
      clientX: box.left + left + (key + 0.5) * cell - x,
      clientY: box.top + top + (query + 0.5) * cell - y,
    };
    const before = shown();
    const event = { bubbles: true, pointerId: 1, pointerType: 'mouse', isPrimary: true, ...at };
    canvas.dispatchEvent(new PointerEvent('pointermove', event));
    await pause(100);
    const start = performance.now();
    const drawn = new Promise((resolve) => {
      const observer = new MutationObserver(() => {
        if (shown() === before || headline.getAttribute('aria-busy') !== 'false') return;
        observer.disconnect();
        // The task after the picture that shows it.
        requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - start)));
      });
      observer.observe(headline, { attributes: true, childList: true, characterData: true, subtree: true });
      // The same cell again changes nothing.
      setTimeout(() => (observer.disconnect(), resolve(null)), 3000);
    });
    canvas.dispatchEvent(new PointerEvent('pointerdown', event));
    canvas.dispatchEvent(new PointerEvent('pointerup', event));
    canvas.dispatchEvent(new MouseEvent('click', { bubbles: true, ...at }));
    const time = await drawn;
    if (time !== null) times.push(time);
    await pause(150);
  }
  return times;
};

/** Drags the map about for two seconds and counts frames. */
async function pan(page) {
  const at = await page.evaluate(() => {
    const box = document.querySelector('attention-map canvas').getBoundingClientRect();
    const { left, top } = document.querySelector('attention-map').geometry;
    return { x: box.left + left + 250, y: box.top + top + 150 };
  });
  await page.evaluate(() => {
    const frames = (window.frameTimes = []);
    let last = performance.now();
    const next = () => {
      const now = performance.now();
      frames.push(now - last);
      last = now;
      requestAnimationFrame(next);
    };
    requestAnimationFrame(next);
  });
  await page.mouse.move(at.x, at.y);
  await page.mouse.down();
  const end = Date.now() + 2000;
  for (let i = 0; Date.now() < end; i++) {
    const turn = i / 25;
    await page.mouse.move(at.x + 200 * Math.cos(turn) - 200, at.y + 140 * Math.sin(turn));
  }
  const frames = (await page.evaluate(() => window.frameTimes)).slice(2);
  await page.mouse.up();
  return 1000 / (frames.reduce((a, b) => a + b, 0) / frames.length);
}

const quantile = (list, q) => [...list].sort((a, b) => a - b)[Math.min(list.length - 1, Math.floor(q * list.length))];

/**
 * What is measured. `most`: the target is a bound from above (else from below).
 * @type {{name: string, unit: string, target: number | null, most?: boolean, run: (at: {url: string, of: (n: number) => string}, i: number) => Promise<number>}[]}
 */
const MEASURES = [
  {
    name: 'example: first contentful paint',
    unit: 'ms',
    target: 300,
    most: true,
    async run({ url }) {
      const { page, browser } = await fresh(url, '#source=example');
      await page.evaluate(painted);
      const time = await page.evaluate(
        () => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN,
      );
      await browser.close();
      return time;
    },
  },
  {
    name: 'example: map and cell complete',
    unit: 'ms',
    target: null,
    most: true,
    async run({ url }) {
      const { page, browser } = await fresh(url, '#source=example');
      const time = await page.evaluate(painted);
      await browser.close();
      return time;
    },
  },
  {
    name: 'example: all of the panel, also out of sight',
    unit: 'ms',
    target: null,
    most: true,
    async run({ url }) {
      const { page, browser } = await fresh(url, '#source=example');
      const time = await page.evaluate(allDrawn);
      await browser.close();
      return time;
    },
  },
  {
    name: '8,192 tokens: map and cell complete',
    unit: 'ms',
    target: 2000,
    most: true,
    async run({ url, of }, i) {
      // A head that was not looked at before.
      const { page, browser } = await fresh(url, `#source=${of(8192)}&layer=${4 + i}&head=3`);
      const time = await page.evaluate(painted);
      await browser.close();
      return time;
    },
  },
  {
    name: '8,192 tokens: from the whole to single cells',
    unit: 'ms',
    target: null,
    most: true,
    async run({ url, of }, i) {
      const { page, browser } = await fresh(url, `#source=${of(8192)}&layer=${8 + i}&head=3&query=5000&key=4000`);
      await page.evaluate(painted);
      const time = await page.evaluate(async () => {
        const map = document.querySelector('attention-map');
        const canvas = map.querySelector('canvas');
        const start = performance.now();
        const { left, top, cell } = map.geometry;
        const box = canvas.getBoundingClientRect();
        const at = { clientX: box.left + left + 4000 * cell, clientY: box.top + top + 5000 * cell };
        const event = { bubbles: true, pointerId: 1, pointerType: 'mouse', ...at };
        canvas.dispatchEvent(new PointerEvent('pointermove', event));
        canvas.dispatchEvent(new MouseEvent('dblclick', { bubbles: true, ...at }));
        await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
        while (!map.hasAttribute('data-sharp')) await new Promise((resolve) => setTimeout(resolve, 1));
        return performance.now() - start;
      });
      await browser.close();
      return time;
    },
  },
  ...[
    ['example', 'example'],
    ['512 tokens', 512],
    ['8,192 tokens', 8192],
  ].map(([label, n]) => ({
    name: `${label}: click to worked cell, p95 of 60 clicks`,
    unit: 'ms',
    target: 50,
    most: true,
    async run({ url, of }) {
      const { page, browser } = await fresh(
        url,
        `#source=${n === 'example' ? n : of(n)}&layer=${n === 'example' ? 0 : 3}`,
      );
      await page.evaluate(painted);
      await page.waitForTimeout(500);
      const times = await page.evaluate(clicks, 60);
      await browser.close();
      return quantile(times, 0.95);
    },
  })),
  ...[1, 8].map((zoom) => ({
    name: `4,096 tokens: panning, ${zoom} px a cell`,
    unit: 'fps',
    target: 30,
    async run({ url, of }, i) {
      const { page, browser } = await fresh(
        url,
        `#source=${of(4096)}&layer=${2 + i}&head=3&zoom=${zoom}&centre=2000-1200`,
      );
      await page.evaluate(painted);
      await page.waitForTimeout(300);
      const rate = await pan(page);
      await browser.close();
      return rate;
    },
  })),
  {
    name: '8,192 tokens: memory of the page after zooming about',
    unit: 'MB',
    target: 200,
    most: true,
    async run({ url, of }) {
      const { page, browser } = await fresh(url, `#source=${of(8192)}&layer=2&head=3&query=5000&key=4000`);
      await page.evaluate(painted);
      await page.locator('attention-map canvas').focus();
      for (const key of '+++++-+-0++++++++') {
        await page.keyboard.press(key);
        await page.waitForTimeout(120);
        await page.waitForFunction(() => document.querySelector('attention-map')?.hasAttribute('data-sharp'), null, {
          timeout: 60000,
        });
      }
      const { process: size } = await memory(browser, page);
      await browser.close();
      return size;
    },
  },
  {
    // What the page keeps, whatever the browser's allocators still fill on the first clicks.
    name: '512 tokens: memory that 800 more clicked cells leave behind, after 200',
    unit: 'MB',
    target: 10,
    most: true,
    async run({ url, of }) {
      const bare = await openBare(`${url}#source=${of(512)}&layer=2&head=3`, { flags: FLAGS });
      await bare.evaluate(painted);
      const sizes = [];
      for (const count of [0, 200, 300, 500]) {
        await bare.evaluate(clicks, count);
        sizes.push(await bareMemory(bare));
      }
      await bare.close();
      const words = sizes.map(
        ({ process, heap, nodes, listeners }, i) =>
          `${[0, 200, 500, 1000][i]} clicks: ${process.toFixed(1)} MB, heap ${heap.toFixed(1)} MB, ${nodes} nodes, ${listeners} listeners`,
      );
      console.error(`  ${words.join('\n  ')}`);
      return sizes[3].process - sizes[1].process;
    },
  },
  {
    name: '512 tokens: every head of MiniLM in the grid',
    unit: 'ms',
    target: 1000,
    most: true,
    async run({ url, of }) {
      const { page, browser } = await fresh(url, `#source=${of('heads')}&view=heads`);
      const time = await page.evaluate(gridPainted);
      await browser.close();
      return time;
    },
  },
];

const files = await traces([512, 4096, 8192]);
const heads = await headsTrace();
const server = await view('example', ...files, ...(heads ? [heads] : []));
const { sources } = await (await fetch(`${server.url}api/sources`)).json();
const of = (n) => sources.find((one) => one.label.startsWith(String(n))).id;
const wanted = MEASURES.filter(({ name }) => name.includes(ONLY));
console.error(`${cpus()[0].model}, ${cpus().length} cores; load ${loadavg()[0].toFixed(1)} before`);
const lines = [];
for (const { name, unit, target, most, run: measure } of wanted) {
  const got = [];
  for (let i = 0; i < RUNS; i++) {
    try {
      got.push(await measure({ url: server.url, of }, i));
    } catch (error) {
      console.error(`  ${name}: ${error.message.split('\n')[0]}`);
      got.push(NaN);
    }
  }
  const worst = got.some(Number.isNaN) ? NaN : most ? Math.max(...got) : Math.min(...got);
  const holds =
    target === null
      ? ''
      : Number.isNaN(worst)
        ? 'failed'
        : (most ? worst < target : worst >= target)
          ? 'holds'
          : 'missed';
  const line = [
    name,
    `${worst.toFixed(most && unit === 'ms' ? 0 : 1)} ${unit}`,
    target === null ? '' : `${most ? '<' : '≥'} ${target}`,
    holds,
    got.map((x) => x.toFixed(0)).join(', '),
  ];
  console.error(line.join(' | '));
  lines.push(line);
}
console.error(`load ${loadavg()[0].toFixed(1)} after`);
await server.stop();
if (!KEEP) await rm(FOLDER, { recursive: true });

const head = ['what', 'worst', 'target', '', `${RUNS} runs`];
const widths = head.map((_, c) => Math.max(...[head, ...lines].map((line) => line[c].length)));
for (const line of [head, widths.map((w) => '-'.repeat(w)), ...lines])
  console.log(`| ${line.map((cell, c) => cell.padEnd(widths[c])).join(' | ')} |`);
if (lines.some((line) => line[3] === 'missed' || line[3] === 'failed')) process.exitCode = 1;
