// Scales and colours keep the order of weights, and hidden is told from small.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { REASONS, reasonOf } from '../../ui/hidden.js';
import { inkOn, luminance, rampAt, rampBytes } from '../../ui/palette.js';
import { defaultScale, fraction, SCALES } from '../../ui/scales.js';

const kinds = /** @type {const} */ (['linear', 'sqrt', 'log']);
const themes = /** @type {const} */ (['light', 'dark']);

test('every scale runs from 0 to 1 and never turns back', () => {
  for (const scale of kinds) {
    assert.equal(fraction(scale, 0), 0);
    assert.equal(fraction(scale, 1), 1);
    let last = 0;
    for (let weight = 1e-7; weight < 1; weight *= 1.3) {
      const now = fraction(scale, weight);
      assert.ok(now >= last && now <= 1, `${scale} at ${weight}`);
      last = now;
    }
  }
});

test('what the scales say holds', () => {
  assert.equal(fraction('linear', 0.25), 0.25);
  assert.equal(fraction('sqrt', 0.25), 0.5);
  assert.ok(Math.abs(fraction('log', 0.01) - 0.6) < 1e-12, 'two of five tenfold steps below 1');
  assert.equal(fraction('log', 1e-6), 0);
  for (const scale of kinds)
    assert.deepEqual(
      SCALES[scale].ticks,
      [...SCALES[scale].ticks].sort((a, b) => a - b),
    );
  assert.equal(defaultScale('example'), 'linear');
  assert.equal(defaultScale('model'), 'sqrt');
});

test('the ramp’s lightness goes one way', () => {
  for (const theme of themes) {
    const light = Array.from({ length: 256 }, (_, i) => luminance(rampAt(theme, i / 255)));
    const sign = theme === 'light' ? -1 : 1;
    for (let i = 1; i < 256; i++) assert.ok(sign * (light[i] - light[i - 1]) >= -1e-3, `${theme} ${i}`);
    assert.ok(Math.abs(light[255] - light[0]) > 0.6);
    assert.equal(rampBytes(theme).length, 1024);
  }
});

test('a number on any colour of the ramp has a contrast of 4.5', () => {
  const ink = (/** @type {string} */ hex) => (hex === '#ffffff' ? 1 : 0);
  for (const theme of themes) {
    for (let i = 0; i <= 255; i++) {
      const ground = rampAt(theme, i / 255);
      const [a, b] = [luminance(ground), ink(inkOn(ground))];
      assert.ok((Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05) >= 4.5, `${theme} ${i}`);
    }
  }
});

test('a tile’s negative numbers are reasons', () => {
  assert.deepEqual([-1, -2, -3, -4, -5].map(reasonOf), REASONS);
  assert.equal(reasonOf(0), null);
  assert.equal(reasonOf(0.5), null);
});
