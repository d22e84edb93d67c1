// Opening a chapter of the lesson, and moving what a reader's hand would move.

/** @typedef {import('playwright-core').Page} Page */

export const CHAPTERS = 13;

/**
 * @param {import('playwright-core').Browser} browser
 * @param {string} url
 * @param {number | string} chapter  or the whole route, such as `3?query=6&key=1`
 * @param {{width?: number, height?: number, scheme?: 'light' | 'dark'}} [how]
 * @returns {Promise<{page: Page, complaints: string[]}>}
 */
export async function openChapter(browser, url, chapter, { width = 1440, height = 900, scheme = 'light' } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: scheme });
  const page = await context.newPage();
  /** @type {string[]} */
  const complaints = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(`console: ${message.text()}`);
  });
  page.on('pageerror', (error) => complaints.push(`uncaught: ${error.message}`));
  page.on('request', (request) => {
    if (new URL(request.url()).origin !== new URL(url).origin) complaints.push(`request to ${request.url()}`);
  });
  await page.goto(`${url}ui/learn.html#/${chapter}`);
  await page.locator('#chapter h2').waitFor();
  return { page, complaints };
}

/** Turns to another chapter, as a link does. @param {Page} page @param {number} chapter */
export async function turnTo(page, chapter) {
  await page.evaluate((n) => (location.hash = `#/${n}`), chapter);
  await page.waitForFunction((n) => document.querySelector('.chapter-line')?.textContent === `Chapter ${n}`, chapter);
}

/** Waits until nothing on the page waits for the engine. @param {Page} page */
export async function settled(page) {
  await page.waitForFunction(() => !document.querySelector('#chapter [aria-busy="true"]'));
  await page.waitForTimeout(150);
}

/**
 * Moves a range as a hand or an arrow key would.
 * @param {import('playwright-core').Locator} range
 * @param {number} value
 */
export async function drag(range, value) {
  await range.evaluate((element, to) => {
    const input = /** @type {HTMLInputElement} */ (element);
    input.value = String(to);
    input.dispatchEvent(new Event('input', { bubbles: true }));
  }, value);
}

/** The exact numbers under a selector. @param {Page} page @param {string} selector */
export const numbers = (page, selector) =>
  page.locator(`${selector} data.num`).evaluateAll((all) => all.map((one) => Number(one.getAttribute('value'))));

/** What every control of the chapter stands at. @param {Page} page */
export const chosen = (page) =>
  page.locator('#chapter input').evaluateAll((all) =>
    all.map((one) => {
      const input = /** @type {HTMLInputElement} */ (one);
      return input.type === 'radio' ? `${input.value} ${input.checked}` : input.value;
    }),
  );
