// The lesson in the real program: each chapter opens, answers the hand, and says what the engine says.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { cellJson, noBinary } from '../lib/binary.mjs';
import { contrastFaults } from '../lib/contrast.mjs';
import { CHAPTERS, chosen, drag, numbers, openChapter, settled, turnTo } from '../lib/learn.mjs';
import { MINILM, SMOLLM, without } from '../lib/models.mjs';
import { program } from '../lib/stage.mjs';

const near = (/** @type {number} */ a, /** @type {number} */ b, /** @type {string} */ what, within = 1e-6) =>
  assert.ok(Math.abs(a - b) <= within * Math.max(1, Math.abs(b)), `${what}: ${a} is not ${b}`);

describe('the lesson on the worked example', { skip: noBinary }, () => {
  const stage = program(noBinary, () => ['example']);

  for (let chapter = 1; chapter <= CHAPTERS; chapter++) {
    test(`chapter ${chapter} opens, has something to move and something to try, and fits 360 px`, async () => {
      const { page, complaints } = await openChapter(stage.browser, stage.url, chapter, { width: 360, height: 740 });
      await settled(page);
      assert.ok((await page.locator('#chapter :is(input, button)').count()) >= 2);
      assert.equal(await page.locator('#chapter .try h3').innerText(), 'Try:');
      assert.match(await page.locator('#chapter .notice-this').innerText(), /^Notice: /);
      assert.ok(await page.locator('#chapter .stops').isVisible());
      assert.equal(await page.locator('#chapter .trouble:visible').count(), 0);
      const [wide, room] = await page.evaluate(() => [
        document.documentElement.scrollWidth,
        document.documentElement.clientWidth,
      ]);
      assert.ok(wide <= room, `${wide} of ${room}`);
      assert.deepEqual(complaints, []);
      await page.context().close();
    });
  }

  for (const scheme of /** @type {const} */ (['light', 'dark'])) {
    test(`every text has a contrast of 4.5 (${scheme})`, async () => {
      const { page } = await openChapter(stage.browser, stage.url, 1, { scheme });
      for (let chapter = 1; chapter <= CHAPTERS; chapter++) {
        await turnTo(page, chapter);
        await settled(page);
        assert.deepEqual(await contrastFaults(page), [], `chapter ${chapter}`);
      }
    });
  }

  test('every control has a name', async () => {
    const { page } = await openChapter(stage.browser, stage.url, 1);
    for (let chapter = 1; chapter <= CHAPTERS; chapter++) {
      await turnTo(page, chapter);
      await settled(page);
      const nameless = await page.locator('#chapter :is(input, button, a)').evaluateAll((all) =>
        all
          .filter((one) => {
            const labels = one instanceof HTMLInputElement ? [...(one.labels ?? [])] : [];
            return !(
              one.getAttribute('aria-label') ||
              one.textContent?.trim() ||
              labels.some((l) => l.textContent?.trim())
            );
          })
          .map((one) => one.outerHTML.slice(0, 120)),
      );
      assert.deepEqual(nameless, [], `chapter ${chapter}`);
    }
  });

  test('3: opens at 1.90 and 0.629, and any cell has the numbers of the command line', async () => {
    const { page } = await openChapter(stage.browser, stage.url, 3);
    await page.locator('.headline data').first().waitFor();
    assert.match(await page.locator('.headline').innerText(), /score 1\.90, weight 0\.629/);
    for (const [query, key] of [
      [4, 2],
      [9, 0],
    ]) {
      const cell = page.locator('.heat tbody tr').nth(query).locator('button').nth(key);
      await cell.click();
      await page.waitForFunction(([q, k]) => location.hash.includes(`query=${q}&key=${k}`), [query, key]);
      const said = await cellJson('example', { query, key });
      const [score, weight] = await numbers(page, '.headline');
      near(score, said.score, 'score');
      near(weight, said.weight, 'weight');
      const products = await numbers(page, '.panel tfoot');
      said.products.forEach((/** @type {number} */ x, /** @type {number} */ i) => near(products[i], x, `product ${i}`));
    }
  });

  test('3: the arrow keys walk, and a reload returns to the same cell', async () => {
    const { page } = await openChapter(stage.browser, stage.url, '3?query=6&key=1');
    await page.locator('.heat-cell.chosen').focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowRight');
    await page.waitForFunction(() => location.hash.includes('query=7&key=2'));
    const before = await page.locator('.headline').innerText();
    await page.reload();
    await page.locator('.headline data').first().waitFor();
    assert.equal(await page.locator('.headline').innerText(), before);
  });

  test('3: the link leads to exactly this cell of the inspector', async () => {
    const { page } = await openChapter(stage.browser, stage.url, '3?query=8&key=6');
    await page.locator('.inspect').first().click();
    await page.waitForFunction(() =>
      document.querySelector('cell-headline .note')?.textContent?.includes('query 8, key 6.'),
    );
  });

  test('5: the variance of raw scores follows d, and new samples are new', async () => {
    const { page } = await openChapter(stage.browser, stage.url, 5);
    await settled(page);
    const slider = page.getByRole('slider', { name: 'entries in a vector' }).first();
    await drag(slider, 10);
    await page.waitForFunction(() => location.hash.includes('power=10'));
    const [raw, scaled] = await numbers(page, '.answer');
    near(raw, 1024, 'variance at d = 1024', 0.1);
    near(scaled, 1, 'variance after the division', 0.1);
    await page.getByRole('button', { name: 'Draw new samples' }).click();
    await page.waitForFunction(
      (old) => Number(document.querySelector('.answer data')?.getAttribute('value')) !== old,
      raw,
    );
  });

  test('6: raising one score makes the others pay, and the row stays 1', async () => {
    const { page } = await openChapter(stage.browser, stage.url, 6);
    await settled(page);
    const weights = () => numbers(page, '.bars.with-control');
    await page.waitForFunction(() => document.querySelectorAll('.bars.with-control data').length === 10);
    const was = await weights();
    near(was[1], 0.629, 'robot', 1e-3);
    await drag(page.locator('.bars.with-control input').nth(4), 4);
    await page.waitForFunction(
      () => Number(document.querySelectorAll('.bars.with-control data')[4]?.getAttribute('value')) > 0.7,
    );
    const now = await weights();
    now.forEach((w, i) => assert.ok(i === 4 ? w > was[i] : w < was[i], `weight ${i}`));
    near(
      now.reduce((a, b) => a + b, 0),
      1,
      'the row',
      1e-5,
    );
    await page.getByRole('button', { name: 'Send the chosen key far down' }).click();
    await page.waitForFunction(() =>
      /0\.000 = e/.test(document.querySelectorAll('.bars.with-control li')[4]?.textContent ?? ''),
    );
  });

  test('6: the address keeps the scores', async () => {
    const { page } = await openChapter(stage.browser, stage.url, 6);
    await settled(page);
    await drag(page.locator('.bars.with-control input').nth(0), 3);
    await page.waitForFunction(() => location.hash.includes('scores=3_'));
    const before = await numbers(page, '.bars.with-control');
    await page.reload();
    await page.waitForFunction(() => document.querySelectorAll('.bars.with-control data').length === 10);
    (await numbers(page, '.bars.with-control')).forEach((w, i) => near(w, before[i], `weight ${i}`, 1e-3));
  });

  test('5: the row is one that the engine sampled, and each length can be chosen', async () => {
    const { page } = await openChapter(stage.browser, stage.url, '5?seed=3&keys=8&power=4');
    await settled(page);
    const said = await (await fetch(`${stage.url}api/scratch/scale?seed=3&samples=400&keys=8`)).json();
    const tops = () =>
      page
        .locator('.answer')
        .nth(1)
        .locator('data')
        .evaluateAll((all) => all.map((one) => Number(one.getAttribute('value'))));
    const check = async (/** @type {number} */ power) => {
      const { row_raw, row_scaled } = said.points[power];
      const [raw, scaled, steep, mild] = await tops();
      near(raw, Math.max(...row_raw.weights), 'raw', 1e-9);
      near(scaled, Math.max(...row_scaled.weights), 'divided', 1e-9);
      near(steep, row_raw.slope, 'slope', 1e-9);
      near(mild, row_scaled.slope, 'slope divided', 1e-9);
    };
    await check(4);
    await page.getByRole('button', { name: /^d = 1024:/ }).click();
    await page.waitForFunction(() => location.hash.includes('power=10'));
    await check(10);
    assert.equal(
      await page.locator('.rows-by-length [aria-pressed=true]').getAttribute('aria-label'),
      await page.evaluate(() => document.activeElement?.getAttribute('aria-label')),
    );
  });

  test('7: a value leaves A bit-identical, a key does not', async () => {
    const { page } = await openChapter(stage.browser, stage.url, 7);
    await page.locator('.verdict.holds').waitFor();
    const z = await numbers(page, '.answer');
    await drag(page.locator('.slider.of-v input').nth(1), 1.5);
    await page.waitForFunction(
      (old) => Number(document.querySelectorAll('.answer data')[1]?.getAttribute('value')) !== old,
      z[1],
    );
    const [first, second, third] = await numbers(page, '.answer');
    // robot's weight is 0.6291: its value went from -1 to 1.5 in one entry.
    near(second, z[1] + 2.5 * 0.6291, 'z', 1e-3);
    assert.deepEqual([first, third], [z[0], z[2]]);
    assert.match(await page.locator('.verdict').innerText(), /bit-identical/);
    await drag(page.locator('.slider.of-k input').first(), 0.5);
    await page.locator('.verdict:not(.holds)').waitFor();
    await page.waitForFunction(() => /v=.*k=/.test(location.hash));
    const before = await numbers(page, '.answer');
    await page.reload();
    await page.locator('.verdict:not(.holds)').waitFor();
    assert.deepEqual(await numbers(page, '.answer'), before);
    await page.getByRole('button', { name: 'Back to the example' }).click();
    await page.locator('.verdict.holds').waitFor();
  });

  for (const route of [
    '2?turned=45',
    '4?show=scores',
    '6?key=4',
    '8?step=3&token=1&part=0.25',
    '9?query=6&key=8&change=3&peek=yes&style=cross',
    '10?change=2&peek=yes',
    '11?habit=self&least=0.2',
    '12?n=512',
    '13?key=1&token=4&hide=4&out=1',
    '1?carrier=nurse&change=4&to=tired&attention=cut',
  ])
    test(`a reload returns to what was chosen: ${route}`, async () => {
      const { page, complaints } = await openChapter(stage.browser, stage.url, route);
      await settled(page);
      const before = await chosen(page);
      const usual = await openChapter(stage.browser, stage.url, parseInt(route));
      await settled(usual.page);
      assert.notDeepEqual(before, await chosen(usual.page), 'the link says something else than the chapter alone');
      await page.reload();
      await page.locator('#chapter h2').waitFor();
      await settled(page);
      assert.deepEqual(await chosen(page), before);
      assert.deepEqual(complaints, []);
    });

  test('a link to other choices of the chapter that is open opens them', async () => {
    const { page } = await openChapter(stage.browser, stage.url, 13);
    await settled(page);
    await page.evaluate(() => (location.hash = '#/13?hide=4&out=1'));
    await page.getByText('is hidden from').waitFor();
  });

  test('9: with the mask nothing before a changed word moves; without it, it does', async () => {
    const { page } = await openChapter(stage.browser, stage.url, 9);
    const list = page.getByRole('list', { name: 'How much each output changed' });
    await page.waitForFunction(() => /did not change by one bit/.test(document.body.innerText));
    assert.equal((await list.innerText()).match(/exactly 0/g)?.length, 8);
    await page.getByRole('radio', { name: 'None' }).last().check({ force: true });
    await page.waitForFunction(() => /had looked ahead/.test(document.body.innerText));
  });

  test('13: knocking out robot moves the mix, knocking out The hardly', async () => {
    const { page } = await openChapter(stage.browser, stage.url, 13);
    const moved = async () => parseFloat(await page.locator('.answer strong').last().innerText());
    await page.getByRole('radio', { name: 'Knocked out' }).check({ force: true });
    await page.waitForFunction(
      () => parseFloat([...document.querySelectorAll('.answer strong')].at(-1)?.textContent ?? '') > 50,
    );
    const much = await moved();
    const hidden = page.getByRole('list', { name: 'Weights of the row of it' }).locator('li.shut');
    assert.match(await hidden.innerText(), /robot[^]*hidden/);
    await page.getByRole('group', { name: 'From “it”, hide' }).getByRole('radio').first().check({ force: true });
    await page.waitForFunction(
      () => parseFloat([...document.querySelectorAll('.answer strong')].at(-1)?.textContent ?? '') < 20,
    );
    assert.ok((await moved()) < much / 4);
  });

  test('next and previous go through all chapters', async () => {
    const { page, complaints } = await openChapter(stage.browser, stage.url, 1);
    for (let chapter = 2; chapter <= CHAPTERS; chapter++) {
      await page.locator('.turn [rel=next]').click();
      await page.waitForFunction(
        (n) => document.querySelector('.chapter-line')?.textContent === `Chapter ${n}`,
        chapter,
      );
    }
    await page.locator('.turn [rel=prev]').click();
    await page.waitForFunction(() => document.querySelector('.chapter-line')?.textContent === 'Chapter 12');
    await settled(page);
    assert.deepEqual(complaints, []);
  });

  test('without a model a chapter says how to get one', async () => {
    for (const chapter of [1, 10, 11, 13]) {
      const { page } = await openChapter(stage.browser, stage.url, chapter);
      assert.match(await page.locator('.get-model').innerText(), /tools\/fetch-models/);
      await page.context().close();
    }
  });

  test('nothing moves for those who asked for that', async () => {
    const { page } = await openChapter(stage.browser, stage.url, 6);
    await page.emulateMedia({ reducedMotion: 'reduce' });
    assert.equal(await page.evaluate(() => document.getAnimations().length), 0);
  });
});

