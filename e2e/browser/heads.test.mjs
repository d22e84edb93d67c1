// The whole model at a glance: which heads do what, against what the command line says of them.

import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { cliJson, idOf } from '../lib/binary.mjs';
import { value } from '../lib/browser.mjs';
import { contrastFaults } from '../lib/contrast.mjs';
import { MINILM, without } from '../lib/models.mjs';
import { program, standIn } from '../lib/stage.mjs';

/** @typedef {import('playwright-core').Page} Page */

const until = 'head-grid[data-complete]';

/** Where a head is on the canvas. @param {Page} page @param {number} layer @param {number} head */
const placeOf = (page, layer, head) =>
  page.evaluate(
    ([l, h]) => {
      const { places, side } = /** @type {any} */ (document.querySelector('head-grid')).layout;
      const p = places.find((/** @type {any} */ one) => one.layer === l && one.head === h);
      return p && { x: p.x + side / 2, y: p.y + side / 2 };
    },
    [layer, head],
  );

/** The heads named in the headline. @param {Page} page */
const found = (page) =>
  page.locator('.found-head').evaluateAll((all) =>
    all.map((one) => {
      const { layer, head } = /** @type {HTMLElement} */ (one).dataset;
      return {
        layer: Number(layer),
        head: Number(head),
        value: Number(one.querySelector('data')?.getAttribute('value')),
      };
    }),
  );

describe('all heads', () => {
  const stage = standIn();

  test('270 heads on one canvas; a click opens one in the map', async () => {
    const { page, complaints } = await stage.open({ hash: '#source=s1&text=one+two+three+four' });
    await page.getByRole('tab', { name: 'Heads' }).click();
    await page.locator(until).waitFor();
    await page.getByRole('heading', { name: 'All 270 heads at a glance' }).waitFor();
    assert.equal(
      await page.evaluate(() => /** @type {any} */ (document.querySelector('head-grid')).layout.places.length),
      270,
    );
    assert.ok((await page.locator('head-grid *').count()) < 20);
    const canvas = page.locator('head-grid canvas');
    const at = await placeOf(page, 17, 5);
    await canvas.hover({ position: at });
    await page.locator('head-card h3', { hasText: 'Layer 17, head 5' }).waitFor();
    await canvas.click({ position: at });
    await page.waitForFunction(() => /layer=17&head=5/.test(location.hash) && !/view=heads/.test(location.hash));
    await page.getByText('Layer 17, head 5').first().waitFor();
    assert.deepEqual(complaints, []);
  });

  test('every pixel of the picture comes from the weights', async () => {
    const { page } = await stage.open({
      hash: '#source=s1&view=heads&text=one+two+three&layer=3&head=4',
      until,
    });
    const { at, side, n } = await page.evaluate(() => {
      const { places, side } = /** @type {any} */ (document.querySelector('head-grid')).layout;
      return { at: places.find((/** @type {any} */ p) => p.layer === 3 && p.head === 4), side, n: 4 };
    });
    const row = await (
      await fetch(`${stage.url}api/traces/${[...stage.server.runs.keys()].at(-1)}/row?layer=3&head=4&query=3`)
    ).json();
    const shades = await page.evaluate(
      ([x, y, s, count]) => {
        const canvas = /** @type {HTMLCanvasElement} */ (document.querySelector('head-grid canvas'));
        const ctx = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d'));
        return Array.from({ length: count }, (_, k) => {
          const [r, g, b] = ctx.getImageData(x + ((k + 0.5) * s) / count, y + (3.5 * s) / count, 1, 1).data;
          return r + g + b;
        });
      },
      [at.x, at.y, side, n],
    );
    // Darker is more: the order of the shades is the order of the weights.
    const order = (/** @type {number[]} */ numbers, /** @type {number} */ sign) =>
      numbers.map((_, i) => i).sort((a, b) => sign * (numbers[a] - numbers[b]));
    assert.deepEqual(order(shades, 1), order(row.weights, -1));
  });

  test('keys: arrows go from head to head, Enter opens, a reload comes back', async () => {
    const { page } = await stage.open({ hash: '#source=s1&view=heads&layer=4&head=2&text=one+two', until });
    await page.locator('head-grid canvas').focus();
    await page.keyboard.press('ArrowRight');
    await page.waitForFunction(() => location.hash.includes('layer=5&head=2'));
    await page.keyboard.press('ArrowDown');
    await page.waitForFunction(() => location.hash.includes('layer=5&head=3'));
    await page.waitForFunction(() => /^Layer 5, head 3/.test(document.getElementById('said')?.textContent ?? ''));
    await page.reload();
    await page.locator(until).waitFor();
    await page.locator('head-card h3', { hasText: 'Layer 5, head 3' }).waitFor();
    await page.locator('head-grid canvas').focus();
    await page.keyboard.press('Enter');
    await page.locator('cell-headline .note', { hasText: 'Layer 5, head 3' }).waitFor();
  });

  test('tabs are tabs: arrows move between them, the address says which', async () => {
    const { page } = await stage.open();
    await page.locator('#tab-cell').focus();
    await page.keyboard.press('ArrowRight');
    await page.waitForFunction(() => location.hash.includes('view=heads'));
    assert.equal(await page.evaluate(() => document.activeElement?.id), 'tab-heads');
    await page.keyboard.press('ArrowRight');
    await page.locator('#panel-text').waitFor();
    assert.equal(await page.locator('#panel-heads').isVisible(), false);
    await page.keyboard.press('ArrowRight');
    await page.locator('cell-headline h2').waitFor();
  });

  test('a long reading can be stopped and gone on with', async () => {
    /** @type {(() => void) | null} */
    let release = null;
    const held = new Promise((resolve) => (release = () => resolve(null)));
    const { page, complaints } = await stage.open({
      hash: '#source=s1&view=heads&text=one+two',
      until: '.progress',
      before: (p) =>
        p.route(/thumbs\?layer=([7-9]|\d\d)&/, async (route) => {
          await held;
          await route.continue().catch(() => undefined);
        }),
    });
    await page.getByText('pictures of 7 of 30 layers').waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByText('Stopped: pictures of 7 of 30 layers').waitFor();
    /** @type {any} */ (release)();
    await page.getByRole('button', { name: 'Go on' }).click();
    await page.locator(until).waitFor();
    assert.equal(await page.locator('.progress').count(), 0);
    assert.deepEqual(complaints, []);
  });

  for (const scheme of /** @type {const} */ (['light', 'dark'])) {
    test(`fits 360 pixels, and every text has a contrast of 4.5 (${scheme})`, async () => {
      for (const hash of [
        '#source=s1&view=heads&text=a+b&pattern=first',
        '#source=s1&view=heads&text=a+b&sort=entropy&least=0.1',
      ]) {
        const { page } = await stage.open({ width: 360, height: 740, scheme, hash, until });
        await page.locator('head-card .proof').waitFor();
        const [wide, room] = await page.evaluate(() => [
          document.documentElement.scrollWidth,
          document.documentElement.clientWidth,
        ]);
        assert.ok(wide <= room, `${wide} of ${room}`);
        assert.deepEqual(await contrastFaults(page), []);
      }
    });
  }
});

