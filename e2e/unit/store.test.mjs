// Those who watch the state are told once a turn, and one that fails does not silence the others.

import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { get, set, watch } from '../../ui/store.js';

const turn = () => new Promise((resolve) => setTimeout(resolve));

test('a watcher that throws is reported, and the others are told', async () => {
  const report = mock.method(console, 'error', () => {});
  /** @type {(string | null)[]} */
  const told = [];
  const stops = [
    watch(
      (s) => [s.notice],
      (notice) => {
        if (notice === 'odd') throw new Error('cannot draw this');
      },
    ),
    watch(
      (s) => [s.notice],
      (notice) => told.push(notice),
    ),
  ];
  set({ notice: 'odd' });
  await turn();
  set({ notice: 'even' });
  await turn();
  for (const stop of stops) stop();
  assert.deepEqual(told, [null, 'odd', 'even']);
  assert.equal(report.mock.callCount(), 1);
  report.mock.restore();
  assert.equal(get().notice, 'even');
});