const noModels = without(MINILM, SMOLLM);

describe('the lesson on real models', { skip: noModels }, () => {
  const stage = program(noModels, () => ['example', MINILM, SMOLLM]);

  test('1: bank goes in the same and comes out different; without attention only the changed word moves', async () => {
    const { page } = await openChapter(stage.browser, stage.url, 1);
    await page.getByText('the same, bit for bit').waitFor();
    await drag(page.getByRole('slider', { name: 'after layer' }), 6);
    await page.getByText('apart').first().waitFor();
    assert.match(await page.locator('.answer').first().innerText(), /After layer 6, .* \d+° apart/);
    await page.getByText('10 of 10 positions').waitFor();
    await page.getByRole('radio', { name: 'All cut' }).check({ force: true });
    await page.getByText('1 of 10 positions').waitFor();
    assert.equal((await page.locator('.bars').innerText()).match(/exactly 0/g)?.length, 9);
  });

  test('10: earlier keys and values stay, bit for bit', async () => {
    const { page } = await openChapter(stage.browser, stage.url, 10);
    await page.getByText('the same, bit for bit').waitFor({ timeout: 60000 });
    assert.ok((await page.locator('.cache-table .kv:not(.fresh)').count()) > 0);
    assert.equal(await page.locator('.cache-table tbody tr').nth(2).locator('.fresh').count(), 1);
  });

  test('11: one picture for each head, and the marked ones reach the threshold', async () => {
    const { page } = await openChapter(stage.browser, stage.url, 11);
    await page.locator('.thumb').first().waitFor({ timeout: 60000 });
    assert.equal(await page.locator('.thumb').count(), 72);
    const marked = await page
      .locator('.thumb.reaches')
      .evaluateAll((all) => all.map((one) => one.getAttribute('aria-label') ?? ''));
    assert.ok(marked.length > 0);
    for (const label of marked) assert.ok(Number(label.split(' ').at(-1)) >= 0.5, label);
  });
});
