// Heads are named by stated thresholds, sorted and filtered by their statistics.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { evenAttention, fits, PATTERNS, patternsOf, sorted } from '../../ui/patterns.js';

const site = { q_len: 4, kv_len: 4, causal: true, window: null };

/** @param {Partial<import('../../ui/contract.js').HeadFacts>} more */
const facts = (more) => ({
  layer: 0,
  head: 0,
  entropy: 1,
  first: 0.1,
  self: 0.1,
  previous: 0.1,
  distance: 30,
  proof: { row_sum_error: 1e-8, output_error: 2e-8 },
  ...more,
});

test('even attention: the entropy and the distance of looking at all alike', () => {
  const causal = evenAttention(site);
  const near = (/** @type {number} */ a, /** @type {number} */ b) => assert.ok(Math.abs(a - b) < 1e-12, `${a} ${b}`);
  near(causal.entropy, (Math.log(1) + Math.log(2) + Math.log(3) + Math.log(4)) / 4);
  near(causal.distance, (0 + 1 / 2 + 3 / 3 + 6 / 4) / 4);
  const both = evenAttention({ ...site, causal: false });
  near(both.entropy, Math.log(4));
  near(both.distance, (6 + 4 + 4 + 6) / 16);
  const window = evenAttention({ ...site, window: { left: 1, right: 0 } });
  near(window.entropy, (3 * Math.log(2)) / 4);
  near(window.distance, 1.5 / 4);
  near(evenAttention({ q_len: 1, kv_len: 4, causal: true, window: null }).entropy, Math.log(4));
});

test('patterns hold from their threshold on, and may overlap', () => {
  const even = evenAttention({ q_len: 200, kv_len: 200, causal: true, window: null });
  assert.deepEqual(patternsOf(facts({}), even), []);
  assert.deepEqual(patternsOf(facts({ previous: 0.5, distance: 3 }), even), ['previous', 'local']);
  assert.deepEqual(patternsOf(facts({ previous: 0.4999 }), even), []);
  assert.deepEqual(patternsOf(facts({ first: 0.7 }), even), ['first']);
  assert.deepEqual(patternsOf(facts({ self: 0.6, distance: 8 }), even), ['self', 'local']);
  assert.deepEqual(patternsOf(facts({ entropy: 0.96 * even.entropy }), even), ['uniform']);
  assert.deepEqual(patternsOf(facts({ self: null, previous: null, distance: null }), even), []);
  assert.equal(PATTERNS.previous.rule(even), 'previous ≥ 0.5');
  assert.equal(PATTERNS.local.rule(even), 'distance ≤ 8.00');
});

test('in a short text near is nearer', () => {
  const even = evenAttention({ q_len: 10, kv_len: 10, causal: true, window: null });
  assert.deepEqual(patternsOf(facts({ distance: 2 }), even), []);
  assert.deepEqual(patternsOf(facts({ distance: 0.5 }), even), ['local']);
});

const all = [
  facts({ layer: 1, head: 0, previous: 0.3 }),
  facts({ layer: 0, head: 1, previous: null }),
  facts({ layer: 0, head: 0, previous: 0.9 }),
  facts({ layer: 0, head: 2, previous: 0.3 }),
];
const names = (/** @type {import('../../ui/contract.js').HeadFacts[]} */ heads) =>
  heads.map((f) => `${f.layer}.${f.head}`);

test('sorting: equals by place, those without a value last', () => {
  assert.deepEqual(names(sorted(all, null, false)), ['0.0', '0.1', '0.2', '1.0']);
  assert.deepEqual(names(sorted(all, 'previous', false)), ['0.0', '0.2', '1.0', '0.1']);
  assert.deepEqual(names(sorted(all, 'previous', true)), ['0.2', '1.0', '0.0', '0.1']);
});

test('filtering by a pattern and by bounds', () => {
  const even = evenAttention({ q_len: 200, kv_len: 200, causal: true, window: null });
  const wish = { sort: null, rising: false, pattern: null, least: null, most: null };
  const passing = (/** @type {Partial<import('../../ui/patterns.js').Wish>} */ more) =>
    names(all.filter((f) => fits(f, { ...wish, ...more }, even)));
  assert.equal(passing({}).length, 4);
  assert.deepEqual(passing({ pattern: 'previous' }), ['0.0']);
  assert.deepEqual(passing({ sort: 'previous', least: 0.3 }), ['1.0', '0.0', '0.2']);
  assert.deepEqual(passing({ sort: 'previous', least: 0.2, most: 0.5 }), ['1.0', '0.2']);
});