const why = without(MINILM);

describe('all heads of MiniLM', { skip: why, timeout: 240000 }, () => {
  const text = 'The robot carried the patient because it was tired, and nobody else would.';
  const stage = program(why, () => ['example', MINILM]);
  /** @type {any[]} */
  let said = [];
  const hash = (/** @type {string} */ more) => `#source=${id}&text=${encodeURIComponent(text)}&view=heads${more}`;
  let id = '';
  before(async () => {
    if (why) return;
    said = await cliJson('heads', MINILM, '--text', text);
    id = await idOf(stage.url, /minilm/i);
  });

  test('previous-token heads are those that the command line’s numbers name', async () => {
    const { page, complaints } = await stage.open({ hash: hash(''), until, patience: 120000 });
    await page.locator('[data-pattern="previous"]').click();
    const rule = (await page.locator('[data-pattern="previous"] .pattern-rule').innerText()).replace('previous ≥ ', '');
    const expected = said
      .filter((f) => f.previous >= Number(rule))
      .sort((a, b) => b.previous - a.previous)
      .map((f) => ({ layer: f.layer, head: f.head, value: f.previous }));
    assert.ok(expected.length > 0);
    assert.deepEqual(await found(page), expected);
    await page.getByRole('heading', { name: `${expected.length} of 72 heads` }).waitFor();
    assert.deepEqual(complaints, []);
  });

  test('sorted by any statistic, in the command line’s order; bounds leave out the rest', async () => {
    for (const [sort, of] of /** @type {[string, (f: any) => number][]} */ ([
      ['entropy', (f) => f.entropy],
      ['distance', (f) => f.distance],
      ['proof', (f) => Math.max(f.proof.row_sum_error, f.proof.output_error)],
    ])) {
      const values = said.map(of).sort((a, b) => b - a);
      const least = values[9];
      const { page } = await stage.open({
        hash: hash(`&sort=${sort}${sort === 'proof' ? '' : `&least=${least.toFixed(6)}`}`),
        until,
        patience: 120000,
      });
      const order = await page.evaluate(() =>
        /** @type {any} */ (document.querySelector('head-grid')).layout.places.map(
          (/** @type {any} */ p) => `${p.layer} ${p.head}`,
        ),
      );
      const expected = said
        .filter((f) => sort === 'proof' || of(f) >= Number(least.toFixed(6)))
        .sort((a, b) => of(b) - of(a) || a.layer - b.layer || a.head - b.head)
        .map((f) => `${f.layer} ${f.head}`);
      assert.deepEqual(order, expected, sort);
    }
  });

  test('the card of a head shows its statistics and its proof', async () => {
    const facts = said.find((f) => f.layer === 2 && f.head === 5);
    const { page } = await stage.open({ hash: hash('&layer=2&head=5'), until, patience: 120000 });
    await page.locator('head-card .proof').waitFor();
    assert.equal(await value(page, 'head-card .stats'), facts.entropy);
    const proof = await page
      .locator('head-card .proof summary data')
      .evaluateAll((all) => all.map((e) => Number(e.getAttribute('value'))));
    assert.deepEqual(proof, [facts.proof.row_sum_error, facts.proof.output_error]);
  });
});
