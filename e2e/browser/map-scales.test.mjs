// The colours of the map: what the legend says is what the canvas shows, weights stay what they are,
// and hidden cells and columns left out are marked.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { rampAt } from '../../ui/palette.js';
import { fraction, rowFractions } from '../../ui/scales.js';
import { clickCell, shows } from '../lib/browser.mjs';
import { contrastFaults } from '../lib/contrast.mjs';
import { colourOf, readout, says, sharp } from '../lib/map.mjs';
import { standIn } from '../lib/stage.mjs';
import { exampleRun, rowOf } from '../lib/stand-in-runs.mjs';

/** @typedef {import('../../ui/palette.js').Palette} Palette */

const rows = exampleRun(false).tokens.map(
  (/** @type {any} */ _, /** @type {number} */ i) => rowOf(exampleRun(false), 0, 0, i).weights,
);

describe('scales and colours', () => {
  const stage = standIn();

  /**
   * @param {import('playwright-core').Page} page
   * @param {'light' | 'dark'} theme
   * @param {Palette} palette
   * @param {(query: number, key: number) => number} place  on the ramp
   * @param {number} [slack]
   */
  async function coloursAre(page, theme, palette, place, slack = 2) {
    for (const [query, key] of [
      [0, 1],
      [3, 8],
      [6, 4],
      [8, 6],
      [9, 9],
    ]) {
      const shown = await colourOf(page, query, key);
      const near = [-slack, 0, slack].flatMap((off) => [rampAt(theme, place(query, key) + off / 255, palette)]);
      const fits = shown.every(
        (c, i) => c >= Math.min(...near.map((n) => n[i])) - 1 && c <= Math.max(...near.map((n) => n[i])) + 1,
      );
      assert.ok(fits, `${query}, ${key}: ${shown} is not near ${near[1]}`);
    }
  }

  for (const theme of /** @type {const} */ (['light', 'dark'])) {
    for (const palette of /** @type {const} */ (['amber', 'viridis', 'cividis', 'grey'])) {
      test(`every scale in ${palette}, ${theme}: the colour of a cell is where its weight lies`, async () => {
        const { page, complaints } = await stage.open({
          scheme: theme,
          hash: `#source=example&query=6&key=1&palette=${palette}`,
        });
        for (const scale of /** @type {const} */ (['linear', 'sqrt', 'log', 'row', 'rank'])) {
          await page.locator('.scale-choice select').selectOption(scale);
          await sharp(page);
          await coloursAre(page, theme, palette, (query, key) => rowFractions(scale, rows[query])[key]);
          await page.waitForFunction((s) => location.hash.includes(`scale=${s}`), scale);
        }
        assert.deepEqual(complaints, []);
      });
    }
  }

  test('the legend says which scale, how far it goes and what is left out', async () => {
    const { page } = await stage.open({ hash: '#source=example&query=6&key=1' });
    await sharp(page);
    assert.equal(await says(page), 'weight, linear from 0 to 1');
    await page.locator('.scale-choice select').selectOption('log');
    await page.waitForFunction(() =>
      /log from 1e−5 to 1$/.test(document.querySelector('map-legend .says')?.textContent ?? ''),
    );
    await page.locator('.scale-choice select').selectOption('row');
    await page.waitForFunction(() =>
      /each row from 0 to its own largest/.test(document.querySelector('map-legend .says')?.textContent ?? ''),
    );
    assert.equal(await page.locator('.range-choice').count(), 0, 'rows end where they end');
    await page.locator('.scale-choice select').selectOption('rank');
    await page.waitForFunction(() =>
      /by rank within its row: order only, no sizes/.test(
        document.querySelector('map-legend .says')?.textContent ?? '',
      ),
    );
  });

  test('a column left out: the scale ends at the largest of the rest, and weights stay what they are', async () => {
    const { page } = await stage.open({ hash: '#source=example&query=6&key=1&scale=linear' });
    await sharp(page);
    await page.locator('attention-map canvas').focus();
    await page.keyboard.press('x');
    const top = Math.max(...rows.flatMap((/** @type {number[]} */ row) => row.filter((_, key) => key !== 1)));
    await page.waitForFunction(
      (end) => document.querySelector('map-legend .says')?.textContent?.endsWith(`to ${end}`),
      top.toPrecision(3),
    );
    assert.match(await page.locator('.swatch-left-out').innerText(), /not in the scale: robot/);
    await sharp(page);
    // The others against the new end; the column itself keeps its number.
    await coloursAre(
      page,
      'light',
      'amber',
      (query, key) => (key === 1 ? 2 : fraction('linear', rows[query][key], top)),
      3,
    ).catch((error) => {
      // Its own cells are crossed by lines.
      if (!/^0, 1:/.test(error.message)) throw error;
    });
    assert.equal(await page.locator('cell-headline h2 data').innerText(), '0.629');
    assert.match(await readout(page), /0\.629/);
    await page.waitForFunction(() => location.hash.includes('without=1'));
    await page.reload();
    await sharp(page);
    assert.equal(await page.locator('[data-focus="without-1"]').getAttribute('aria-pressed'), 'true');
    await page.locator('[data-focus="without-1"]').click();
    await page.waitForFunction(() =>
      /linear from 0 to 1$/.test(document.querySelector('map-legend .says')?.textContent ?? ''),
    );
    assert.equal(await page.locator('.swatch-left-out').count(), 0);
  });

  test('the first token and special tokens can be left out; by mouse, by keyboard and by link', async () => {
    const { page } = await stage.open({ hash: '#source=s1&layer=2&head=4&query=9&key=1' });
    await page.getByRole('button', { name: 'first token', exact: true }).click();
    await page.waitForFunction(() => location.hash.includes('without=first'));
    await page.getByRole('button', { name: 'special tokens', exact: true }).focus();
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => location.hash.includes('without=first-special'));
    assert.equal(
      await page.evaluate(() => /** @type {HTMLElement} */ (document.activeElement).dataset.focus),
      'without-special',
    );
  });

  test('the scale can end at the largest weight', async () => {
    const { page } = await stage.open({ hash: '#source=example&query=6&key=1&scale=linear' });
    await page.locator('.range-choice select').selectOption('largest');
    await page.waitForFunction(() =>
      /linear from 0 to 0\.629$/.test(document.querySelector('map-legend .says')?.textContent ?? ''),
    );
    await sharp(page);
    const top = Math.max(...rows.flat());
    await coloursAre(page, 'light', 'amber', (query, key) => fraction('linear', rows[query][key], top));
  });

  test('blocks show their largest weight or their mean, and say which', async () => {
    const { page } = await stage.open({ hash: '#source=longer&query=1400&key=1300', height: 1300 });
    await sharp(page);
    assert.match(await says(page), /^largest weight of each block/);
    const before = await colourOf(page, 1000, 995, 0);
    await page.locator('.blocks-choice select').selectOption('mean');
    await page.waitForFunction(() =>
      /^mean weight of each block/.test(document.querySelector('map-legend .says')?.textContent ?? ''),
    );
    await sharp(page);
    assert.notDeepEqual(await colourOf(page, 1000, 995, 0), before);
    await page.waitForFunction(() => location.hash.includes('blocks=mean'));
  });

  test('rows of a map that is wider than its window are compared as wholes', async () => {
    const { page } = await stage.open({
      hash: '#source=longer&layer=1&head=2&query=900&key=880&zoom=24&centre=900-880&scale=row',
    });
    await sharp(page);
    const answer = await fetch(`${stage.url}api/traces/longer/row?layer=1&head=2&query=900`);
    const { weights } = await answer.json();
    for (const key of [876, 884, 890]) {
      const want = rampAt('light', weights[key] / Math.max(...weights));
      const shown = await colourOf(page, 900, key);
      shown.forEach((c, i) => assert.ok(Math.abs(c - want[i]) <= 6, `${key}: ${shown} is not ${want}`));
    }
  });

  for (const scheme of /** @type {const} */ (['light', 'dark'])) {
    test(`the legend can be read (${scheme})`, async () => {
      const { page } = await stage.open({
        scheme,
        hash: '#source=s1&layer=2&head=4&query=9&key=1&without=first-special-3&scale=log',
      });
      await sharp(page);
      await page.locator('head-facts .proof').waitFor();
      await page.waitForTimeout(400);
      assert.deepEqual(await contrastFaults(page), []);
    });
  }

  test('a click on a cell opens it under every scale', async () => {
    const { page } = await stage.open({ hash: '#source=example&query=6&key=1&scale=rank&without=first' });
    await sharp(page);
    await clickCell(page, 3, 7, 10);
    await shows(page, 3, 7);
    assert.equal(await page.locator('cell-headline h2 data').getAttribute('value'), String(rows[3][7]));
  });
});
