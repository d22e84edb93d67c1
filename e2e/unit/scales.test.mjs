// Scales and colours keep the order of weights, and hidden is told from small.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { REASONS, reasonOf } from '../../ui/hidden.js';
import { formatMap, parseMap } from '../../ui/map-address.js';
import { between, columnsOf, joined, toggled, touches } from '../../ui/map-left-out.js';
import { inkOn, luminance, PALETTES, rampAt, rampBytes } from '../../ui/palette.js';
import { cutsOf, defaultScale, fraction, rankIn, rowFractions, SCALES } from '../../ui/scales.js';

const kinds = /** @type {const} */ (['linear', 'sqrt', 'log']);
const themes = /** @type {const} */ (['light', 'dark']);
const palettes = /** @type {import('../../ui/palette.js').Palette[]} */ (Object.keys(PALETTES));

test('every scale runs from 0 to its top and never turns back', () => {
  for (const scale of kinds) {
    for (const top of [1, 0.13]) {
      assert.equal(fraction(scale, 0, top), 0);
      assert.equal(fraction(scale, top, top), 1);
      assert.equal(fraction(scale, 1, top), 1, 'beyond the top it stays there');
      let last = 0;
      for (let weight = 1e-7; weight < 1; weight *= 1.3) {
        const now = fraction(scale, weight, top);
        assert.ok(now >= last && now <= 1, `${scale} at ${weight}`);
        last = now;
      }
    }
  }
});

test('what the scales say holds', () => {
  assert.equal(fraction('linear', 0.25), 0.25);
  assert.equal(fraction('linear', 0.25, 0.5), 0.5);
  assert.equal(fraction('sqrt', 0.25), 0.5);
  assert.ok(Math.abs(fraction('log', 0.01) - 0.6) < 1e-12, 'two of five tenfold steps below 1');
  assert.ok(Math.abs(fraction('log', 0.001, 0.1) - 0.6) < 1e-12, 'two of five tenfold steps below the top');
  assert.equal(fraction('log', 1e-6), 0);
  for (const scale of kinds)
    assert.deepEqual(
      SCALES[scale].ticks,
      [...SCALES[scale].ticks].sort((a, b) => a - b),
    );
  assert.equal(defaultScale('example'), 'linear');
  assert.equal(defaultScale('model'), 'sqrt');
});

test('a row by its own largest, and by rank', () => {
  const weights = [0.05, 0.6, 0.1, 0.25, 0];
  const seen = (/** @type {number} */ i) => i < 4;
  assert.deepEqual(
    rowFractions('row', weights, seen).map((x) => Math.round(1000 * x)),
    [83, 1000, 167, 417, 0],
  );
  assert.deepEqual(
    rowFractions('rank', weights, seen)
      .slice(0, 4)
      .map((x) => Math.round(3 * x)),
    [0, 3, 1, 2],
  );
  // Left out of the scale the strong column is drawn as the strongest, and the rest spread out.
  const rest = rowFractions('row', weights, (i) => i < 4 && i !== 1);
  assert.equal(rest[1], 1);
  assert.equal(rest[3], 1);
});

test('ranks are counts of smaller weights, as finely as the ramp shows them', () => {
  for (const count of [1, 2, 7, 256, 1000]) {
    const sorted = Float32Array.from({ length: count }, (_, i) => (i + 1) / (count + 1)).sort();
    const cuts = new Float32Array(255);
    cutsOf(sorted, cuts);
    sorted.forEach((weight, less) => {
      const exact = count === 1 ? 255 : Math.floor((255 * less) / (count - 1) + 1e-9);
      assert.equal(rankIn(cuts, 0, weight), exact, `${less} of ${count}`);
    });
  }
  const equal = new Float32Array(255);
  cutsOf(Float32Array.of(0.2, 0.2, 0.6), equal);
  assert.equal(rankIn(equal, 0, Math.fround(0.2)), 0, 'equal weights share a rank');
});

