// Cross-attention: the decoder's tokens ask, those that the encoder read are asked.

import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { cliJson, idOf, noBinary } from '../lib/binary.mjs';
import { shows, value } from '../lib/browser.mjs';
import { spoken } from '../../ui/tokens.js';
import { program } from '../lib/stage.mjs';

const T5 = fileURLToPath(new URL('../../crates/models/tests/tiny/t5-relu', import.meta.url));
const TEXT = 'the robot carried the patient';

describe('an encoder-decoder', { skip: noBinary, timeout: 120000 }, () => {
  const stage = program(noBinary, () => [T5]);
  let hash = '';
  /** @type {any} */
  let meta;
  before(async () => {
    if (noBinary) return;
    const source = await idOf(stage.url, /t5-relu/);
    const post = { method: 'POST', headers: { 'content-type': 'application/json' } };
    const body = JSON.stringify({ source, text: TEXT });
    meta = await (await fetch(`${stage.url}api/traces`, { ...post, body })).json();
    hash = `#source=${encodeURIComponent(source)}&text=${TEXT.replaceAll(' ', '+')}&site=cross&layer=1&head=1`;
  });

  test('a cell of cross-attention names each token from its own text, with the command line’s numbers', async () => {
    const [query, key] = [2, 3];
    const { page, complaints } = await stage.open({ hash: `${hash}&query=${query}&key=${key}` });
    await shows(page, query, key);
    const said = await cliJson(
      ...['cell', T5, '--site', 'cross', '--layer', '1', '--head', '1', '--text', TEXT],
      ...['--query', String(query), '--key', String(key)],
    );
    assert.equal(said.query.token, meta.tokens[query].text);
    assert.equal(said.key.token, meta.encoder.tokens[key].text);
    const chips = page.locator('cell-headline h2 .tok');
    assert.equal(await chips.nth(0).getAttribute('title'), `token ${query}: ${spoken(meta.tokens[query])}`);
    assert.equal(await chips.nth(1).getAttribute('title'), `token ${key}: ${spoken(meta.encoder.tokens[key])}`);
    const shown = await value(page, 'cell-headline h2');
    assert.ok(Math.abs(shown - said.weight) <= 1e-5, `${shown} is not ${said.weight}`);
    const sizes = await page.evaluate(() => {
      const { rows, columns } = /** @type {any} */ (document.querySelector('attention-map')).geometry;
      return [rows, columns];
    });
    assert.deepEqual(sizes, [meta.tokens.length, meta.encoder.tokens.length]);
    assert.deepEqual(complaints, []);
  });

  test('the words that ask stand above those that were read: each can be clicked', async () => {
    const { page, complaints } = await stage.open({ hash: `${hash}&query=2&key=3` });
    await shows(page, 2, 3);
    const [asking, read] = [page.locator('asking-line .word'), page.locator('token-ribbon .ribbon').last().locator('.word')];
    assert.deepEqual([await asking.count(), await read.count()], [meta.tokens.length, meta.encoder.tokens.length]);
    await read.nth(0).click();
    await shows(page, 2, 0);
    await asking.nth(1).click();
    await page.waitForFunction(() => location.hash.includes('query=1'));
    await page.locator('asking-line .word[aria-pressed=true]').waitFor();
    assert.equal(await asking.nth(1).getAttribute('aria-pressed'), 'true');
    assert.deepEqual(complaints, []);
  });

  test('the text view says that it shades one text, and shades the encoder’s', async () => {
    const { page, complaints } = await stage.open({ hash: `${hash}&view=text`, until: 'text-view .note' });
    await page.getByText('Cross-attention goes from one text to another').waitFor();
    const other = await stage.open({
      hash: `${hash.replace('site=cross', 'site=encoder')}&view=text`,
      until: 'text-view .t',
    });
    const words = other.page.locator('text-view .t');
    assert.equal(await words.count(), meta.encoder.tokens.length);
    await other.page.waitForFunction(() =>
      [...document.querySelectorAll('text-view .t')].some((word) => /** @type {HTMLElement} */ (word).style.backgroundColor),
    );
    assert.equal(await page.locator('#panel-text take-along button').count(), 0);
    assert.deepEqual([...complaints, ...other.complaints], []);
  });
});
