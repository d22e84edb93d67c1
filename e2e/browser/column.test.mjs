// The row in three numbers, and the column: who listens to a token.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { cliJson, noBinary } from '../lib/binary.mjs';
import { shows } from '../lib/browser.mjs';
import { program, standIn } from '../lib/stage.mjs';

/** @typedef {import('playwright-core').Page} Page */

const near = (/** @type {number} */ a, /** @type {number} */ b) =>
  assert.ok(Math.abs(a - b) <= 1e-6 * Math.max(1, Math.abs(b)), `${a} is not ${b}`);

/** The column as listed: each query with its weight. @param {Page} page */
const listed = (page) =>
  page
    .locator('column-listeners [data-query]')
    .evaluateAll((all) =>
      all.map((one) => [
        Number(/** @type {HTMLElement} */ (one).dataset.query),
        Number(one.querySelector('data')?.getAttribute('value')),
      ]),
    );

const received = async (/** @type {Page} */ page) =>
  Number(await page.locator('column-listeners .total data').getAttribute('value'));

describe('row and column of the example', { skip: noBinary }, () => {
  const stage = program(noBinary, () => ['example']);

  test('entropy, effective number of tokens and first-token share are the command line’s', async () => {
    const { page } = await stage.open();
    await shows(page, 6, 1);
    const row = await cliJson('row', 'example', '--query', 6);
    const facts = await page
      .locator('step-budget .row-facts data')
      .evaluateAll((all) => all.map((one) => Number(one.getAttribute('value'))));
    near(facts[0], row.entropy);
    near(facts[1], Math.exp(row.entropy));
    near(facts[2], row.weights[0]);
  });

  test('the column is what each row gives to the key', async () => {
    for (const causal of [false, true]) {
      const { page, complaints } = await stage.open({
        hash: `#source=example&causal=${Number(causal)}&query=6&key=4`,
      });
      await shows(page, 6, 4);
      await page.locator('column-listeners .total').waitFor();
      const rows = await Promise.all(
        Array.from({ length: 10 }, (_, i) => cliJson('row', 'example', '--query', i, ...(causal ? ['--causal'] : []))),
      );
      const expected = rows
        .map((row, i) => /** @type {[number, number, string | null]} */ ([i, row.weights[4], row.mask[4]]))
        .filter(([, , mask]) => mask === null)
        .sort((a, b) => b[1] - a[1] || a[0] - b[0]);
      const shown = await listed(page);
      assert.deepEqual(
        shown.map(([i]) => i),
        expected.map(([i]) => i),
      );
      shown.forEach(([, weight], n) => near(weight, expected[n][1]));
      near(
        await received(page),
        expected.reduce((sum, [, weight]) => sum + weight, 0),
      );
      assert.deepEqual(complaints, []);
    }
  });
});

describe('the column', () => {
  const stage = standIn();

  test('a click on a listener makes it the query', async () => {
    const { page } = await stage.open({ hash: '#source=s1&layer=3&head=4&query=8&key=2' });
    await shows(page, 8, 2);
    await page.locator('column-listeners [data-query="5"] button').click();
    await shows(page, 5, 2);
    await page.locator('column-listeners .here[data-query="5"]').waitFor();
  });

  test('of a long column the strongest are listed, and the others are summed', async () => {
    const { page } = await stage.open({ hash: '#source=long&layer=1&head=2&query=300&key=0' });
    await page.locator('column-listeners .total').waitFor();
    const shown = await listed(page);
    assert.ok(shown.length <= 12);
    const rest = Number(await page.locator('column-listeners .rest data').getAttribute('value'));
    near(
      shown.reduce((sum, [, weight]) => sum + weight, rest),
      await received(page),
    );
    await page.getByText('A column is no budget').waitFor();
  });
});
