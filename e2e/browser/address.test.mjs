// The address is the state: links open exactly one cell, and Back goes to the run before.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { shows } from '../lib/browser.mjs';
import { standIn } from '../lib/stage.mjs';

describe('the address', () => {
  const stage = standIn();

  test('a link opens a source, a text, a layer, a head, a cell and a scale', async () => {
    const { page } = await stage.open({
      hash: '#source=s1&text=one+two+three&layer=11&head=6&query=2&key=1&scale=log',
    });
    await shows(page, 2, 1);
    assert.match(await page.locator('cell-headline .note').innerText(), /Layer 11, head 6 \(kv head 2\)/);
    assert.equal(await page.locator('#text').inputValue(), 'one two three');
    assert.equal(await page.locator('.scale-choice select').inputValue(), 'log');
  });

  test('numbers beyond the run are held at its edges', async () => {
    const { page } = await stage.open({ hash: '#source=example&layer=7&head=9&query=400&key=400' });
    await shows(page, 9, 9);
    await page.waitForFunction(() => location.hash.includes('layer=0&head=0&query=9&key=9'));
  });

  test('the copied link is the address', async () => {
    const { page } = await stage.open({ hash: '#source=example&query=4&key=2' });
    await shows(page, 4, 2);
    await page.getByRole('button', { name: 'Copy link' }).click();
    const link = await page.evaluate(() => navigator.clipboard.readText());
    assert.equal(link, `${stage.url}#source=example&layer=0&head=0&query=4&key=2`);
  });

  test('Back goes to the run before, at its cell', async () => {
    const { page } = await stage.open();
    await page.keyboard.press('ArrowRight');
    await shows(page, 6, 2);
    await page.waitForFunction(() => location.hash.includes('key=2'));
    await page.selectOption('#source', 's1');
    await page.waitForFunction(() => location.hash.includes('source=s1') && !document.querySelector('main')?.inert);
    await page.goBack();
    await shows(page, 6, 2);
    assert.equal(await page.locator('#source').inputValue(), 'example');
  });

  test('Back goes from view to view of one run, and forward again', async () => {
    const { page } = await stage.open({ hash: '#source=example&query=4&key=2' });
    await shows(page, 4, 2);
    for (const [name, view] of [
      ['Heads', 'heads'],
      ['Text', 'text'],
    ]) {
      await page.getByRole('tab', { name, exact: true }).click();
      await page.waitForFunction((v) => location.hash.includes(`view=${v}`), view);
    }
    // The address changes before the page is told.
    const shown = (/** @type {string} */ name) => page.locator('.tab[aria-selected=true]', { hasText: name }).waitFor();
    await page.goBack();
    await page.waitForFunction(() => location.hash.includes('view=heads'));
    await shown('Heads');
    await page.goBack();
    await page.waitForFunction(() => !location.hash.includes('view='));
    await shown('Cell');
    await shows(page, 4, 2);
    await page.goForward();
    await page.waitForFunction(() => location.hash.includes('view=heads'));
    await page.goForward();
    await page.waitForFunction(() => location.hash.includes('view=text'));
    await shown('Text');
  });

  test('what is in view is not written over an entry that the reader is on the way to', async () => {
    const { page } = await stage.open({ hash: '#source=example&query=4&key=2' });
    await shows(page, 4, 2);
    await page.evaluate(() => {
      location.hash = '#source=example&query=9&key=8';
      // Before the page hears of it.
      dispatchEvent(new Event('pagehide'));
    });
    await shows(page, 9, 8);
    assert.match(await page.evaluate(() => location.hash), /query=9&key=8/);
  });

  test('the tab is named for the cell', async () => {
    const { page } = await stage.open();
    await page.waitForFunction(() => document.title === 'it → robot 0.629 · attnscope');
  });
});
