// Numbers are written so that a person can read them, and never say something else.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  counted,
  exactDecimals,
  forClipboard,
  percent,
  precise,
  show,
  tidy,
  tiny,
  together,
} from '../../ui/numbers.js';

test('the example’s numbers read as in the text', () => {
  assert.equal(show(1.9), '1.90');
  assert.equal(show(0.6290721), '0.629');
  assert.equal(show(-1.2599999), '−1.26');
  assert.equal(show(2.3635), '2.36');
});

test('digits fit the size', () => {
  assert.equal(show(0), '0');
  assert.equal(show(0.0523), '0.0523');
  assert.equal(show(0.9996), '1.00');
  assert.equal(show(123.456), '123.5');
  assert.equal(show(4321.9), '4322');
  assert.equal(show(0.000042), '4.2e−5');
  assert.equal(show(-3e-7), '−3.0e−7');
  assert.equal(show(12345678), '1.2e7');
});

test('a weight has six digits where it is the answer', () => {
  assert.equal(precise(0.6290721397), '0.629072');
  assert.equal(precise(0.00015749), '0.000157490');
  assert.equal(precise(0.0000123456789), '1.23457e−5');
  assert.equal(precise(1), '1');
  assert.equal(precise(0), '0');
});

test('one token is one token', () => {
  assert.deepEqual([counted(1), counted(1681)], ['1 token', '1,681 tokens']);
});

test('there is no infinity in JSON: null is minus infinity', () => {
  assert.equal(show(null), '−∞');
  assert.equal(show(Number.NEGATIVE_INFINITY), '−∞');
  assert.equal(show(Number.NaN), 'not a number');
});

test('errors are scientific', () => {
  assert.equal(tiny(1.23e-7), '1.2e−7');
  assert.equal(tiny(0), '0');
});

test('numbers that stand together have the same decimals, few where they are round', () => {
  assert.equal(exactDecimals([1, -1, 0]), 0);
  assert.equal(exactDecimals([2, -1.8]), 1);
  assert.equal(exactDecimals([1 / 3]), null);
  const f32 = Math.fround(0.7);
  assert.equal(exactDecimals([f32, 1.4]), 1, '32-bit rounding is not a digit');
  const write = together([2, -1.8, -1.4]);
  assert.deepEqual([2, -1.8, -1.4].map(write), ['2.0', '−1.8', '−1.4']);
  assert.equal(together([1 / 3, 2])(1 / 3), '0.33');
  assert.equal(together([1 / 3, 1e-6])(1e-6), '1.0e−6', 'small is not nothing');
  assert.equal(together([1, -0])(-0), '0', 'no minus zero');
});

test('one number alone', () => {
  assert.equal(tidy(0.5), '0.5');
  assert.equal(tidy(0.125), '0.125');
  assert.equal(tidy(2), '2');
  assert.equal(tidy(1 / 3), '0.333');
});

test('per cent never rounds something to nothing or to all', () => {
  assert.equal(percent(0.629), '63%');
  assert.equal(percent(0.997), '99.7%');
  assert.equal(percent(0.00004), '< 0.1%');
  assert.equal(percent(0.99995), '> 99.9%');
  assert.equal(percent(0), '0%');
  assert.equal(percent(1), '100%');
});

test('what is copied can be parsed', () => {
  assert.equal(Number(forClipboard(show(-1.26))), -1.26);
  assert.equal(Number(forClipboard(show(-3e-7))), -3e-7);
});
