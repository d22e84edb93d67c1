// Rows and columns as bytes.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { unpack } from '../../ui/packed.js';

/** @param {object} about @param {number[]} weights */
function pack(about, weights) {
  const json = Buffer.from(JSON.stringify(about));
  const length = Math.ceil(json.length / 8) * 8;
  const bytes = Buffer.alloc(8 + length + 8 * weights.length, ' ');
  bytes.writeUInt32LE(length, 0);
  bytes.writeUInt32LE(weights.length, 4);
  json.copy(bytes, 8);
  weights.forEach((weight, i) => bytes.writeDoubleLE(weight, 8 + length + 8 * i));
  return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
}

test('weights come out to the last bit, hidden ones as 0 with their reason', () => {
  const weights = [0.1 + 0.2, 0, 5e-324, -1, -2];
  assert.deepEqual(unpack(pack({ layer: 3, weights: [], mask: [], strongest: [{ token: '日本' }] }, weights)), {
    layer: 3,
    strongest: [{ token: '日本' }],
    weights: [0.1 + 0.2, 0, 5e-324, 0, 0],
    mask: [null, null, null, 'future', 'outside_window'],
  });
});

test('what was cut off is no answer', () => {
  assert.throws(() => unpack(pack({}, [1, 2]).slice(0, 20)));
});
