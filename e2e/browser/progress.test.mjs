// A long run says how far it is, and can be stopped.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { BINARY, noBinary, view } from '../lib/binary.mjs';
import { launch, open } from '../lib/browser.mjs';

const MODELS = process.env.ATTNSCOPE_MODELS ?? fileURLToPath(new URL('../../models', import.meta.url));
const SMOLLM = `${MODELS}/smollm2-135m-instruct.Q4_1.gguf`;
const why =
  noBinary || (existsSync(SMOLLM) ? false : `SKIPPED: there is no ${SMOLLM}. Fetch it with tools/fetch-models.`);
if (why) console.error(`progress.test.mjs: ${why}`);

describe('a long run', { skip: why, timeout: 240000 }, () => {
  /** @type {Awaited<ReturnType<typeof view>>} */
  let server;
  /** @type {import('playwright-core').Browser} */
  let browser;
  before(async () => {
    if (!BINARY || why) return;
    server = await view('example', SMOLLM);
    browser = await launch();
  });
  after(async () => {
    await browser?.close();
    await server?.stop();
  });

  test('counts its layers, and stops when it is told to', async () => {
    const { page } = await open(browser, server.url);
    const model = await page.locator('#source option', { hasText: 'smollm' }).getAttribute('value');
    await page.selectOption('#source', model);
    await page.locator('#text').fill('the robot carried the patient '.repeat(1000));
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByText(/layer [1-9]\d* of 30/).waitFor({ timeout: 120000 });
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByText('Stopped. Press Run').waitFor();
    assert.equal(await page.getByRole('button', { name: 'Stop' }).count(), 0);
    // The page is back at what it showed, and the next run does not wait for the one that was given up.
    await page.locator('main:not([inert])').waitFor();
    await page.selectOption('#source', model);
    await page.locator('#text').fill('A short text.');
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.locator('main:not([inert])').waitFor({ timeout: 60000 });
    await page.waitForFunction(() => location.hash.includes('A+short+text.'));
  });
});
