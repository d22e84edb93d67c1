// Real models in the real program. Without the model files these tests are skipped, loudly.

import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { cellJson, idOf } from '../lib/binary.mjs';
import { clickCell, shows, value } from '../lib/browser.mjs';
import { SMOLLM, without } from '../lib/models.mjs';
import { program } from '../lib/stage.mjs';

const why = without(SMOLLM);

describe('SmolLM2', { skip: why, timeout: 240000 }, () => {
  const stage = program(why, () => ['example', SMOLLM]);
  let id = '';
  before(async () => {
    if (why) return;
    id = await idOf(stage.url, /smollm/i);
  });

  test('picked from the list: layer, head and cell show the numbers of the command line', async () => {
    const text = 'The capital of France is';
    const { page, complaints } = await stage.open();
    await page.selectOption('#source', id);
    await page.locator('#text').fill(text);
    await page.getByRole('button', { name: 'Run' }).click();
    await page.waitForFunction(
      (t) => location.hash.includes(`text=${t}`) && !document.querySelector('main')?.inert,
      text.replaceAll(' ', '+'),
      { timeout: 120000 },
    );
    await page.locator('[data-focus="layer-select"]').selectOption('7');
    await page.getByRole('button', { name: 'Head 5', exact: true }).click();
    const rows = await page.evaluate(() => /** @type {any} */ (document.querySelector('attention-map')).geometry.rows);
    await clickCell(page, rows - 1, 1, rows);
    await shows(page, rows - 1, 1);
    const said = await cellJson(SMOLLM, { layer: 7, head: 5, query: rows - 1, key: 1, text });
    const near = (/** @type {number} */ a, /** @type {number} */ b) =>
      assert.ok(Math.abs(a - b) <= 1e-5 * Math.max(1, Math.abs(b)), `${a} is not ${b}`);
    near(await value(page, 'cell-headline h2'), said.weight);
    near(await value(page, 'step-mask p'), said.score);
    near(await value(page, 'step-softmax p'), said.lse);
    assert.equal(said.kv_head, 1);
    await page.getByText('kv head 1, which it shares with heads 3, 4').waitFor();
    await page.locator('.proof.holds').waitFor();
    assert.deepEqual(complaints, []);
  });

  test('a text that looks like markup stays text', async () => {
    const text = 'Look: <img src=x onerror=window.pwned=1> and <script>window.pwned=1</script>';
    const { page, complaints } = await stage.open({
      hash: `#source=${id}&text=${encodeURIComponent(text)}`,
      patience: 120000,
    });
    await page.locator('step-mix .step').waitFor({ timeout: 120000 });
    assert.equal(await page.evaluate(() => 'pwned' in window), false);
    assert.equal(await page.locator('img:not([src="/ui/icon.svg"])').count(), 0);
    const shown = (await page.locator('.ribbon').innerText()).replaceAll('·', ' ');
    assert.ok(shown.includes('onerror'), shown);
    assert.deepEqual(complaints, []);
  });
});
