// The page at its sizes and in both themes: nothing overflows, text can be read, nothing moves unasked.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { shows } from '../lib/browser.mjs';
import { contrastFaults } from '../lib/contrast.mjs';
import { standIn } from '../lib/stage.mjs';

describe('how the page looks', () => {
  const stage = standIn();

  for (const [width, height] of [
    [360, 740],
    [768, 1024],
    [1440, 900],
    [1920, 1080],
  ]) {
    for (const hash of ['#source=example&causal=1&query=6&key=1', '#source=s1&layer=2&head=4&query=9&key=1']) {
      test(`fits ${width} x ${height}, ${hash.slice(8, 15)}`, async () => {
        const { page } = await stage.open({ width, height, hash });
        await page.locator('step-mix .step').waitFor();
        const [wide, room] = await page.evaluate(() => [
          document.documentElement.scrollWidth,
          document.documentElement.clientWidth,
        ]);
        assert.ok(wide <= room, `${wide} of ${room}`);
      });
    }
  }

  for (const scheme of /** @type {const} */ (['light', 'dark'])) {
    test(`every text has a contrast of 4.5 (${scheme})`, async () => {
      for (const hash of ['#source=example&causal=1&query=6&key=8', '#source=s1&layer=2&head=4&query=9&key=1']) {
        const { page } = await stage.open({ scheme, hash });
        await page.locator('step-mix .step').waitFor();
        await page.locator('head-facts .proof').waitFor();
        await page.waitForTimeout(400);
        assert.deepEqual(await contrastFaults(page), []);
      }
    });
  }

  test('the theme follows the system until it is chosen, and the choice is kept', async () => {
    const { page } = await stage.open({ scheme: 'dark' });
    const theme = () => page.evaluate(() => document.documentElement.dataset.theme);
    assert.equal(await theme(), 'dark');
    await page.getByRole('button', { name: 'Switch to the light page' }).click();
    assert.equal(await theme(), 'light');
    await page.reload();
    await shows(page, 6, 1);
    assert.equal(await theme(), 'light');
  });

  test('a quantity pointed at lights up everywhere', async () => {
    const { page } = await stage.open();
    await page.locator('step-softmax math [data-term="weight"]').first().hover();
    assert.equal(await page.evaluate(() => document.documentElement.dataset.lit), 'weight');
    const lit = await page.locator('cell-headline h2 data').evaluate((e) => getComputedStyle(e).backgroundColor);
    assert.notEqual(lit, 'rgba(0, 0, 0, 0)');
  });

  test('nothing moves for those who asked for that', async () => {
    const { page } = await stage.open({ before: (p) => p.emulateMedia({ reducedMotion: 'reduce' }) });
    const moving = await page.evaluate(() => document.getAnimations().length);
    assert.equal(moving, 0);
  });
});
