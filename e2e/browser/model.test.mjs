// Real models in the real program. Without the model files these tests are skipped, loudly.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { BINARY, cellJson, noBinary, view } from '../lib/binary.mjs';
import { clickCell, launch, open, shows, value } from '../lib/browser.mjs';

const MODELS = process.env.ATTNSCOPE_MODELS ?? fileURLToPath(new URL('../../models', import.meta.url));
const SMOLLM = `${MODELS}/smollm2-135m-instruct.Q4_1.gguf`;
const why =
  noBinary || (existsSync(SMOLLM) ? false : `SKIPPED: there is no ${SMOLLM}. Fetch it with tools/fetch-models.`);
if (why) console.error(`model.test.mjs: ${why}`);

describe('SmolLM2', { skip: why, timeout: 240000 }, () => {
  /** @type {Awaited<ReturnType<typeof view>>} */
  let server;
  /** @type {import('playwright-core').Browser} */
  let browser;
  let id = '';
  before(async () => {
    if (!BINARY || why) return;
    server = await view('example', SMOLLM);
    browser = await launch();
    const { sources } = await (await fetch(`${server.url}api/sources`)).json();
    id = sources.find((/** @type {any} */ s) => s.kind === 'model' && /smollm/i.test(s.label))?.id;
    assert.ok(id, 'the model is among the sources');
  });
  after(async () => {
    await browser?.close();
    await server?.stop();
  });

  test('picked from the list: layer, head and cell show the numbers of the command line', async () => {
    const text = 'The capital of France is';
    const { page, complaints } = await open(browser, server.url);
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
    const { page, complaints } = await open(browser, server.url, {
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
