// The picture of all heads: everything fits across, nothing overlaps, keys lead to neighbours.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { headAt, layOutGrid, layOutList, stepFrom } from '../../ui/heads-layout.js';

/** @param {number} layers @param {number} heads @param {number} kv */
const sites = (layers, heads, kv) =>
  Array.from({ length: layers }, (_, layer) => /** @type {any} */ ({ layer, q_heads: heads, kv_heads: kv }));

for (const [layers, heads, kv] of [
  [1, 1, 1],
  [6, 12, 12],
  [30, 9, 3],
  [32, 32, 8],
]) {
  for (const width of [320, 1000, 1600]) {
    test(`${layers} layers of ${heads} heads on ${width} pixels`, () => {
      const layout = layOutGrid(sites(layers, heads, kv), width, 420, 12);
      assert.equal(layout.places.length, layers * heads);
      if (width > 320 || heads < 12) assert.ok(layout.width <= width, `${layout.width}`);
      assert.ok(layout.side >= 20);
      for (const p of layout.places) {
        const found = headAt(layout, p.x + layout.side / 2, p.y + layout.side / 2);
        assert.deepEqual([found?.layer, found?.head], [p.layer, p.head]);
        assert.ok(p.x + layout.side <= layout.width && p.y + layout.side <= layout.height);
      }
    });
  }
}

test('many layers lie across where the window is wide, and down where it is narrow', () => {
  assert.equal(layOutGrid(sites(30, 9, 3), 1000, 420, 12).layersDown, false);
  assert.equal(layOutGrid(sites(30, 9, 3), 320, 420, 12).layersDown, true);
  assert.equal(layOutGrid(sites(6, 12, 12), 1000, 420, 12).layersDown, true);
});

test('arrow keys go to the neighbour, and stop at the edge', () => {
  const layout = layOutGrid(sites(30, 9, 3), 1000, 420, 12);
  const from = { layer: 4, head: 2 };
  const to = (/** @type {string} */ key) => {
    const next = stepFrom(layout, from, key);
    return next && [next.layer, next.head];
  };
  assert.deepEqual(to('ArrowRight'), [5, 2]);
  assert.deepEqual(to('ArrowDown'), [4, 3]);
  assert.deepEqual(to('Home'), [0, 0]);
  assert.deepEqual(to('End'), [29, 8]);
  assert.equal(stepFrom(layout, { layer: 0, head: 0 }, 'ArrowUp'), null);
});

test('a list keeps its order, and its height within what a canvas can hold', () => {
  const heads = Array.from({ length: 1024 }, (_, i) => ({ layer: i >> 5, head: i & 31 }));
  for (const width of [320, 1000]) {
    const layout = layOutList(heads, width, 12);
    assert.ok(layout.height <= 6000 && layout.width <= width + 4, `${layout.width} x ${layout.height}`);
    assert.deepEqual(stepFrom(layout, heads[5], 'ArrowRight')?.head, 6);
    assert.deepEqual(stepFrom(layout, heads[0], 'ArrowDown')?.head, layout.columns & 31);
  }
  assert.equal(layOutList([], 1000, 12).places.length, 0);
});
