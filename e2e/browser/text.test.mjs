// The running text: what pinned tokens attend to, and who attends to them, against the command line.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { before, describe, test } from 'node:test';
import { cliJson, idOf } from '../lib/binary.mjs';
import { contrastFaults } from '../lib/contrast.mjs';
import { MINILM, without } from '../lib/models.mjs';
import { program, standIn } from '../lib/stage.mjs';

/** @typedef {import('playwright-core').Page} Page */

const until = 'text-pins .pin';
const word = (/** @type {number} */ i) => `.running [data-i="${i}"]`;

/** What the panel lists of a pinned token. @param {Page} page @param {number} token */
const listed = (page, token) =>
  page
    .locator(`.pin[data-token="${token}"] [data-key]`)
    .evaluateAll((all) =>
      all.map((one) => [
        Number(/** @type {HTMLElement} */ (one).dataset.key),
        Number(one.querySelector('data')?.getAttribute('value')),
      ]),
    );

const near = (/** @type {number} */ a, /** @type {number} */ b) =>
  assert.ok(Math.abs(a - b) <= 2e-6 * Math.max(1, Math.abs(b)), `${a} is not ${b}`);

describe('the text', () => {
  const stage = standIn();

  test('pointing shows a token’s row, clicking keeps it, Escape lets go', async () => {
    const { page, complaints } = await stage.open({ hash: '#source=s1&layer=3&head=4&view=text', until });
    await page.locator(word(5)).hover();
    await page.locator('.pin[data-token="5"]').waitFor();
    await page.locator(word(5)).click();
    await page.locator(word(8)).click();
    await page.waitForFunction(() => location.hash.includes('pins=5.8'));
    assert.deepEqual(
      await page
        .locator('.t.pinned')
        .evaluateAll((all) => all.map((e) => [e.getAttribute('data-i'), e.getAttribute('data-mark')])),
      [
        ['5', 'A'],
        ['8', 'B'],
      ],
    );
    await page.getByText('mean of the 2 pinned tokens').waitFor();
    await page.locator(word(2)).hover();
    await page.locator('.text-readout', { hasText: 'gets' }).waitFor();
    assert.equal(await page.locator('.pin').count(), 2, 'pins stay while others are pointed at');
    await page.locator('.running').focus();
    await page.keyboard.press('Escape');
    await page.waitForFunction(() => !location.hash.includes('pins'));
    assert.deepEqual(complaints, []);
  });

  test('keys: arrows, Enter, up and down; what is there is said', async () => {
    const { page } = await stage.open({ hash: '#source=s1&layer=3&head=4&view=text&query=3', until });
    await page.locator('.running').focus();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    await page.waitForFunction(() => /^Token 4 /.test(document.getElementById('said')?.textContent ?? ''));
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => location.hash.includes('pins=4'));
    await page.keyboard.press('Home');
    await page.waitForFunction(() => /^Token 0 .*weight/.test(document.getElementById('said')?.textContent ?? ''));
    assert.equal(await page.locator('.running').getAttribute('aria-activedescendant'), 'pointed-token');
    await page.keyboard.press('Space');
    await page.waitForFunction(() => location.hash.includes('pins=4.0'));
  });

  test('a link opens the same pins, heads and direction; a listed weight opens its cell', async () => {
    const { page } = await stage.open({
      hash: '#source=s1&view=text&layer=3&head=1&heads=1.4&pins=2&facing=by&query=0&key=0',
      until,
    });
    await page.getByText('average of the weights of heads 1, 4').waitFor();
    assert.equal(await page.getByRole('button', { name: 'is attended to by' }).getAttribute('aria-pressed'), 'true');
    const [[first]] = await listed(page, 2);
    await page.locator(`.pin [data-key="${first}"] button`).click();
    await page.waitForFunction(
      (q) => location.hash.includes(`query=${q}&key=2`) && !location.hash.includes('view='),
      first,
    );
  });

  test('the mean of the layer is called a mean, and is one', async () => {
    const { page } = await stage.open({
      hash: '#source=s1&view=text&layer=3&head=0&pins=6&text=a+b+c+d+e+f+g',
      until,
    });
    await page.getByRole('button', { name: 'Mean of the layer' }).click();
    await page.getByText('plain average of the weights of all 9 heads').waitFor();
    await page.locator('.pin h3', { hasText: '(mean)' }).waitFor();
    const trace = [...stage.server.runs.keys()].at(-1);
    const rows = await Promise.all(
      Array.from({ length: 9 }, async (_, h) =>
        (await fetch(`${stage.url}api/traces/${trace}/row?layer=3&head=${h}&query=6`)).json(),
      ),
    );
    for (const [key, weight] of await listed(page, 6))
      near(weight, rows.reduce((sum, row) => sum + row.weights[key], 0) / 9);
  });

  test('joined bytes, line breaks, special tokens and markup are shown as what they are', async () => {
    const { page, complaints } = await stage.open({ hash: '#source=s1&view=text', until });
    const text = await page.locator('.running').innerText();
    assert.ok(text.includes('<b>') && text.includes('日本') && text.includes('👩‍🚀'), text);
    assert.equal(await page.locator('.running .tok-special').first().innerText(), '<|endoftext|>');
    assert.equal(await page.locator('.running .tok-part').count(), 1);
    assert.ok((await page.locator('.running p').count()) > 1);
    assert.equal(await page.locator('.running b').count(), 0);
    assert.deepEqual(complaints, []);
  });

  test('right-to-left text runs from the right, and the arrow keys with it', async () => {
    const { page } = await stage.open({
      hash: `#source=s1&view=text&text=${encodeURIComponent('مرحبا بالعالم اليوم')}&query=1`,
      until,
    });
    assert.equal(
      await page
        .locator('.running p')
        .first()
        .evaluate((p) => getComputedStyle(p).direction),
      'rtl',
    );
    const [first, last] = await page.evaluate(() =>
      ['1', '3'].map((i) => document.querySelector(`.running [data-i="${i}"]`)?.getBoundingClientRect().left ?? 0),
    );
    assert.ok(first > last);
    await page.locator('.running').focus();
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('ArrowLeft');
    await page.waitForFunction(() => /^Token 2 /.test(document.getElementById('said')?.textContent ?? ''));
  });

  test('8,000 tokens: there at once, and pointing never blocks', async () => {
    const { page, complaints } = await stage.open({
      hash: '#source=book&view=text&layer=1&head=2&query=7000',
      until,
      patience: 60000,
    });
    assert.equal(await page.locator('.t').count(), 8000);
    await page.evaluate(() => {
      const seen = /** @type {any} */ (window);
      seen.longest = 0;
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) seen.longest = Math.max(seen.longest, entry.duration);
      }).observe({ type: 'longtask' });
    });
    for (const i of [20, 25, 40, 60]) {
      await page.locator(word(i)).hover();
      await page.locator(`.pin[data-token="${i}"]`).waitFor();
    }
    await page.selectOption('ramp-bar select >> visible=true', 'log');
    await page.locator(word(30)).click();
    await page.waitForFunction(() => location.hash.includes('pins=30'));
    const longest = await page.evaluate(() => /** @type {any} */ (window).longest);
    assert.ok(longest < 500, `blocked for ${longest} ms`);
    assert.deepEqual(complaints, []);
  });

  test('what is shown can be taken along as numbers, and as a link', async () => {
    const { page } = await stage.open({
      hash: '#source=s1&view=text&layer=3&head=4&pins=5.2&text=one+two+three+four+five+six',
      until,
    });
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'CSV of this text' }).click(),
    ]);
    const lines = readFileSync(await download.path(), 'utf8').split('\r\n');
    assert.equal(lines[0], 'index,token,weight_from_5,weight_from_2,mean,hidden');
    const trace = [...stage.server.runs.keys()].at(-1);
    const row = await (await fetch(`${stage.url}api/traces/${trace}/row?layer=3&head=4&query=5`)).json();
    near(Number(lines[4].split(',').at(-4)), row.weights[3]);
    await page.locator('#panel-text').getByRole('button', { name: 'Command' }).click();
    const command = await page.evaluate(() => navigator.clipboard.readText());
    assert.equal(command.split('\n').length, 2);
    assert.match(command, /--layer 3 --head 4 --query 5/);
    await page.locator('#panel-text').getByRole('button', { name: 'Link' }).click();
    assert.match(await page.evaluate(() => navigator.clipboard.readText()), /view=text.*pins=5\.2/);
  });

  for (const scheme of /** @type {const} */ (['light', 'dark'])) {
    test(`fits 360 pixels, and every text has a contrast of 4.5 (${scheme})`, async () => {
      const { page } = await stage.open({
        width: 360,
        height: 740,
        scheme,
        hash: '#source=s1&view=text&layer=3&head=4&pins=5.2&heads=mean',
        until,
      });
      const [wide, room] = await page.evaluate(() => [
        document.documentElement.scrollWidth,
        document.documentElement.clientWidth,
      ]);
      assert.ok(wide <= room, `${wide} of ${room}`);
      assert.deepEqual(await contrastFaults(page), []);
    });
  }
});

