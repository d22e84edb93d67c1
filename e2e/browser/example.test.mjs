// The worked example in the real program: what the page shows is what the command line says.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { cellJson, noBinary } from '../lib/binary.mjs';
import { clickCell, shows, value, values } from '../lib/browser.mjs';
import { program } from '../lib/stage.mjs';

const near = (/** @type {number} */ a, /** @type {number} */ b, /** @type {string} */ what) =>
  assert.ok(Math.abs(a - b) <= 1e-6 * Math.max(1, Math.abs(b)), `${what}: ${a} is not ${b}`);

describe('the worked example', { skip: noBinary }, () => {
  const stage = program(noBinary, () => ['example']);

  test('opens at it -> robot, with 1.90 and 0.629, and is said to be hand-designed', async () => {
    const { page, complaints } = await stage.open();
    await shows(page, 6, 1);
    assert.match(await page.locator('step-scale').innerText(), /1\.90/);
    assert.equal(await page.locator('cell-headline h2 data').innerText(), '0.629');
    assert.ok((await page.getByText('hand-designed, not trained').count()) >= 2);
    assert.ok(
      await page
        .getByText('An attention map is one observable piece of the computation, not an explanation of it.')
        .isVisible(),
    );
    await page.locator('.proof.holds').waitFor();
    assert.deepEqual(complaints, []);
  });

  test('every clicked cell has the numbers of the command line', async () => {
    const { page } = await stage.open();
    for (const [query, key] of [
      [0, 0],
      [3, 7],
      [8, 6],
      [9, 4],
      [6, 6],
    ]) {
      await clickCell(page, query, key, 10);
      await shows(page, query, key);
      const said = await cellJson('example', { query, key });
      const lines = await Promise.all(
        ['tbody tr:nth-child(1)', 'tbody tr:nth-child(2)', 'tfoot tr'].map((at) =>
          values(page, `step-vectors table ${at}`),
        ),
      );
      [said.q, said.k, said.products].forEach((list, i) =>
        list.forEach((/** @type {number} */ x, /** @type {number} */ c) => near(lines[i][c], x, `entry ${c}`)),
      );
      near(await value(page, 'cell-headline h2'), said.weight, 'weight');
      near(await value(page, 'step-mask p'), said.score, 'score');
      near(await value(page, 'step-softmax p'), said.lse, 'lse');
      const z = (await values(page, 'step-mix .mix tfoot')).slice(0, said.out.length);
      said.out.forEach((/** @type {number} */ x, /** @type {number} */ c) => near(z[c], x, `z ${c}`));
      const budget = await values(page, 'step-budget .budget .total');
      near(budget[0], 1, 'the row');
    }
  });

  test('the mask hides what comes later and the row sums to 1 again', async () => {
    const { page } = await stage.open();
    await page.getByRole('button', { name: 'Causal', exact: true }).click();
    await page.waitForFunction(() => document.querySelectorAll('step-mask .mask-row .is-hidden').length === 3);
    const said = await cellJson('example', { query: 6, key: 1, causal: true });
    await page.waitForFunction(
      (weight) =>
        Math.abs(Number(document.querySelector('cell-headline h2 data')?.getAttribute('value')) - weight) < 1e-6,
      said.weight,
    );
    const rows = page.locator('step-mask .mask-row tbody tr');
    for (const key of [7, 8, 9]) {
      assert.match(await rows.nth(key).innerText(), /−∞/);
      assert.equal((await cellJson('example', { query: 6, key, causal: true })).mask, 'future');
      assert.match(await page.locator('step-budget').innerText(), /comes later/);
    }
    const after = (await values(page, 'step-mask .mask-row tfoot')).at(-1);
    near(Number(after), 1, 'the row after the mask');
    await clickCell(page, 6, 8, 10);
    await shows(page, 6, 8);
    assert.match(await page.locator('cell-headline h2').innerText(), /cannot see/);
    assert.match(await page.locator('cell-headline .lead').innerText(), /comes later/);
  });

  test('an entry of Q, K and V shows the sum behind it', async () => {
    const { page } = await stage.open();
    for (const [entry, name] of [
      ['Q 6 1', 'Q'],
      ['K 1 0', 'K'],
      ['V 4 1', 'V'],
    ]) {
      const button = page.locator(`[data-entry="${entry}"]`);
      await button.click();
      const sum = await values(page, '.sum .terms');
      const total = sum.pop();
      let added = 0;
      for (let i = 0; i < sum.length; i += 2) added += sum[i] * sum[i + 1];
      near(added, Number(total), `the sum of ${entry}`);
      near(Number(total), await value(page, `[data-entry="${entry}"]`), entry);
      assert.equal(await page.locator(`.for-x tr.marked`).count(), 1);
      assert.equal(await page.locator(`.above.for-${name.toLowerCase()} td.on`).count(), 6);
    }
  });

  test('the address brings the same cell back', async () => {
    const { page } = await stage.open();
    await page.getByRole('button', { name: 'Causal', exact: true }).click();
    await clickCell(page, 8, 6, 10);
    await shows(page, 8, 6);
    await page.waitForFunction(
      () => location.hash.includes('query=8') && location.hash.includes('key=6') && location.hash.includes('causal=1'),
    );
    const before = await page.locator('cell-headline h2').innerText();
    await page.reload();
    await shows(page, 8, 6);
    assert.equal(await page.locator('cell-headline h2').innerText(), before);
  });

  test('the copied command gives this cell', async () => {
    const { page } = await stage.open();
    await page.getByRole('button', { name: 'Copy as command' }).click();
    assert.equal(
      await page.evaluate(() => navigator.clipboard.readText()),
      'attnscope cell example --layer 0 --head 0 --query 6 --key 1',
    );
  });

  test('the policy forbids everything from elsewhere', async () => {
    const answer = await fetch(stage.url);
    const policy = answer.headers.get('content-security-policy') ?? '';
    assert.match(policy, /default-src 'none'/);
    assert.match(policy, /script-src 'self'(;|$)/);
    assert.doesNotMatch(policy, /unsafe/);
  });
});
