// Numbers that are not finite, rows whose sum is not 1, and masks in words.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hiddenCounts, reasonsIn, sentence, windowWords } from '../../ui/hidden.js';
import { wholeCell, wholeFacts } from '../../ui/not-finite.js';
import { percent, precise, show, tidy, tiny, together } from '../../ui/numbers.js';
import { effectiveNumber, fitsLse } from '../../ui/row-sum.js';

test('what is no number is written as such', () => {
  for (const write of [tiny, precise, percent, show, tidy, together([1, 2])])
    assert.equal(write(NaN), 'not a number', write.name);
  assert.equal(tiny(null), 'not a number');
  assert.equal(precise(null), 'not a number');
  assert.equal(tiny(Infinity), '∞');
  assert.equal(show(null), '−∞');
});

test('null is NaN where it cannot be minus infinity', () => {
  const cell = /** @type {any} */ ({ q: [1, null], k: [], v: [], out: [], products: [], weight: null, score: null });
  const whole = wholeCell(cell);
  assert.deepEqual(whole.q, [1, NaN]);
  assert.ok(Number.isNaN(whole.weight));
  assert.equal(whole.score, null);
  const [facts] = wholeFacts([/** @type {any} */ ({ entropy: null, first: 1, self: null })]);
  assert.ok(Number.isNaN(facts.entropy));
  assert.equal(facts.self, null);
});

test('a row fits its lse where its weights and its sink sum to 1', () => {
  const row = { row_sum: 1, sink: null, visible: 3 };
  assert.ok(fitsLse(row));
  assert.ok(fitsLse({ ...row, row_sum: 0.25, sink: 0.75 }));
  assert.ok(fitsLse({ ...row, row_sum: 0, visible: 0 }));
  assert.ok(fitsLse({ row_sum: 0, sink: 1, visible: 0 }));
  assert.ok(!fitsLse({ ...row, row_sum: 1.002 }));
  assert.ok(!fitsLse({ ...row, row_sum: 0.25 }));
  assert.ok(!fitsLse({ ...row, row_sum: NaN }));
});

test('the effective number is of the weights without the sink', () => {
  const entropy = (/** @type {number[]} */ weights) => -weights.reduce((sum, w) => sum + w * Math.log(w), 0);
  const near = (/** @type {number | null} */ a, /** @type {number} */ b) => assert.ok(Math.abs((a ?? NaN) - b) < 1e-12);
  near(effectiveNumber(entropy([0.25, 0.25, 0.25, 0.25]), 1), 4);
  near(effectiveNumber(entropy([0.1, 0.1]), 0.2), 2);
  near(effectiveNumber(entropy([0.3]), 0.3), 1);
  assert.equal(effectiveNumber(0, 0), null);
});

const site = /** @type {any} */ ({ kv_len: 10, causal: true, window: null });

test('a window is told by what it hides', () => {
  assert.equal(windowWords(site), null);
  assert.equal(windowWords({ ...site, window: { left: 3, right: 0 } }), 'window of 4');
  assert.equal(windowWords({ ...site, window: { left: 3, right: null } }), 'window of 4');
  assert.equal(windowWords({ ...site, window: { left: 2 ** 64, right: 2 ** 64 } }), null);
  const open = { ...site, causal: false };
  assert.equal(windowWords({ ...open, window: { left: 3, right: 2 } }), 'window of 6');
  assert.equal(windowWords({ ...open, window: { left: 3, right: null } }), 'window of 3 to the left');
  assert.equal(windowWords({ ...open, window: { left: 2 ** 64, right: 2 } }), 'window of 2 to the right');
  assert.match(
    sentence('outside_window', { ...open, window: { left: 2 ** 64, right: 2 } }),
    /sees any number of tokens to the left and 2 to the right/,
  );
});

test('what hides how many', () => {
  assert.deepEqual(hiddenCounts([null, null]), []);
  assert.deepEqual(hiddenCounts(['padding', 'future', null, 'padding', 'knocked_out', 'other_segment']), [
    '1 that comes later',
    '2 of padding',
    '1 of another segment',
    '1 cut',
  ]);
  assert.deepEqual(reasonsIn(Float32Array.of(0.5, -5, -3, -3)), ['padding', 'knocked_out']);
});
