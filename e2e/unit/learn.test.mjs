// The lesson's own modules, apart from the page.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { follow } from '../../ui/learn/follow.js';
import { between, formatRoute, numbersIn, oneOf, parseRoute, unless, whole, written } from '../../ui/learn/route.js';
import { bytes, milliseconds } from '../../ui/learn/units.js';

describe('the address of a chapter', () => {
  test('gives what is there only where it can be', () => {
    const params = new URLSearchParams({ part: '0.35', far: '7', word: 'bank', odd: '1e3' });
    assert.equal(between(params, 'part', 1, 0, 2), 0.35);
    assert.equal(between(params, 'far', 1, 0, 2), 1);
    assert.equal(between(params, 'odd', 1, 0, 2000), 1);
    assert.equal(between(params, 'none', 1, 0, 2), 1);
    assert.equal(oneOf(params, 'word', ['bat', 'bank'], 'bat'), 'bank');
    assert.equal(oneOf(params, 'part', ['bat', 'bank'], 'bat'), 'bat');
    assert.equal(unless('bat', 'bat'), null);
    assert.equal(unless(0.35, 1), 0.35);
  });

  test('comes back as it was written', () => {
    const params = new URLSearchParams({ query: '6', key: '1' });
    const route = parseRoute(formatRoute(3, params), 13);
    assert.equal(route.chapter, 3);
    assert.equal(route.params.get('query'), '6');
    assert.equal(formatRoute(5), '#/5');
  });

  test('of a chapter that is not there leads to one that is', () => {
    assert.equal(parseRoute('', 13).chapter, 1);
    assert.equal(parseRoute('#/0', 13).chapter, 1);
    assert.equal(parseRoute('#/99', 13).chapter, 13);
    assert.equal(parseRoute('#source=example', 13).chapter, 1);
  });

  test('gives whole numbers within bounds only', () => {
    const params = new URLSearchParams({ good: '4', large: '10', bad: '-1', worse: '<b>' });
    assert.equal(whole(params, 'good', 6, 10), 4);
    for (const name of ['large', 'bad', 'worse', 'none']) assert.equal(whole(params, name, 6, 10), 6);
  });
});

describe('numbers in the address', () => {
  const start = [1, -0.8, 0];

  test('come back as they were written', () => {
    const changed = [1.9, -0.8, -110];
    const params = new URLSearchParams({ scores: written(changed, start) ?? '' });
    assert.deepEqual(numbersIn(params, 'scores', start, 120), changed);
    assert.equal(written(start, start), null);
  });

  test('that are too many, too large or none at all are not taken', () => {
    for (const bad of ['1_2', '1_2_3_4', '1_2_x', '1_2_', '1_2_999', 'Infinity_0_0', '']) {
      assert.deepEqual(numbersIn(new URLSearchParams({ scores: bad }), 'scores', start, 120), start, bad);
    }
  });
});

describe('answers that follow a hand', () => {
  /** A question whose answer comes when told. */
  function slow() {
    /** @type {(() => void)[]} */
    const waiting = [];
    /** @type {number[]} */
    const asked = [];
    const question = (/** @type {number} */ wish) => {
      asked.push(wish);
      return new Promise((resolve) => waiting.push(() => resolve(wish * 10)));
    };
    return { question, asked, next: async () => (waiting.shift()?.(), new Promise((r) => setTimeout(r, 0))) };
  }

  test('the newest wish is asked next, those in between are not', async () => {
    const { question, asked, next } = slow();
    /** @type {unknown[]} */
    const got = [];
    const following = follow(
      question,
      (answer) => got.push(answer),
      () => assert.fail(),
    );
    for (const wish of [1, 2, 3, 4]) following.ask(wish);
    await next();
    await next();
    assert.deepEqual(asked, [1, 4]);
    assert.deepEqual(got, [10, 40]);
  });

  test('nothing is answered after the reader has left', async () => {
    const { question, next } = slow();
    const following = follow(
      question,
      () => assert.fail(),
      () => assert.fail(),
    );
    following.ask(1);
    following.stop();
    await next();
  });

  test('a failure is told, and the next wish is still asked', async () => {
    /** @type {unknown[]} */
    const told = [];
    const following = follow(
      async (/** @type {number} */ wish) => {
        if (wish === 1) throw new Error('no');
        return wish;
      },
      (answer) => told.push(answer),
      (error) => told.push(/** @type {Error} */ (error).message),
    );
    following.ask(1);
    following.ask(2);
    await new Promise((r) => setTimeout(r, 5));
    assert.deepEqual(told, ['no', 2]);
  });
});

test('times and sizes are written for people', () => {
  assert.equal(milliseconds(0.25), '250 µs');
  assert.equal(milliseconds(4.64), '4.6 ms');
  assert.equal(milliseconds(129.2), '129 ms');
  assert.equal(milliseconds(2345), '2.3 s');
  assert.equal(bytes(57344), '56 KiB');
  assert.equal(bytes(4194304), '4 MiB');
  assert.equal(bytes(1610612736), '1.5 GiB');
});
