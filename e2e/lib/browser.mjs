// One Chromium for a test file, and pages that note everything they should not do.

import { chromium } from 'playwright-core';

/** @typedef {import('playwright-core').Page} Page */

const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/**
 * @typedef {object} Opened
 * @property {Page} page
 * @property {string[]} complaints  Console errors, uncaught errors, requests to elsewhere
 */

export function launch() {
  return chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: FLAGS });
}

/**
 * @param {import('playwright-core').Browser} browser
 * @param {string} url
 * @param {object} [how]
 * @param {number} [how.width]
 * @param {number} [how.height]
 * @param {'light' | 'dark'} [how.scheme]
 * @param {string} [how.hash]
 * @param {number} [how.patience]  Milliseconds until the first cell has to be there
 * @param {string} [how.until]     What has to be there instead of the first cell
 * @param {(page: Page) => Promise<unknown>} [how.before]  runs before the page is loaded
 * @returns {Promise<Opened>}
 */
export async function open(
  browser,
  url,
  {
    width = 1440,
    height = 900,
    scheme = 'light',
    hash = '',
    patience = 30000,
    until = 'cell-headline h2',
    before,
  } = {},
) {
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: scheme,
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  const page = await context.newPage();
  /** @type {string[]} */
  const complaints = [];
  page.on('console', (message) => {
    // A run may end between two questions about where it stands: 404 is the answer that says so.
    if (new RegExp('/api/runs/').test(message.location().url) && /404/.test(message.text())) return;
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(`console: ${message.text()}`);
  });
  page.on('pageerror', (error) => complaints.push(`uncaught: ${error.message}`));
  page.on('request', (request) => {
    const to = new URL(request.url());
    if (to.origin !== new URL(url).origin && !/^(data|blob):$/.test(to.protocol))
      complaints.push(`request to ${request.url()}`);
  });
  await before?.(page);
  await page.goto(url + hash);
  await page.locator(until).first().waitFor({ timeout: patience });
  if (until === 'cell-headline h2') await drawn(page);
  return { page, complaints };
}

/**
 * Waits until what is out of sight is drawn too.
 * @param {Page} page
 */
export const drawn = (page) =>
  page.waitForFunction(() => !document.querySelector(':not(:defined), #panel-cell [aria-busy="true"]')).then(() => {});

/**
 * Waits until the panel shows a cell, and the address and the numbers agree on it.
 * @param {Page} page
 * @param {number} query
 * @param {number} key
 */
export async function shows(page, query, key) {
  await page.waitForFunction(
    ([q, k]) =>
      document.querySelector('cell-headline .note')?.textContent?.includes(`query ${q}, key ${k}.`) &&
      document.querySelector('cell-headline')?.getAttribute('aria-busy') === 'false',
    [query, key],
  );
  await drawn(page);
}

/**
 * The exact value of one number on the page.
 * @param {Page} page
 * @param {string} selector
 */
export async function value(page, selector) {
  return Number(await page.locator(`${selector} data.num`).first().getAttribute('value'));
}

/**
 * The exact values of all numbers under a selector.
 * @param {Page} page
 * @param {string} selector
 */
export async function values(page, selector) {
  return page.locator(`${selector} data.num`).evaluateAll((all) => all.map((one) => Number(one.getAttribute('value'))));
}

/**
 * Clicks the middle of a cell on the canvas, where the map shows every cell at once.
 * @param {Page} page
 * @param {number} query
 * @param {number} key
 * @param {number} count  of rows and columns
 */
export async function clickCell(page, query, key, count) {
  const at = await page.evaluate(
    ([q, k, n]) => {
      const map = /** @type {any} */ (document.querySelector('attention-map'));
      const { cell, left, top, x, y } = map.geometry;
      if (map.geometry.columns !== n) throw new Error(`the map has ${map.geometry.columns} columns, not ${n}`);
      return { x: left + (k + 0.5) * cell - x, y: top + (q + 0.5) * cell - y };
    },
    [query, key, count],
  );
  await page.locator('attention-map canvas').click({ position: at });
}
