// A page in a browser of its own, and what its process holds.

import { readFileSync } from 'node:fs';
import { chromium } from '../../e2e/node_modules/playwright-core/index.mjs';

export const FLAGS = ['--headless', '--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking'];

/** A page in a browser of its own, so that nothing is warm. */
export async function fresh(url, hash, { width = 1440, height = 900 } = {}) {
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: FLAGS,
  });
  const page = await browser.newPage({ viewport: { width, height } });
  await page.goto(url + hash, { waitUntil: 'commit' });
  return { page, browser };
}

/** Megabytes of the largest page process: shared pages counted in part. @param {{type: string, id: number}[]} processes */
const largest = (processes) =>
  Math.max(
    ...processes
      .filter((one) => one.type === 'renderer')
      .map(({ id }) => Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${id}/smaps_rollup`, 'utf8'))?.[1] ?? 0) / 1024),
  );

/** Megabytes of the page's process. */
export async function memory(browser, page) {
  const client = await page.context().newCDPSession(page);
  // What is only waiting to be collected is not counted.
  for (let i = 0; i < 2; i++) {
    await client.send('HeapProfiler.collectGarbage');
    await page.waitForTimeout(500);
  }
  const session = await browser.newBrowserCDPSession();
  return largest((await session.send('SystemInfo.getProcessInfo')).processInfo);
}

/** What a page's process holds once all that is only waiting to be collected is gone. */
export async function bareMemory(bare) {
  for (let i = 0; i < 3; i++) {
    await bare.ask('HeapProfiler.collectGarbage');
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  await bare.ask('Performance.enable');
  const { metrics } = await bare.ask('Performance.getMetrics');
  const metric = (name) => metrics.find((one) => one.name === name).value;
  const { processInfo } = await bare.askBrowser('SystemInfo.getProcessInfo');
  return {
    process: largest(processInfo),
    heap: metric('JSHeapUsedSize') / 2 ** 20,
    nodes: metric('Nodes'),
    listeners: metric('JSEventListeners'),
  };
}
