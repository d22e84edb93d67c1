// Maps larger than the window: tiles for what is seen, the chosen cell in view, no element per cell.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { clickCell, launch, open, shows } from '../lib/browser.mjs';
import { StandIn } from '../lib/stand-in-server.mjs';

describe('large maps', () => {
  const server = new StandIn();
  let url = '';
  /** @type {import('playwright-core').Browser} */
  let browser;
  before(async () => {
    url = await server.start();
    browser = await launch();
  });
  after(async () => {
    await browser.close();
    await server.stop();
  });

  test('512 tokens fit, and any cell can be clicked', async () => {
    const { page, complaints } = await open(browser, url, { hash: '#source=long&layer=1&head=2&query=300&key=200' });
    await shows(page, 300, 200);
    await clickCell(page, 410, 77, 512);
    await shows(page, 410, 77);
    const elements = await page.evaluate(() => document.querySelectorAll('attention-map *').length);
    assert.ok(elements < 40, `${elements} elements in the map`);
    assert.deepEqual(complaints, []);
  });

  test('beyond 512 only the tiles in sight are fetched, none larger than allowed', async () => {
    /** @type {URL[]} */
    const tiles = [];
    const { page } = await open(browser, url, {
      hash: '#source=longer&query=1400&key=1300',
      before: async (p) =>
        void p.on('request', (request) => request.url().includes('/tile?') && tiles.push(new URL(request.url()))),
    });
    await shows(page, 1400, 1300);
    await page.waitForFunction(() => !document.querySelector('attention-map')?.classList.contains('stale'), null, {
      timeout: 60000,
    });
    for (const { searchParams: p } of tiles) {
      const span = (/** @type {string} */ axis) => Number(p.get(`${axis}1`)) - Number(p.get(`${axis}0`));
      assert.ok(span('q') <= 512 && span('k') <= 512 && Number(p.get('q1')) <= 1500);
    }
    assert.ok(
      tiles.some(({ searchParams: p }) => p.get('q0') === '1024'),
      'the chosen cell’s tile was fetched',
    );
    assert.ok(tiles.length < 9, 'not all nine');
  });

  test('zooming in keeps the chosen cell in sight and shows every name', async () => {
    const { page } = await open(browser, url, { hash: '#source=long&query=300&key=200' });
    for (let i = 0; i < 12 && (await page.getByRole('button', { name: 'Zoom in' }).isEnabled()); i++)
      await page.getByRole('button', { name: 'Zoom in' }).click();
    const place = await page.evaluate(() => {
      const box = /** @type {HTMLElement} */ (document.querySelector('attention-map .window'));
      const { cell, left, top } = /** @type {any} */ (document.querySelector('attention-map')).geometry;
      return {
        cell,
        x: left + 200.5 * cell - box.scrollLeft,
        y: top + 300.5 * cell - box.scrollTop,
        width: box.clientWidth,
        height: box.clientHeight,
        left,
        top,
      };
    });
    assert.ok(place.cell > 20);
    assert.ok(
      place.x > place.left && place.x < place.width && place.y > place.top && place.y < place.height,
      JSON.stringify(place),
    );
  });

  test('grouped heads say which kv head they share', async () => {
    const { page } = await open(browser, url, { hash: '#source=s1&layer=3&head=4&query=3&key=1' });
    await page.getByText('head 4 reads the keys and values of kv head 1, which it shares with heads 3, 5').waitFor();
  });
});
