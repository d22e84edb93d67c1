// What is taken along is what is shown: pictures and numbers, against what the command line says.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { cellJson, cliJson, noBinary } from '../lib/binary.mjs';
import { program } from '../lib/stage.mjs';

/** @typedef {import('playwright-core').Page} Page */

/** @param {Page} page @param {string} name @returns {Promise<{name: string, text: string}>} */
async function taken(page, name) {
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name, exact: true }).click(),
  ]);
  return { name: download.suggestedFilename(), text: readFileSync(await download.path(), 'utf8') };
}

const texts = (/** @type {string} */ svg) => [...svg.matchAll(/<text [^>]*>([^<]*)<\/text>/g)].map(([, text]) => text);

/** @param {string[]} shown @param {string} what */
const after1 = (shown, what) => Number(shown[shown.indexOf(what) + 1]);

describe('taking along', { skip: noBinary }, () => {
  const stage = program(noBinary, () => ['example']);

  test('a map keeps its colours and what is left out of them', async () => {
    const { page } = await stage.open({
      hash: '#source=example&causal=1&query=6&key=1&without=first&palette=cividis',
    });
    const { text } = await taken(page, 'SVG of this map');
    const shown = texts(text);
    assert.ok(shown.some((one) => one.startsWith('Not in the scale: “The” 0;')), String(shown));
    // The end of the ramp, where the weight that is left out stands.
    assert.match(text, /fill="#00224e"[^>]*><title>query 0 The, key 0 The: 1, not in the scale/);
    const html = await taken(page, 'HTML of this map');
    assert.match(html.text, /^<!doctype html>[^]*Not in the scale/);
  });

  test('a cell and a column are pictures, with the numbers of the command line', async () => {
    const { page } = await stage.open({ hash: '#source=example&causal=1&query=6&key=1' });
    const said = await cellJson('example', { query: 6, key: 1, causal: true });
    const cell = await taken(page, 'SVG of this cell');
    assert.match(cell.name, /cell-6-1\.svg$/);
    const weight = after1(texts(cell.text), 'weight = exp of it');
    assert.ok(Math.abs(weight / said.weight - 1) < 1e-5, `${weight} is not ${said.weight}`);
    const column = await taken(page, 'CSV of this column');
    const row = await cliJson('row', 'example', '--causal', '--query', 6);
    assert.equal(Number(column.text.split('\r\n')[7].split(',')[2]), row.weights[1]);
    assert.ok(texts((await taken(page, 'SVG of this column')).text).includes(row.weights[1].toFixed(4)));
    await page.locator('column-listeners').getByRole('button', { name: 'Command' }).click();
    const command = await page.evaluate(() => navigator.clipboard.readText());
    assert.equal(command, 'attnscope export example --layer 0 --head 0 --key 1 --output column-1.csv --causal');
  });

  test('the heads are vectors too, in the order in which they are shown', async () => {
    const { page } = await stage.open({
      hash: '#source=example&view=heads&sort=entropy',
      until: 'head-grid[data-complete]',
    });
    const { text } = await taken(page, 'SVG of all heads');
    const [head] = await cliJson('heads', 'example');
    assert.ok(texts(text).includes(head.entropy.toFixed(3)), String(texts(text)));
  });
});
