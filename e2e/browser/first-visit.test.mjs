// What somebody who has never seen the page wants to know, answered by the page alone.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { cliJson, idOf } from '../lib/binary.mjs';
import { value } from '../lib/browser.mjs';
import { SMOLLM, without } from '../lib/models.mjs';
import { program, standIn } from '../lib/stage.mjs';

const why = without(SMOLLM);

for (const [width, height] of [
  [1440, 900],
  [360, 740],
])
  describe(`a first visit at ${width} x ${height}`, { skip: why, timeout: 240000 }, () => {
    const stage = program(why, () => ['example', SMOLLM]);

    /** Opens the page as it starts, and picks SmolLM2. */
    async function arrive() {
      const opened = await stage.open({ width, height });
      await opened.page.locator('#source').selectOption({ label: 'smollm2-135m-instruct (Q4_1)' });
      await opened.page.waitForFunction(
        (id) => location.hash.includes(`source=${id}&`) && !document.querySelector('main')?.inert,
        await idOf(stage.url, /smollm2/),
        { timeout: 120000 },
      );
      return opened;
    }

    test('which token does "it" attend to most in layer 3 head 2, and what is the weight?', async () => {
      const { page, complaints } = await arrive();
      await page.locator('[data-focus="layer-select"]').selectOption('3');
      await page.getByRole('button', { name: 'Head 2', exact: true }).click();
      await page.getByRole('button', { name: /^token 6, it/ }).click();
      await page.waitForFunction(() =>
        /it\s*6\s*attends most to/.test(document.querySelector('row-answer')?.textContent ?? ''),
      );
      const { strongest } = await cliJson('row', SMOLLM, '--layer', 3, '--head', 2, '--query', 6);
      const [most] = strongest;
      const answer = page.locator('row-answer');
      assert.match(await answer.innerText(), new RegExp(`attends most to\\s*${most.token}`));
      assert.ok(Math.abs((await value(page, 'row-answer')) - most.weight) < 1e-6);
      // Nothing has to be looked for: the answer is in sight, and the cell is worked out.
      const box = await answer.boundingBox();
      assert.ok(box && box.y >= 0 && box.y + box.height <= height);
      await page.waitForFunction((key) => location.hash.includes(`query=6&key=${key}`), most.index);
      assert.deepEqual(complaints, []);
    });

    test('which heads are previous-token heads?', async () => {
      const { page } = await arrive();
      await page.getByRole('tab', { name: 'Heads' }).click();
      await page.waitForFunction(() => !document.querySelector('.progress'), null, { timeout: 60000 });
      await page.getByRole('button', { name: /^Previous token/ }).click();
      const said = await cliJson('heads', SMOLLM);
      const all = said.heads ?? said;
      const wanted = all
        .filter((/** @type {any} */ one) => one.previous >= 0.5)
        .map((/** @type {any} */ one) => `${one.layer}.${one.head}`)
        .sort();
      assert.ok(wanted.length > 0);
      assert.match(await page.locator('heads-headline h2').innerText(), new RegExp(`^${wanted.length} of`));
      const found = await page
        .locator('.found-head')
        .evaluateAll((heads) =>
          heads.map((one) => `${one.getAttribute('data-layer')}.${one.getAttribute('data-head')}`),
        );
      assert.deepEqual(found.sort(), wanted);
    });

    test('why is the score divided by the root of d?', async () => {
      const { page } = await arrive();
      await page.getByRole('link', { name: 'Why divide by √d?' }).click();
      await page.getByRole('heading', { name: 'Why divide by √d' }).waitFor();
      assert.match(await page.locator('.lead').innerText(), /variance is 1 again/);
    });
  });

describe('a first visit without a model', () => {
  const stage = standIn();

  test('a word that is clicked shows the key it attends to most', async () => {
    const { page } = await stage.open();
    const words = page.locator('.word');
    for (const i of [4, 8, 4, 4]) {
      await words.nth(i).click();
      await page.waitForFunction((query) => {
        const hash = new URLSearchParams(location.hash.slice(1));
        const most = document.querySelector('row-answer .tok-k sub')?.textContent;
        return hash.get('query') === String(query) && most !== undefined && hash.get('key') === most;
      }, i);
    }
    // Another key of the same row; then the row again.
    await page.keyboard.press('Escape');
    await page.locator('attention-map canvas').focus();
    await page.keyboard.press('End');
    await page.waitForFunction(() => location.hash.includes('key=9'));
    await page.getByText('another is chosen below').waitFor();
    await words.nth(4).click();
    await page.waitForFunction(() => !location.hash.includes('key=9'));
  });

  test('an empty text is not run, and what was read stays', async () => {
    const { page, complaints } = await stage.open({ hash: '#source=s1&text=one+two+three' });
    await page.locator('#text').fill('  ');
    await page.locator('#text').press('Enter');
    await page.getByText('There is no text to read').waitFor();
    assert.equal(await page.evaluate(() => document.querySelector('main')?.inert), false);
    assert.deepEqual(complaints, []);
  });
});
