// What few traces have: sinks, softcap and biases, masks of every kind, damage. The page says what is so.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { drawn, shows, value, values } from '../lib/browser.mjs';
import { standIn } from '../lib/stage.mjs';

describe('rare traces', () => {
  const stage = standIn();

  /** @param {string} source @param {number} query @param {number} key */
  async function at(source, query, key) {
    const opened = await stage.open({ hash: `#source=${source}&query=${query}&key=${key}` });
    await shows(opened.page, query, key);
    return opened;
  }

  test('every term of a score is a line, and they add up to the score', async () => {
    const { page, complaints } = await at('terms', 4, 2);
    const text = await page.locator('step-scale').innerText();
    for (const term of ['ALiBi', 'relative position', 'bias', 'tanh']) assert.ok(text.includes(term), term);
    const last = Number((await page.locator('step-scale mn.t-score').last().textContent())?.replace('−', '-'));
    const score = await value(page, 'step-mask');
    assert.ok(Math.abs(last - score) <= 0.006, `${last} is not ${score}`);
    assert.deepEqual(complaints, []);
  });

  test('a sink takes its part of the row, by the same measure as the keys', async () => {
    const { page, complaints } = await at('sink', 3, 1);
    await page.getByText('shares out 1 between them and the head’s sink').waitFor();
    const bars = await page.locator('step-budget .budget li:has(.bar)').evaluateAll((all) =>
      all.map((li) => ({
        full: Number(/** @type {HTMLElement} */ (li.querySelector('.bar')).style.getPropertyValue('--full')),
        weight: Number(li.querySelector('data.num')?.getAttribute('value')),
      })),
    );
    const most = Math.max(...bars.map(({ weight }) => weight));
    for (const { full, weight } of bars) assert.ok(Math.abs(full - weight / most) < 1e-9, `${full}: ${weight}`);
    assert.equal(await page.locator('step-budget .stack .sink').count(), 1);
    const shares = await page
      .locator('step-budget .stack span')
      .evaluateAll((all) => all.map((one) => Number(/** @type {HTMLElement} */ (one).style.getPropertyValue('--share'))));
    assert.ok(Math.abs(shares.reduce((a, b) => a + b, 0) - 1) < 0.03);
    // The effective number is of what the keys get.
    const weights = (await values(page, 'step-budget li[data-key]')).filter((w) => w > 0);
    const sum = weights.reduce((a, b) => a + b, 0);
    const effective = Math.exp(-weights.reduce((s, w) => s + (w / sum) * Math.log(w / sum), 0));
    const [, shown] = await values(page, 'step-budget .row-facts');
    assert.ok(Math.abs(shown - effective) < 1e-9 * effective, `${shown} is not ${effective}`);
    assert.deepEqual(complaints, []);
  });

  test('a row that sees no key gives all to the sink', async () => {
    const { page, complaints } = await at('sink', 0, 0);
    await page.getByText('sees no key: the head’s sink takes it all').waitFor();
    assert.equal(await page.locator('step-budget .row-facts dd').nth(1).innerText(), '—');
    assert.deepEqual(complaints, []);
  });

  test('what hides how many is said, and the legend names every reason', async () => {
    const { page, complaints } = await at('masks', 4, 3);
    await page.getByText('Hidden from it: 1 of padding, 2 of another segment, 1 cut.').waitFor();
    const legend = page.locator('map-legend .swatch-hidden');
    await page.waitForFunction(() => /cut/.test(document.querySelector('map-legend .swatch-hidden')?.textContent ?? ''));
    assert.match(await legend.innerText(), /hidden: it is padding, or it is in another segment, or it is cut/);
    await page.locator('attention-map canvas').focus();
    await page.keyboard.press('ArrowDown');
    await shows(page, 5, 3);
    await page.getByText('sees nothing: every weight is 0').waitFor();
    assert.deepEqual(complaints, []);
  });

  test('a row that does not sum to 1 is called damaged', async () => {
    const { page, complaints } = await at('unfit', 3, 1);
    await page.getByText('weights sum to 1.50: its lse does not fit its scores').waitFor();
    assert.equal(await page.getByText('a budget of exactly 1').count(), 0);
    assert.deepEqual(complaints, []);
  });

  test('numbers that are none are shown as such, and prove nothing', async () => {
    const { page, complaints } = await at('nan', 3, 1);
    assert.match(await page.locator('cell-headline h2').innerText(), /a weight of not a number/);
    await page.locator('head-facts .proof').waitFor();
    assert.match(await page.locator('head-facts .proof summary').innerText(), /✗ not proven.*not a number/s);
    await page.getByRole('tab', { name: 'Heads', exact: true }).click();
    await page.locator('head-grid[data-complete]').waitFor();
    assert.deepEqual(complaints, []);
  });

  test('a window without end is none, and the mean over one head is that head', async () => {
    const { page, complaints } = await at('one', 3, 1);
    assert.doesNotMatch(await page.locator('body').innerText(), /window of|\d{12}/);
    await page.getByRole('tab', { name: 'Text', exact: true }).click();
    await page.locator('text-view .running').waitFor();
    assert.equal(await page.getByText('all 1 heads').count(), 0);
    assert.deepEqual(complaints, []);
  });

  test('a trace that keeps no attention says so, and what was shown stays', async () => {
    const { page, complaints } = await stage.open();
    await page.selectOption('#source', 'bare');
    await page.getByText('There is nothing to look at').waitFor();
    assert.equal(await page.locator('main').getAttribute('inert'), null);
    assert.equal(await page.locator('#source').inputValue(), 'example');
    const first = await stage.open({ hash: '#source=bare', until: '.trouble' });
    assert.match(await first.page.locator('.trouble').first().innerText(), /There is nothing to look at/);
    assert.deepEqual([...complaints, ...first.complaints], []);
  });

  test('a shorter trace after a longer one is drawn without the old numbers', async () => {
    const { page, complaints } = await stage.open({ hash: '#source=example&query=9&key=9' });
    await shows(page, 9, 9);
    for (const source of ['masks', 'example', 'sink', 'long', 'terms']) {
      await page.selectOption('#source', source);
      await page.waitForFunction((s) => location.hash.includes(`source=${s}&`), source);
      await page.locator('cell-headline h2').waitFor();
      await drawn(page);
    }
    assert.deepEqual(complaints, []);
  });
});
