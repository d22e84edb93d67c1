#!/usr/bin/env node
// How quick the page is: node tools/measure-page.mjs [--bin FILE] [--model FILE] [--runs 3] [--only WORD] [--keep]
//
// Starts the release build with traces of 512, 4,096 and 8,192 tokens, opens the page in headless
// Chromium and prints a table: for each figure the worst of the runs (of three, that is p95). The
// traces (2.4 GB) are made first, and are removed at the end unless --keep is given. Needs e2e's npm
// packages, chromium, the SmolLM2 model of tools/fetch-models, and for the heads its MiniLM.

import { rm } from 'node:fs/promises';
import { cpus, loadavg } from 'node:os';
import { MEASURES } from './measure-page/measures.mjs';
import { headsTrace, traces, view } from './measure-page/runs.mjs';
import { FOLDER, KEEP, ONLY, RUNS } from './measure-page/settings.mjs';

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
