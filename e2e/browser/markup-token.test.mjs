// A token is text. Whatever it looks like, it never becomes part of the page.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { standIn } from '../lib/stage.mjs';

const EVIL = '<img src=x onerror=window.pwned=1>';
const QUOTES = '"><script>window.pwned=1</script>';

/** Puts markup wherever the server sends text. @param {any} value */
function poison(value) {
  if (Array.isArray(value?.tokens))
    value.tokens = value.tokens.map((/** @type {any} */ token, /** @type {number} */ i) => ({
      ...token,
      text: i % 2 ? EVIL : QUOTES,
      special: i === 3,
    }));
  for (const place of [value?.query, value?.key, ...(value?.strongest ?? [])]) if (place?.token) place.token = EVIL;
  if (value?.dims)
    for (const list of [
      value.dims.x,
      value.dims.qk,
      value.dims.v,
      value.dim_notes.x,
      value.dim_notes.qk,
      value.dim_notes.v,
    ])
      list[0] = EVIL;
  if (Array.isArray(value?.sources))
    for (const source of value.sources) Object.assign(source, { label: EVIL, note: EVIL });
  if ('note' in value) value.note = EVIL;
  return value;
}

describe('a token that looks like markup', () => {
  const stage = standIn();

  for (const hash of ['', '#source=s1&query=3&key=1']) {
    test(`stays text (${hash || 'example'})`, async () => {
      const { page, complaints } = await stage.open({
        hash,
        before: (p) =>
          p.route('**/api/**', async (route) => {
            const answer = await route.fetch();
            if (!(answer.headers()['content-type'] ?? '').includes('json')) return route.fulfill({ response: answer });
            return route.fulfill({ response: answer, json: poison(await answer.json()) });
          }),
      });
      await page.locator('step-budget li').first().waitFor();
      await page.locator('step-mix .step').waitFor();
      assert.ok((await page.getByText('<img src=x').count()) > 5, 'the text is shown as it is');
      assert.equal(await page.locator('img:not([src="/ui/icon.svg"])').count(), 0);
      assert.equal(await page.locator('script:not([src^="/ui/"]), script:not(:empty)').count(), 0);
      assert.equal(await page.evaluate(() => 'pwned' in window), false);
      assert.deepEqual(complaints, []);
    });
  }
});
