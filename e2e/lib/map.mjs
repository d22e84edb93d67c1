// What the map shows, for tests: where its cells are, and the colours on its canvas.

/** @typedef {import('playwright-core').Page} Page */

/**
 * Waits until all of what is in view is here and nothing moves.
 * @param {Page} page
 */
export async function sharp(page) {
  await page.waitForFunction(() => document.querySelector('attention-map')?.hasAttribute('data-sharp'), null, {
    timeout: 60000,
  });
  // What is sharp may still be about to change: a question asked in the last frame.
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
  await page.waitForFunction(() => document.querySelector('attention-map')?.hasAttribute('data-sharp'), null, {
    timeout: 60000,
  });
}

/**
 * @param {Page} page
 * @returns {Promise<{rows: number, columns: number, cell: number, left: number, top: number, x: number, y: number}>}
 */
export const geometry = (page) =>
  page.evaluate(() => /** @type {any} */ (document.querySelector('attention-map')).geometry);

/**
 * The middle of a cell on the screen.
 * @param {Page} page
 * @param {number} query
 * @param {number} key
 */
export async function placeOf(page, query, key) {
  const g = await geometry(page);
  const box = await page.locator('attention-map canvas').boundingBox();
  if (!box) throw new Error('there is no map');
  return { x: box.x + g.left + (key + 0.5) * g.cell - g.x, y: box.y + g.top + (query + 0.5) * g.cell - g.y };
}

/**
 * The cell under a point of the screen, with its fraction.
 * @param {Page} page
 * @param {{x: number, y: number}} at
 */
export async function under(page, at) {
  const g = await geometry(page);
  const box = await page.locator('attention-map canvas').boundingBox();
  if (!box) throw new Error('there is no map');
  return { query: (at.y - box.y - g.top + g.y) / g.cell, key: (at.x - box.x - g.left + g.x) / g.cell };
}

/**
 * The colour of a point in a cell, a little away from its middle, where its number may stand.
 * @param {Page} page
 * @param {number} query
 * @param {number} key
 * @param {number} [off]  in cells
 * @returns {Promise<number[]>}
 */
export const colourOf = (page, query, key, off = 0.3) =>
  page.evaluate(
    ([q, k, d]) => {
      const canvas = /** @type {HTMLCanvasElement} */ (document.querySelector('attention-map canvas'));
      const { cell, left, top, x, y } = /** @type {any} */ (document.querySelector('attention-map')).geometry;
      const ratio = canvas.width / canvas.clientWidth;
      const [px, py] = [left + (k + 0.5 - d) * cell - x, top + (q + 0.5 - d) * cell - y];
      const brush = /** @type {OffscreenCanvasRenderingContext2D} */ (
        new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true })
      );
      brush.drawImage(canvas, Math.floor(px * ratio), Math.floor(py * ratio), 1, 1, 0, 0, 1, 1);
      return [...brush.getImageData(0, 0, 1, 1).data].slice(0, 3);
    },
    [query, key, off],
  );

/** @param {Page} page  the text under the map that says what is shown */
export const says = (page) => page.locator('map-legend .says').innerText();

/** @param {Page} page */
export const readout = async (page) => (await page.locator('map-legend .readout').innerText()).replace(/\s+/g, ' ');
