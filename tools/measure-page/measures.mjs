// What is measured, and what is asked of it.

import { openBare } from './bare-chromium.mjs';
import { FLAGS, bareMemory, fresh, memory } from './browsers.mjs';
import { allDrawn, clicks, gridPainted, painted, pan } from './in-page.mjs';

const quantile = (list, q) => [...list].sort((a, b) => a - b)[Math.min(list.length - 1, Math.floor(q * list.length))];

/**
 * What is measured. `most`: the target is a bound from above (else from below).
 * @type {{name: string, unit: string, target: number | null, most?: boolean, run: (at: {url: string, of: (n: number) => string}, i: number) => Promise<number>}[]}
 */
export const MEASURES = [
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
      const size = await memory(browser, page);
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
