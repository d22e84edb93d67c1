// Everything can be reached with the keys, and what happens is said aloud.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { shows } from '../lib/browser.mjs';
import { standIn } from '../lib/stage.mjs';

describe('the keyboard', () => {
  const stage = standIn();

  test('arrows move the cell at once, and stop at the edges', async () => {
    const { page } = await stage.open();
    await shows(page, 6, 1);
    await page.keyboard.press('ArrowDown');
    await shows(page, 7, 1);
    for (let i = 0; i < 3; i++) await page.keyboard.press('ArrowLeft');
    await shows(page, 7, 0);
    await page.locator('attention-map canvas').focus();
    await page.keyboard.press('End');
    await shows(page, 7, 9);
    await page.keyboard.press('Home');
    await shows(page, 7, 0);
  });

  test('[ and ] change the head, { and } and the page keys the layer', async () => {
    const { page } = await stage.open({ hash: '#source=s1&layer=3&head=4&query=8&key=2' });
    const at = (/** @type {number} */ layer, /** @type {number} */ head) =>
      page.waitForFunction(
        ([l, h]) => document.querySelector('cell-headline .note')?.textContent?.includes(`Layer ${l}, head ${h} `),
        [layer, head],
      );
    await page.keyboard.press(']');
    await at(3, 5);
    await page.keyboard.press('[');
    await at(3, 4);
    await page.keyboard.press('}');
    await at(4, 4);
    await page.keyboard.press('{');
    await at(3, 4);
    await page.locator('attention-map canvas').focus();
    await page.keyboard.press('PageDown');
    await at(4, 4);
  });

  test('keys typed into the text stay there', async () => {
    const { page } = await stage.open({ hash: '#source=s1&query=8&key=2' });
    await page.locator('#text').focus();
    await page.keyboard.press('End');
    await page.keyboard.type('[x]');
    await page.keyboard.press('ArrowLeft');
    await shows(page, 8, 2);
    assert.match(await page.locator('#text').inputValue(), /\[x\]/);
  });

  test('the cell in view is announced, and the map has a name', async () => {
    const { page } = await stage.open();
    await page.keyboard.press('ArrowRight');
    await page.waitForFunction(() =>
      /Query 6 it, key 2 carried: weight 0\.0156/.test(document.getElementById('said')?.textContent ?? ''),
    );
    assert.match(
      (await page.getByRole('application').getAttribute('aria-label')) ?? '',
      /10 query rows by 10 key columns/,
    );
  });

  test('what was unfolded stays so from cell to cell', async () => {
    const { page } = await stage.open();
    await page.getByText('What these dimensions mean').click();
    await page.locator('.proof summary').click();
    await page.locator('attention-map canvas').focus();
    await page.keyboard.press('ArrowDown');
    await shows(page, 7, 1);
    assert.equal(
      await page.locator('step-vectors details').evaluate((d) => /** @type {HTMLDetailsElement} */ (d).open),
      true,
    );
    assert.equal(await page.locator('.proof').evaluate((d) => /** @type {HTMLDetailsElement} */ (d).open), true);
  });

  test('the focus stays where it was when the page draws anew', async () => {
    const { page } = await stage.open();
    await page.locator('[data-focus="budget4"]').focus();
    await page.keyboard.press('Enter');
    await shows(page, 6, 4);
    assert.equal(
      await page.evaluate(() => /** @type {HTMLElement} */ (document.activeElement).dataset.focus),
      'budget4',
    );
    await page.locator('[data-focus="maskfalse"]').focus();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.locator('step-mask .mask-row .is-hidden').first().waitFor();
    assert.equal(
      await page.evaluate(() => /** @type {HTMLElement} */ (document.activeElement).dataset.focus),
      'masktrue',
    );
    const ring = await page.evaluate(
      () => getComputedStyle(/** @type {HTMLElement} */ (document.activeElement)).outlineStyle,
    );
    assert.equal(ring, 'solid');
  });
});
