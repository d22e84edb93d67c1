// The map's arithmetic: every cell is found where it is drawn, at every zoom, and names keep clear of each other.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  cameraAt,
  cellAt,
  further,
  held,
  isWhole,
  placeOf,
  pointOf,
  rest,
  reveal,
  seen,
  stops,
  whole,
  zoomed,
} from '../../ui/map-camera.js';
import { canvasHeight, canvasWidth, layOut, nameStep } from '../../ui/map-geometry.js';
import { written } from '../../ui/map-names.js';

const wish = { rows: 10, columns: 10, width: 640, height: 560, ratio: 1, rowName: 60, columnName: 46 };
const frame = (/** @type {number} */ n, more = {}) => layOut({ ...wish, rows: n, columns: n, ...more });

test('the whole map fits its room, at every size and density', () => {
  for (const n of [1, 8, 10, 48, 49, 300, 546, 547, 4096, 8192, 100000]) {
    for (const ratio of [1, 1.5, 2]) {
      const f = frame(n, { ratio });
      assert.ok(canvasWidth(f) <= wish.width + 0.01 && canvasHeight(f) <= wish.height + 0.01, `${n} at ${ratio}`);
      // Up to the largest cell, and but for what whole pixels cost, the room is used.
      assert.ok(f.height > 0.85 * Math.min(n * 60, wish.height - f.top - 6, wish.width - f.left - f.right), `${n}`);
    }
  }
});

test('names lie at a slant where columns are narrow', () => {
  assert.equal(frame(10).slanted, false);
  assert.equal(frame(10, { width: 330 }).slanted, true);
});

test('where the map rests, a cell is whole pixels or a pixel is whole cells', () => {
  for (const ratio of [1, 1.5, 2]) {
    for (const n of [300, 3000, 8192]) {
      const f = frame(n, { ratio });
      const [fit, ...more] = stops(f);
      assert.equal(fit, f.fit);
      let last = fit;
      for (const stop of more) {
        const pixels = stop * ratio;
        const even = pixels >= 1 ? pixels : 1 / pixels;
        assert.ok(Math.abs(even - Math.round(even)) < 1e-9, `${n} at ${ratio}: ${pixels}`);
        assert.ok(stop > last);
        last = stop;
      }
    }
  }
});

test('a zoom leaves what lies under the pointer where it is', () => {
  const f = frame(4096);
  let c = whole(f);
  const [px, py] = [f.left + 0.4 * f.width, f.top + 0.7 * f.height];
  const under = (/** @type {typeof c} */ at) => [(px - f.left + at.x) / at.cell, (py - f.top + at.y) / at.cell];
  const before = under(c);
  for (let i = 0; i < 20; i++) {
    c = zoomed(f, c, c.cell * 1.37, px, py);
    under(c).forEach((place, axis) => assert.ok(Math.abs(place - before[axis]) < 1e-6 * 4096, `step ${i}`));
  }
  for (let i = 0; i < 40; i++) c = zoomed(f, c, c.cell / 1.37, px, py);
  assert.ok(isWhole(f, c));
  assert.deepEqual([c.x, c.y], [0, 0]);
});

test('it rests at the next stop in the direction of the zoom, and every step is one', () => {
  const f = frame(4096);
  assert.equal(rest(f, 2.4, 1), 3);
  assert.equal(rest(f, 2.4, -1), 2);
  assert.equal(rest(f, 0.3, 1), 0.5);
  let cell = f.fit;
  for (const stop of stops(f).slice(1)) {
    cell = further(f, cell, 1);
    assert.equal(cell, stop);
  }
  assert.equal(further(f, cell, 1), cell, 'and no further');
});

test('the map cannot be pushed off its frame', () => {
  const f = frame(1500);
  const far = held(f, { cell: 4, x: 1e9, y: -5 });
  assert.deepEqual(far, { cell: 4, x: 1500 * 4 - f.width, y: 0 });
  assert.deepEqual(held(f, { cell: 0.01, x: 7, y: 7 }), whole(f));
});

test('the cell under a point is the one drawn there, and part of what is seen', () => {
  const f = frame(1500);
  for (const place of [
    { zoom: 1, query: 700, key: 300 },
    { zoom: 16, query: 1499, key: 0 },
    { zoom: 64, query: 3, key: 1499 },
  ]) {
    const c = cameraAt(f, place);
    const part = seen(f, c);
    for (const spot of [
      { query: part.q0 + 1, key: part.k0 + 1 },
      { query: part.q1 - 2, key: part.k1 - 2 },
    ]) {
      const at = pointOf(f, c, spot);
      assert.deepEqual(cellAt(f, c, at.x, at.y), spot);
    }
    assert.equal(cellAt(f, c, f.left - 1, f.top + 30), null, 'a name is not a cell');
  }
});

test('a place in the address brings the same part back', () => {
  const f = frame(1500);
  const c = cameraAt(f, { zoom: 8, query: 700, key: 300 });
  assert.deepEqual(placeOf(f, c), { zoom: 8, query: 700, key: 300 });
  assert.equal(placeOf(f, whole(f)), null);
  // Another screen has other stops: the nearest.
  const dense = frame(1500, { ratio: 1.5 });
  assert.ok(stops(dense).includes(cameraAt(dense, { zoom: 7.9, query: 1, key: 1 }).cell));
});

test('a chosen cell comes into view, and one that is in view moves nothing', () => {
  const f = frame(1500);
  const c = { cell: 4, x: 0, y: 0 };
  assert.deepEqual(reveal(f, c, { query: 10, key: 10 }), c);
  const to = reveal(f, c, { query: 1400, key: 900 });
  const part = seen(f, to);
  assert.ok(part.q0 <= 1400 && 1400 < part.q1 && part.k0 <= 900 && 900 < part.k1);
});

test('names are thinned to round steps', () => {
  assert.equal(nameStep(20, 14), 1);
  assert.equal(nameStep(10, 14), 2);
  assert.equal(nameStep(3, 14), 5);
  assert.equal(nameStep(1, 14), 20);
  assert.equal(nameStep(0.1, 14), 200);
});

test('the chosen cell is always named, and its neighbours make room', () => {
  const names = written(0, 512, 1, 47, 300, 14);
  const chosen = names.find((name) => name.index === 47);
  assert.equal(chosen?.strong, 'chosen');
  assert.ok(names.some((name) => name.index === 300));
  const places = names.map((name) => name.index).sort((a, b) => a - b);
  for (let i = 1; i < places.length; i++)
    assert.ok(places[i] - places[i - 1] >= 14, `${places[i - 1]} and ${places[i]}`);
  assert.ok(!written(0, 512, 1, 47, 50, 14).some((name) => name.index === 50), 'no hovered name over the chosen one');
});
