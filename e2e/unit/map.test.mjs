// The map's arithmetic: every cell is found where it is drawn, and names keep clear of each other.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cellAt, layOut, mapHeight, mapWidth, nameStep, reveal, seen } from '../../ui/map-geometry.js';
import { written } from '../../ui/map-names.js';

const wish = { rows: 10, columns: 10, width: 640, height: 560, zoom: 1, ratio: 1, rowName: 60, columnName: 46 };

test('a map that fits is shown whole', () => {
  const g = layOut(wish);
  assert.ok(mapWidth(g) <= wish.width && mapHeight(g) <= wish.height + 2);
  assert.equal(g.slanted, false);
  assert.equal(layOut({ ...wish, width: 330 }).slanted, true, 'long names lie at a slant where columns are narrow');
});

test('cells are whole device pixels and never less than one', () => {
  for (const ratio of [1, 1.5, 2]) {
    for (const n of [16, 100, 512, 3000]) {
      const { cell } = layOut({ ...wish, rows: n, columns: n, ratio });
      assert.ok(Math.abs(cell * ratio - Math.round(cell * ratio)) < 1e-9 && cell * ratio >= 1, `${n} at ${ratio}`);
    }
  }
});

test('zoom enlarges cells, also of a map too large to fit', () => {
  const large = { ...wish, rows: 3000, columns: 3000 };
  assert.equal(layOut({ ...large, zoom: 4 }).cell, 4 * layOut(large).cell);
});

test('the cell under a point is the one drawn there', () => {
  const g = layOut({ ...wish, rows: 200, columns: 200, zoom: 6 });
  const scroll = { x: 137, y: 411 };
  for (const spot of [
    { query: 40, key: 20 },
    { query: 33, key: 25 },
  ]) {
    const x = g.left + (spot.key + 0.5) * g.cell - scroll.x;
    const y = g.top + (spot.query + 0.5) * g.cell - scroll.y;
    assert.deepEqual(cellAt(g, scroll, x, y), spot);
  }
  assert.equal(cellAt(g, scroll, g.left - 1, 300), null, 'a name is not a cell');
});

test('what is seen covers the window and stays on the map', () => {
  const g = layOut({ ...wish, rows: 1500, columns: 1500 });
  const window = { x: 900, y: 1200, width: 600, height: 500 };
  const part = seen(g, window);
  assert.ok(part.k0 <= 900 && part.q0 <= 1200 && part.k1 <= 1500 && part.q1 === 1500);
});

test('a chosen cell is scrolled into view, and no further', () => {
  const g = layOut({ ...wish, rows: 1500, columns: 1500 });
  const window = { x: 0, y: 0, width: 600, height: 500 };
  assert.deepEqual(reveal(g, window, { query: 10, key: 10 }), { x: 0, y: 0 });
  const to = reveal(g, window, { query: 1400, key: 900 });
  const part = seen(g, { ...window, ...to });
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