const why = without(MINILM);

describe('the text, read by MiniLM', { skip: why, timeout: 240000 }, () => {
  const text = 'The robot carried the patient because it was tired.';
  const stage = program(why, () => ['example', MINILM]);
  let id = '';
  before(async () => {
    if (why) return;
    id = await idOf(stage.url, /minilm/i);
  });
  const hash = (/** @type {string} */ more) =>
    `#source=${id}&text=${encodeURIComponent(text)}&view=text&layer=2${more}`;
  const row = (/** @type {string | number} */ head, /** @type {number} */ query) =>
    cliJson('row', MINILM, '--text', text, '--layer', 2, '--head', head, '--query', query);

  test('one head, a set of heads and the mean of the layer are the command line’s rows', async () => {
    const [three, eight, mean] = await Promise.all([row(3, 7), row(8, 7), row('mean', 7)]);
    for (const [more, expected] of /** @type {[string, number[]][]} */ ([
      ['&head=3', three.weights],
      [
        '&head=3&heads=3.8',
        three.weights.map((/** @type {number} */ w, /** @type {number} */ j) => (w + eight.weights[j]) / 2),
      ],
      ['&head=3&heads=mean', mean.weights],
    ])) {
      const { page } = await stage.open({ hash: hash(`${more}&pins=7`), until, patience: 120000 });
      const shown = await listed(page, 7);
      const order = expected.map((_, j) => j).sort((a, b) => expected[b] - expected[a]);
      assert.deepEqual(
        shown.map(([j]) => j),
        order.slice(0, shown.length),
      );
      for (const [j, weight] of shown) near(weight, expected[j]);
    }
  });

  test('attended to by: the column, row by row', async () => {
    const rows = await Promise.all(Array.from({ length: 12 }, (_, i) => row(3, i)));
    const { page } = await stage.open({
      hash: hash('&head=3&pins=2&facing=by'),
      until,
      patience: 120000,
    });
    for (const [i, weight] of await listed(page, 2)) near(weight, rows[i].weights[2]);
    const received = Number(await page.locator('.pin .total data').getAttribute('value'));
    near(
      received,
      rows.reduce((sum, one) => sum + one.weights[2], 0),
    );
  });
});
