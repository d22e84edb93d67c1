// A long run says how far it is, and can be stopped.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { SMOLLM, without } from '../lib/models.mjs';
import { program } from '../lib/stage.mjs';

const why = without(SMOLLM);

describe('a long run', { skip: why, timeout: 240000 }, () => {
  const stage = program(why, () => ['example', SMOLLM]);

  test('counts its layers, and stops when it is told to', async () => {
    const { page } = await stage.open();
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
