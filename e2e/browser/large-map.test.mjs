// Maps larger than the window: tiles for what is seen, coarse before sharp, no element per cell.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { clickCell, shows } from '../lib/browser.mjs';
import { colourOf, geometry, placeOf, readout, says, sharp, under } from '../lib/map.mjs';
import { standIn } from '../lib/stage.mjs';

describe('large maps', () => {
  const stage = standIn();

  /** @param {import('playwright-core').Page} page @param {string} [what] */
  const questions = (page, what = 'tile|pooled') => {
    /** @type {URL[]} */
    const asked = [];
    page.on('request', (request) => {
      if (new RegExp(`/(${what})\\?`).test(request.url())) asked.push(new URL(request.url()));
    });
    return asked;
  };

  test('512 tokens fit, and any cell can be clicked', async () => {
    const { page, complaints } = await stage.open({ hash: '#source=long&layer=1&head=2&query=300&key=200' });
    await shows(page, 300, 200);
    await sharp(page);
    await clickCell(page, 410, 77, 512);
    await shows(page, 410, 77);
    const elements = await page.evaluate(() => document.querySelectorAll('attention-map *').length);
    assert.ok(elements < 40, `${elements} elements in the map`);
    assert.deepEqual(complaints, []);
  });

  test('beyond, the whole is shown in blocks, and a zoom fetches only what is in sight', async () => {
    /** @type {URL[]} */
    let asked = [];
    const { page, complaints } = await stage.open({
      hash: '#source=longer&query=1400&key=1300',
      before: async (p) => void (asked = questions(p)),
    });
    await shows(page, 1400, 1300);
    await sharp(page);
    assert.match(await says(page), /^largest weight of each block of 2–3 × 2–3 cells/);
    assert.ok(asked.length > 0 && asked.every((one) => one.pathname.endsWith('/pooled')));
    asked.length = 0;
    await page.locator('attention-map canvas').focus();
    for (let i = 0; i < 2; i++) await page.keyboard.press('+');
    await sharp(page);
    assert.match(await says(page), /^weight,/);
    const tiles = asked.filter((one) => one.pathname.endsWith('/tile'));
    assert.ok(tiles.length > 0 && tiles.length < 9, `${tiles.length}: not all nine`);
    for (const { searchParams: p } of tiles) {
      const span = (/** @type {string} */ axis) => Number(p.get(`${axis}1`)) - Number(p.get(`${axis}0`));
      assert.ok(span('q') <= 512 && span('k') <= 512 && Number(p.get('q1')) <= 1500);
    }
    assert.ok(
      tiles.some(({ searchParams: p }) => Number(p.get('q0')) <= 1400 && Number(p.get('q1')) > 1400),
      'the chosen cell’s tile was fetched',
    );
    assert.deepEqual(complaints, []);
  });

  test('a block tells its strongest cell, and a click opens that one', async () => {
    const { page } = await stage.open({ hash: '#source=longer&query=1400&key=1300', height: 1300 });
    await sharp(page);
    const at = await placeOf(page, 900, 800);
    await page.mouse.move(at.x, at.y);
    await page.waitForFunction(() => /largest/.test(document.querySelector('map-legend .readout')?.textContent ?? ''));
    const said = await readout(page);
    const [, q0, q1, k0, k1] = /queries (\d+)–(\d+), keys (\d+)–(\d+): largest/.exec(said)?.map(Number) ?? [];
    assert.ok(q0 <= 900 && 900 <= q1 && k0 <= 800 && 800 <= k1, said);
    const params = `layer=0&head=0&q0=${q0}&q1=${q1 + 1}&k0=${k0}&k1=${k1 + 1}`;
    const weights = new Float32Array(await (await fetch(`${stage.url}api/traces/longer/tile?${params}`)).arrayBuffer());
    const best = weights.indexOf(Math.max(...weights));
    const value = Number(await page.locator('map-legend .readout data').getAttribute('value'));
    assert.equal(value, weights[best]);
    await page.mouse.click(at.x, at.y);
    await shows(page, q0 + Math.floor(best / (k1 + 1 - k0)), k0 + (best % (k1 + 1 - k0)));
  });

  test('a block of nothing but hidden cells says why', async () => {
    const { page } = await stage.open({ hash: '#source=longer&query=1400&key=1300', height: 1300 });
    await sharp(page);
    for (const [query, key, why] of /** @type {const} */ ([
      [200, 1200, 'comes later'],
      [1200, 200, 'outside the window'],
    ])) {
      const at = await placeOf(page, query, key);
      await page.mouse.move(at.x, at.y);
      await page.waitForFunction(
        (text) => document.querySelector('map-legend .readout')?.textContent?.includes(`all hidden: ${text}`),
        why,
      );
    }
  });

  test('zooming in keeps the chosen cell in sight and shows every name', async () => {
    const { page } = await stage.open({ hash: '#source=long&query=300&key=200' });
    await sharp(page);
    for (let i = 0; i < 12 && (await page.getByRole('button', { name: 'Zoom in' }).isEnabled()); i++)
      await page.getByRole('button', { name: 'Zoom in' }).click();
    await sharp(page);
    const g = await geometry(page);
    const box = await page.locator('attention-map canvas').boundingBox();
    const at = await placeOf(page, 300, 200);
    assert.ok(g.cell > 20);
    assert.ok(box && at.x > box.x + g.left && at.x < box.x + box.width);
    assert.ok(box && at.y > box.y + g.top && at.y < box.y + box.height);
  });

  test('the wheel zooms about the pointer, and all the way out the page scrolls again', async () => {
    const { page } = await stage.open({ hash: '#source=long&query=300&key=200', height: 1100 });
    await sharp(page);
    // The browser rounds where a wheel turned to whole pixels.
    const place = await placeOf(page, 330, 120);
    const at = { x: Math.round(place.x), y: Math.round(place.y) };
    await page.mouse.move(at.x, at.y);
    const from = await under(page, at);
    for (let i = 0; i < 6; i++) await page.mouse.wheel(0, -120);
    await page.waitForTimeout(300);
    await sharp(page);
    const to = await under(page, at);
    const { cell } = await geometry(page);
    assert.ok(cell >= 4, `${cell}`);
    assert.ok(Math.abs(from.query - to.query) < 0.6 && Math.abs(from.key - to.key) < 0.6, JSON.stringify([from, to]));
    assert.equal(await page.evaluate(() => scrollY), 0);
    for (let i = 0; i < 14; i++) await page.mouse.wheel(0, 120);
    await page.waitForFunction(() => scrollY > 0);
    await sharp(page);
    assert.ok((await geometry(page)).cell < cell);
  });

  test('it is dragged, and a drag opens no cell', async () => {
    const { page } = await stage.open({ hash: '#source=long&query=300&key=200&zoom=8&centre=300-200' });
    await sharp(page);
    const at = await placeOf(page, 300, 200);
    await page.mouse.move(at.x, at.y);
    await page.mouse.down();
    await page.mouse.move(at.x - 40, at.y - 24, { steps: 5 });
    await page.waitForTimeout(100);
    await page.mouse.up();
    await sharp(page);
    const now = await placeOf(page, 300, 200);
    assert.ok(Math.abs(now.x - at.x + 40) <= 1 && Math.abs(now.y - at.y + 24) <= 1, JSON.stringify([at, now]));
    await shows(page, 300, 200);
    await page.waitForFunction(() => location.hash.includes('centre=303-205'));
  });

  test('the minimap says where one is, and goes there', async () => {
    const { page } = await stage.open({ hash: '#source=long&query=300&key=200' });
    await sharp(page);
    assert.equal(await page.locator('map-minimap').isVisible(), false);
    await page.keyboard.press('+');
    await page.keyboard.press('+');
    await page.keyboard.press('+');
    await sharp(page);
    const box = await page.locator('map-minimap').boundingBox();
    assert.ok(box && box.width > 50);
    if (!box) return;
    await page.mouse.click(box.x + 0.2 * box.width, box.y + 0.9 * box.height);
    await page.waitForTimeout(100);
    const g = await geometry(page);
    const middle = { query: (g.y + 200) / g.cell, key: (g.x + 200) / g.cell };
    assert.ok(middle.query > 340 && middle.key < 200, JSON.stringify(middle));
    await shows(page, 300, 200);
  });

  test('a double click, 0 and f show the whole', async () => {
    const { page } = await stage.open({ hash: '#source=long&query=300&key=200&zoom=8&centre=300-200' });
    await sharp(page);
    const whole = async () => {
      await sharp(page);
      await page.waitForFunction(() => !location.hash.includes('zoom='));
    };
    const at = await placeOf(page, 300, 200);
    await page.mouse.dblclick(at.x, at.y);
    await whole();
    for (const key of ['0', 'f']) {
      await page.keyboard.press('+');
      await page.waitForFunction(() => location.hash.includes('zoom='));
      await page.keyboard.press(key);
      await whole();
    }
    // On the whole map it goes in, to where names can be read.
    const there = await placeOf(page, 100, 50);
    await page.mouse.dblclick(there.x, there.y);
    await page.waitForFunction(() => location.hash.includes('zoom=16'));
    const found = await under(page, there);
    assert.ok(Math.abs(found.query - 100.5) < 1 && Math.abs(found.key - 50.5) < 1, JSON.stringify(found));
  });

  test('two fingers zoom about the point between them', async () => {
    const { page } = await stage.open({ hash: '#source=long&query=300&key=200', height: 1100 });
    await sharp(page);
    const at = await placeOf(page, 256, 128);
    const from = await under(page, at);
    const client = await page.context().newCDPSession(page);
    const touch = (/** @type {'touchStart' | 'touchMove' | 'touchEnd'} */ type, /** @type {number} */ apart) =>
      client.send('Input.dispatchTouchEvent', {
        type,
        touchPoints:
          type === 'touchEnd'
            ? []
            : [
                { x: at.x - apart, y: at.y, id: 1 },
                { x: at.x + apart, y: at.y, id: 2 },
              ],
      });
    await touch('touchStart', 30);
    for (let apart = 35; apart <= 120; apart += 5) await touch('touchMove', apart);
    await touch('touchEnd', 0);
    await page.waitForTimeout(300);
    await sharp(page);
    const { cell } = await geometry(page);
    const to = await under(page, at);
    assert.ok(cell >= 3 && cell <= 6, `${cell}`);
    assert.ok(Math.abs(from.query - to.query) < 3 && Math.abs(from.key - to.key) < 3, JSON.stringify([from, to]));
    await shows(page, 300, 200);
  });

  test('a link brings the same part of the map back, at another size of window too', async () => {
    const hash = '#source=longer&query=1400&key=1300&zoom=12&centre=700-650&scale=row&palette=grey';
    for (const size of [
      { width: 1440, height: 900 },
      { width: 360, height: 740 },
    ]) {
      const { page } = await stage.open({ hash, ...size });
      await sharp(page);
      const g = await geometry(page);
      assert.equal(g.cell, 12);
      const box = await page.locator('attention-map canvas').boundingBox();
      const at = await placeOf(page, 700, 650);
      assert.ok(box && at.x > box.x + g.left && at.x < box.x + box.width && at.y > box.y + g.top);
      await page.waitForTimeout(400);
      assert.match(await page.evaluate(() => location.hash), /zoom=12&centre=700-650/);
    }
  });

  test('another text shows all of it again', async () => {
    const { page } = await stage.open({ hash: '#source=s1&query=3&key=1&without=first-2' });
    await sharp(page);
    await page.locator('attention-map canvas').focus();
    await page.keyboard.press('+');
    await page.waitForFunction(() => location.hash.includes('zoom='));
    await page.locator('#text').fill('quite another text of another length, so that the map has another shape');
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => location.hash.includes('quite') && !location.hash.includes('zoom='));
    assert.match(await page.evaluate(() => location.hash), /without=first(&|$)/);
  });

  test('hidden cells, small weights and cells that have not come yet look different', async () => {
    const { page } = await stage.open({ hash: '#source=longer&query=1400&key=1300&zoom=32&centre=600-600' });
    await sharp(page);
    const small = await colourOf(page, 602, 595);
    const hidden = await colourOf(page, 600, 606);
    assert.notDeepEqual(small, hidden);
  });

  test('arrows with Shift go ten cells', async () => {
    const { page } = await stage.open({ hash: '#source=long&query=300&key=200' });
    await page.locator('attention-map canvas').focus();
    await page.keyboard.press('Shift+ArrowDown');
    await shows(page, 310, 200);
    await page.keyboard.press('Shift+ArrowLeft');
    await shows(page, 310, 190);
  });

  test('what is in view is said aloud', async () => {
    const { page } = await stage.open({ hash: '#source=long&query=300&key=200' });
    await sharp(page);
    await page.locator('attention-map canvas').focus();
    for (let i = 0; i < 4; i++) await page.keyboard.press('+');
    await page.waitForFunction(() =>
      /^Queries \d+ to \d+, keys \d+ to \d+$/.test(document.getElementById('said')?.textContent ?? ''),
    );
    await page.keyboard.press('f');
    await page.waitForFunction(() =>
      /The whole map, 512 queries by 512 keys/.test(document.getElementById('said')?.textContent ?? ''),
    );
  });

  test('grouped heads say which kv head they share', async () => {
    const { page } = await stage.open({ hash: '#source=s1&layer=3&head=4&query=3&key=1' });
    await page.getByText('head 4 reads the keys and values of kv head 1, which it shares with heads 3, 5').waitFor();
  });
});
