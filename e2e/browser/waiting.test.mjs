// What the page does while it waits and when something fails: it says so where the action was,
// lets a person change their mind, and ignores answers that come too late.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { drawn, shows } from '../lib/browser.mjs';
import { standIn } from '../lib/stage.mjs';

describe('waiting and failing', () => {
  const stage = standIn();

  test('a run in progress is shown, and the old picture is not offered as the new one', async () => {
    const { page } = await stage.open();
    await page.selectOption('#source', 'slow');
    await page.getByText('Running Stand-in that takes its time').waitFor();
    assert.equal(await page.locator('main').getAttribute('inert'), '');
    await page.locator('main:not([inert])').waitFor();
    await shows(page, 3, 0);
    assert.equal(await page.getByText('Running').count(), 0);
  });

  test('a person may change their mind; the late answer is ignored', async () => {
    const { page } = await stage.open();
    await page.selectOption('#source', 'slow');
    await page.waitForTimeout(200);
    await page.selectOption('#source', 's1');
    await page.locator('main:not([inert])').waitFor();
    await page.waitForTimeout(stage.server.slow + 400);
    assert.match(await page.locator('#command').innerText(), /Stand-in-30x9/);
    assert.equal(await page.locator('#source').inputValue(), 's1');
  });

  test('a failed run is one message beside the text, and the next one may succeed', async () => {
    const { page } = await stage.open({ hash: '#source=s1&query=3&key=1' });
    const refusal = { error: 'The text has 9,000 tokens, and this model reads up to 8,192.' };
    await page.route('**/api/traces', (route) => route.fulfill({ status: 400, json: refusal }), { times: 1 });
    await page.locator('#text').fill('far too long');
    await page.getByRole('button', { name: 'Run' }).click();
    const message = page.getByRole('alert');
    assert.equal(await message.innerText(), refusal.error);
    // What is shown is that of the text before, and all of the page agrees on it.
    await page.getByText('What is shown is still of the text before.').waitFor();
    assert.equal(await page.locator('#text').inputValue(), 'far too long');
    assert.equal(await page.locator('main').getAttribute('inert'), null);
    await page.locator('attention-map canvas').focus();
    await page.keyboard.press('ArrowLeft');
    await shows(page, 3, 0);
    await page.waitForFunction(() => location.hash.includes('query=3&key=0') && !location.hash.includes('text='));
    assert.doesNotMatch(await page.locator('#command').innerText(), /far too long/);
    await page.locator('#text').fill('two words');
    await page.keyboard.press('Enter');
    await shows(page, 2, 0);
    assert.equal(await page.locator('.trouble:visible').count(), 0);
  });

  test('a source that cannot be opened leaves the one before', async () => {
    const { page } = await stage.open({ hash: '#source=example&query=4&key=2' });
    await shows(page, 4, 2);
    await page.route('**/api/traces', (route) => route.fulfill({ status: 500, json: { error: 'It is broken.' } }));
    await page.selectOption('#source', 's1');
    await page.getByText('It is broken.').waitFor();
    assert.equal(await page.locator('#source').inputValue(), 'example');
    assert.equal(await page.locator('main').getAttribute('inert'), null);
    await page.waitForFunction(() => location.hash.includes('source=example') && location.hash.includes('query=4&key=2'));
    // Nor does an address that is typed in stay, where it leads to nothing.
    await page.evaluate(() => (location.hash = '#source=s1&query=1&key=1'));
    await page.waitForFunction(() => location.hash.includes('source=example') && location.hash.includes('query=4&key=2'));
    await page.keyboard.press('ArrowDown');
    await shows(page, 5, 2);
    assert.match(await page.locator('#command').innerText(), /^attnscope cell example /);
  });

  test('after Stop the page is that of the run before', async () => {
    const { page } = await stage.open({ hash: '#source=example&query=4&key=2' });
    await shows(page, 4, 2);
    await page.selectOption('#source', 'slow');
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByText('Stopped. Press Run').waitFor();
    assert.equal(await page.locator('#source').inputValue(), 'example');
    assert.equal(await page.locator('main').getAttribute('inert'), null);
    await page.keyboard.press('ArrowDown');
    await shows(page, 5, 2);
    await page.waitForTimeout(stage.server.slow);
    assert.match(await page.evaluate(() => location.hash), /source=example.*query=5&key=2/);
  });

  test('a server started again with another source under the name does not pass for the one before', async () => {
    const { page } = await stage.open({ hash: '#source=s1&query=3&key=1' });
    await shows(page, 3, 1);
    const { sources } = stage.server;
    stage.server.runs.clear();
    stage.server.sources = sources.map((source) => (source.id === 's1' ? { ...source, label: 'Another model' } : source));
    try {
      await page.keyboard.press('ArrowLeft');
      await page.getByText('That source is no longer here').first().waitFor();
      assert.equal(await page.locator('cell-headline h2').count(), 0);
    } finally {
      stage.server.sources = sources;
    }
    await page.locator('cell-headline').getByRole('button', { name: 'Try again' }).click();
    await shows(page, 3, 0);
  });

  test('a question that failed leaves no old working, and can be put again', async () => {
    const { page } = await stage.open({ hash: '#source=example&query=4&key=2' });
    await shows(page, 4, 2);
    let broken = true;
    await page.route(/\/(cell|row)\?/, (route) =>
      broken ? route.fulfill({ status: 500, json: { error: 'The cell could not be read.' } }) : route.fallback(),
    );
    await page.keyboard.press('ArrowDown');
    await page.locator('cell-headline .trouble').waitFor();
    await drawn(page);
    for (const step of ['step-vectors', 'step-scale', 'step-mask', 'step-softmax', 'step-mix'])
      assert.equal(await page.locator(`${step} *`).count(), 0, step);
    broken = false;
    await page.locator('cell-headline').getByRole('button', { name: 'Try again' }).click();
    await shows(page, 5, 2);
    await page.locator('step-budget .budget').waitFor();
    assert.equal(await page.locator('.trouble:visible').count(), 0);
  });

  test('what a link asks for and the run does not have is named', async () => {
    const { page } = await stage.open({ hash: '#source=s1&layer=99&head=2&query=3&key=1' });
    await shows(page, 3, 1);
    await page.getByText('This run has no layer 99: shown is layer 0.').waitFor();
  });

  test('a run that the server has forgotten is made again', async () => {
    const { page, complaints } = await stage.open();
    stage.server.runs.clear();
    await page.keyboard.press('ArrowRight');
    await shows(page, 6, 2);
    assert.equal(await page.locator('.trouble:visible').count(), 0);
    assert.deepEqual(
      complaints.filter((line) => !line.includes('404')),
      [],
    );
  });

  test('a map that fails can be asked for again', async () => {
    let broken = true;
    const { page } = await stage.open({
      before: (p) =>
        p.route('**/tile?*', (route) =>
          broken ? route.fulfill({ status: 500, json: { error: 'The tile could not be read.' } }) : route.fallback(),
        ),
    });
    await page.getByText('The tile could not be read.').waitFor();
    broken = false;
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.locator('attention-map .trouble').waitFor({ state: 'hidden' });
    await page.waitForFunction(() => /0\.629/.test(document.querySelector('map-legend .readout')?.textContent ?? ''));
  });

  test('a server that is gone is said to be gone', async () => {
    const { page } = await stage.open();
    await page.route('**/api/**', (route) => route.abort());
    await page.keyboard.press('ArrowDown');
    await page.getByText('The server does not answer. Is attnscope still running?').first().waitFor();
  });

  test('a link to a source that is not here opens the example and says so', async () => {
    const { page } = await stage.open({ hash: '#source=gone&query=2&key=2' });
    await shows(page, 6, 1);
    await page.getByText('This link names a source that is not open here (gone).').waitFor();
  });
});