test('columns left out: words and indices, in one order', () => {
  const tokens = ['<s>', 'a', '<s>', 'b'].map((text) => ({ id: null, text, special: text === '<s>' }));
  assert.equal(joined(['17', 'first', '3', 'first']), 'first-3-17');
  assert.equal(joined(['nonsense']), null);
  assert.equal(toggled('first-3', '3'), 'first');
  assert.equal(toggled('first', 'first'), null);
  assert.deepEqual(columnsOf('first', tokens), [0]);
  assert.deepEqual(columnsOf('special-3-99', tokens), [0, 2, 3]);
  assert.deepEqual(columnsOf('special-1-3', tokens), [], 'without any column there is no scale');
  assert.deepEqual(between([0, 2, 3], 6), [
    [1, 2],
    [4, 6],
  ]);
  assert.ok(touches([0, 7], 5, 8) && !touches([0, 7], 1, 7));
});

test('the map’s part of the address reads back what it writes', () => {
  for (const view of [
    { palette: null, blocks: null, range: null, leftOut: null, place: null },
    {
      palette: 'cividis',
      blocks: 'mean',
      range: 'largest',
      leftOut: 'first-17',
      place: { zoom: 0.125, query: 4520, key: 3 },
    },
  ]) {
    const params = new URLSearchParams();
    formatMap(/** @type {any} */ (view), params);
    assert.deepEqual(parseMap(new URLSearchParams(params.toString())), view);
    assert.doesNotMatch(params.toString(), /%/);
  }
  const bad = parseMap(new URLSearchParams('palette=jet&blocks=1&zoom=-1&centre=1&without=all-x'));
  assert.deepEqual(bad, { palette: null, blocks: null, range: null, leftOut: null, place: null });
});

test('the lightness of every ramp goes one way', () => {
  for (const palette of palettes) {
    for (const theme of themes) {
      const light = Array.from({ length: 256 }, (_, i) => luminance(rampAt(theme, i / 255, palette)));
      const sign = theme === 'light' ? -1 : 1;
      for (let i = 1; i < 256; i++) assert.ok(sign * (light[i] - light[i - 1]) >= -1e-3, `${palette} ${theme} ${i}`);
      assert.ok(Math.abs(light[255] - light[0]) > 0.6, `${palette} ${theme}`);
      assert.equal(rampBytes(theme, palette).length, 1024);
    }
  }
});

test('every ramp can be told apart with any colour vision', () => {
  // Machado, Oliveira and Fernandes (2009), complete loss of one kind of cone.
  const loss = {
    protan: [0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998],
    deutan: [0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.01182, 0.04294, 0.968881],
    tritan: [1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367, 0.3039],
  };
  const linear = (/** @type {number} */ c) =>
    c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4;
  for (const palette of palettes) {
    for (const theme of themes) {
      for (const [name, m] of Object.entries(loss)) {
        // Eight steps of a ramp: each at least a little lighter or darker than the one before.
        let last = null;
        for (let i = 0; i <= 8; i++) {
          const rgb = rampAt(theme, i / 8, palette).map(linear);
          const [r, g, b] = [0, 3, 6].map((row) =>
            Math.max(0, m[row] * rgb[0] + m[row + 1] * rgb[1] + m[row + 2] * rgb[2]),
          );
          const lightness = Math.cbrt(0.2126 * r + 0.7152 * g + 0.0722 * b);
          if (last !== null) assert.ok(Math.abs(lightness - last) > 0.02, `${palette} ${theme} ${name} ${i}`);
          last = lightness;
        }
      }
    }
  }
});

test('a number on any colour of the ramp has a contrast of 4.5', () => {
  const ink = (/** @type {string} */ hex) => (hex === '#ffffff' ? 1 : 0);
  for (const palette of palettes) {
    for (const theme of themes) {
      for (let i = 0; i <= 255; i++) {
        const ground = rampAt(theme, i / 255, palette);
        const [a, b] = [luminance(ground), ink(inkOn(ground))];
        assert.ok((Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05) >= 4.5, `${palette} ${theme} ${i}`);
      }
    }
  }
});

test('a tile’s negative numbers are reasons', () => {
  assert.deepEqual([-1, -2, -3, -4, -5].map(reasonOf), REASONS);
  assert.equal(reasonOf(0), null);
  assert.equal(reasonOf(0.5), null);
});
