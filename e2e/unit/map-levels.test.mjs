// How the map is cut into tiles: every cell in one of them, none asked for twice, none too large.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { layOut } from '../../ui/map-geometry.js';
import { blockAt, levelOf, overview, share, TILE, tilesOf } from '../../ui/map-levels.js';
import { seen, stops, zoomed, whole } from '../../ui/map-camera.js';
import { blockWords, quantity } from '../../ui/map-shown.js';

const frame = (/** @type {number} */ n, ratio = 1) =>
  layOut({ rows: n, columns: n, width: 640, height: 660, ratio, rowName: 60, columnName: 46 });

for (const n of [10, 512, 513, 600, 1500, 4099, 8192]) {
  test(`${n} tokens: the tiles of every level cover what is seen, once, and are no larger than allowed`, () => {
    for (const ratio of [1, 2]) {
      const f = frame(n, ratio);
      for (const cell of stops(f)) {
        const c = zoomed(f, whole(f), cell, f.left + 0.6 * f.width, f.top + 0.3 * f.height);
        const level = levelOf(f, cell);
        const part = seen(f, c);
        const plans = tilesOf(f, level, part);
        const lines = (/** @type {'q' | 'k'} */ axis) =>
          [...new Set(plans.map(({ span }) => `${span[`${axis}0`]} ${span[`${axis}1`]}`))]
            .map((line) => line.split(' ').map(Number))
            .sort((a, b) => a[0] - b[0]);
        for (const [axis, from, to] of /** @type {const} */ ([
          ['q', part.q0, part.q1],
          ['k', part.k0, part.k1],
        ])) {
          const all = lines(axis);
          assert.ok(all[0][0] <= from && /** @type {number[]} */ (all.at(-1))[1] >= to, `${axis} at ${cell}`);
          for (let i = 1; i < all.length; i++) assert.equal(all[i][0], all[i - 1][1], 'no gap and no overlap');
        }
        for (const { span, rows, columns } of plans) {
          assert.ok(rows <= TILE && columns <= TILE);
          assert.ok(span.q1 <= n && span.k1 <= n);
          if (level.kind === 'exact') assert.deepEqual([rows, columns], [span.q1 - span.q0, span.k1 - span.k0]);
          else assert.ok(rows <= span.q1 - span.q0, 'a pixel is at least one cell');
        }
      }
    }
  });
}

test('the whole map of 8,192 tokens is a few tiles of a pixel for each pixel', () => {
  const f = frame(8192);
  const level = overview(f);
  const plans = tilesOf(f, level, { q0: 0, q1: 8192, k0: 0, k1: 8192 });
  const pixels = [...new Set(plans.map((plan) => `${plan.span.k0} ${plan.columns}`))];
  assert.equal(level.kind, 'whole');
  assert.equal(
    pixels.reduce((sum, one) => sum + Number(one.split(' ')[1]), 0),
    Math.round(f.width),
  );
});

test('a pixel’s cells are those the server puts together', () => {
  const [plan] = tilesOf(frame(8192), { kind: 'blocks', block: 8 }, { q0: 0, q1: 100, k0: 0, k1: 100 });
  assert.deepEqual(blockAt(plan, 17, 9)?.span, { q0: 16, q1: 24, k0: 8, k1: 16 });
  assert.equal(blockAt(plan, 5000, 9), null);
  // Uneven parts too: every cell is in the part that contains it.
  const uneven = { ...plan, span: { q0: 3, q1: 103, k0: 0, k1: 77 }, rows: 7, columns: 13 };
  for (let q = 3; q < 103; q++) {
    for (let k = 0; k < 77; k++) {
      const found = blockAt(uneven, q, k);
      assert.ok(found && found.span.q0 <= q && q < found.span.q1 && found.span.k0 <= k && k < found.span.k1);
      assert.deepEqual([found.span.q0, found.span.q1], share(3, 103, found.row, 7));
    }
  }
});

test('the legend says what a pixel is', () => {
  const shown = /** @type {any} */ ({ level: { kind: 'blocks', block: 8 } });
  assert.equal(blockWords({ kind: 'whole', block: 15.3 }), '15–16 × 15–16');
  assert.equal(quantity(shown, null), 'largest weight of each block of 8 × 8 cells');
  assert.equal(quantity(shown, 'mean'), 'mean weight of each block of 8 × 8 cells');
  assert.equal(quantity({ ...shown, level: { kind: 'exact', block: 1 } }, 'mean'), 'weight');
});
