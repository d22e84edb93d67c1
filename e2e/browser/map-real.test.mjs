// The map of a real model in the real program: what it shows is what the command line says.

import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { rampAt } from '../../ui/palette.js';
import { fraction, rowFractions } from '../../ui/scales.js';
import { cliJson } from '../lib/binary.mjs';
import { clickCell, shows, value } from '../lib/browser.mjs';
import { colourOf, geometry, placeOf, readout, says, sharp } from '../lib/map.mjs';
import { SMOLLM, without } from '../lib/models.mjs';
import { program } from '../lib/stage.mjs';

const why = without(SMOLLM);

describe('the map of SmolLM2', { skip: why, timeout: 240000 }, () => {
  let folder = '';
  let trace = '';
  let count = 0;
  const stage = program(why, async () => {
    folder = await mkdtemp(join(tmpdir(), 'attnscope-map-'));
    trace = join(folder, 'long.safetensors');
    const text = Array.from(
      { length: 110 },
      (_, i) =>
        `The ${['robot', 'nurse', 'river', 'fox', 'baker'][(i * 7) % 5]} ${['carried', 'watched', 'found'][i % 3]} the map.`,
    ).join(' ');
    await writeFile(join(folder, 'text'), text);
    count = (await cliJson('trace', SMOLLM, '--file', join(folder, 'text'), '-o', trace)).tokens;
    assert.ok(count > 600, `${count} tokens are more than fit as single cells`);
    return [trace];
  });
  after(async () => {
    if (folder) await rm(folder, { recursive: true });
  });

  test('hovered and clicked cells have the weights of the command line', async () => {
    const { page, complaints } = await stage.open({
      hash: '#layer=7&head=5&query=400&key=390&zoom=24&centre=400-390',
      height: 1300,
    });
    await sharp(page);
    const row = await cliJson('row', trace, '--layer', 7, '--head', 5, '--query', 400);
    for (const key of [386, 390, 399, 400]) {
      const at = await placeOf(page, 400, key);
      await page.mouse.move(at.x, at.y);
      await page.waitForFunction(
        (k) => [...document.querySelectorAll('map-legend .readout sub')].at(-1)?.textContent === String(k),
        key,
      );
      const shown = await value(page, 'map-legend .readout');
      assert.ok(Math.abs(shown - row.weights[key]) <= 1e-6, `${key}: ${shown} is not ${row.weights[key]}`);
    }
    const at = await placeOf(page, 396, 399);
    await page.mouse.move(at.x, at.y);
    await page.waitForFunction(() =>
      /hidden: comes later/.test(document.querySelector('map-legend .readout')?.textContent ?? ''),
    );
    await clickCell(page, 402, 395, count);
    await shows(page, 402, 395);
    const cell = await cliJson('cell', trace, '--layer', 7, '--head', 5, '--query', 402, '--key', 395);
    assert.ok(Math.abs((await value(page, 'cell-headline h2')) - cell.weight) <= 1e-6);
    assert.deepEqual(complaints, []);
  });

  test('colours are the weights of the command line on every scale', async () => {
    const { page } = await stage.open({
      hash: '#layer=7&head=5&query=400&key=390&zoom=24&centre=400-390',
    });
    const { weights, mask } = await cliJson('row', trace, '--layer', 7, '--head', 5, '--query', 398);
    const counts = (/** @type {number} */ key) => mask[key] === null;
    for (const scale of /** @type {const} */ (['sqrt', 'log', 'linear', 'row', 'rank'])) {
      await page.locator('.scale-choice select').selectOption(scale);
      await sharp(page);
      const places =
        scale === 'row' || scale === 'rank'
          ? rowFractions(scale, weights, counts)
          : weights.map((/** @type {number} */ weight) => fraction(scale, weight));
      for (const key of [385, 388, 392, 397]) {
        const shown = await colourOf(page, 398, key);
        const near = [-2, 0, 2].map((off) => rampAt('light', places[key] + off / 255));
        const fits = shown.every(
          (c, i) => c >= Math.min(...near.map((n) => n[i])) - 1 && c <= Math.max(...near.map((n) => n[i])) + 1,
        );
        assert.ok(fits, `${scale}, key ${key}: ${shown} is not near ${near[1]}`);
      }
    }
  });

  test('the whole, in blocks: each is its largest weight, and the click opens that cell', async () => {
    const { page } = await stage.open({ hash: '#layer=7&head=5&query=400&key=390', height: 1300 });
    await sharp(page);
    assert.match(await says(page), /^largest weight of each block/);
    assert.equal((await geometry(page)).rows, count);
    const at = await placeOf(page, 500, 333);
    await page.mouse.move(at.x, at.y);
    await page.waitForFunction(() => /largest/.test(document.querySelector('map-legend .readout')?.textContent ?? ''));
    const said = await readout(page);
    const range = (/** @type {string} */ name) => {
      const [, from, to] = new RegExp(`${name} (\\d+)(?:–(\\d+))?`).exec(said) ?? [];
      return [Number(from), Number(to ?? from)];
    };
    const [[q0, q1], [k0, k1]] = [range('queries'), range('keys')];
    /** @type {{query: number, key: number, weight: number}[]} */
    const cells = [];
    for (let query = q0; query <= q1; query++) {
      const { weights } = await cliJson('row', trace, '--layer', 7, '--head', 5, '--query', query);
      for (let key = k0; key <= k1; key++) cells.push({ query, key, weight: weights[key] });
    }
    const best = cells.reduce((a, b) => (b.weight > a.weight ? b : a));
    assert.ok(Math.abs((await value(page, 'map-legend .readout')) - best.weight) <= 1e-6);
    assert.equal(await readout(page), said);
    await page.mouse.click(at.x, at.y);
    await shows(page, best.query, best.key);
  });

  test('the end of the scale without the first token is the largest weight elsewhere', async () => {
    const { page } = await stage.open({
      hash: '#layer=7&head=5&query=400&key=390&scale=linear&without=first',
    });
    await sharp(page);
    const shown = Number(/to ([\d.]+)$/.exec(await says(page))?.[1]);
    let top = 0;
    const { sources } = await (await fetch(`${stage.url}api/sources`)).json();
    const { id } = await (
      await fetch(`${stage.url}api/traces`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ source: sources[0].id }),
      })
    ).json();
    for (let q0 = 0; q0 < count; q0 += 300) {
      const q1 = Math.min(count, q0 + 300);
      const answer = await fetch(
        `${stage.url}api/traces/${id}/tile?layer=7&head=5&q0=${q0}&q1=${q1}&k0=0&k1=${count}`,
      );
      const weights = new Float32Array(await answer.arrayBuffer());
      weights.forEach((weight, i) => i % count > 0 && weight > top && (top = weight));
    }
    assert.ok(Math.abs(shown - top) < 0.006 * top, `${shown} is not ${top}`);
  });
});
