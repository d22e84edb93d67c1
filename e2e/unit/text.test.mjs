// The running text, the averages behind its shades, and the files made of them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { account, joined, meanOfHeads } from '../../ui/spread.js';
import { toCsv } from '../../ui/table.js';
import { paragraphs } from '../../ui/text-layout.js';

/** @param {string} text @param {Partial<import('../../ui/contract.js').Token>} [more] */
const token = (text, more = {}) => ({ id: 1, text, special: false, ...more });
const read = (/** @type {import('../../ui/contract.js').Token[]} */ tokens) =>
  paragraphs(tokens).map((words) =>
    words.map((word) => (word.space ? ' ' : '') + word.pieces.map((piece) => piece.text).join('')).join('|'),
  );

test('spaces between words are spaces, other blanks are visible, a line ends its paragraph', () => {
  assert.deepEqual(read([token('The'), token(' robot'), token('\n'), token(' '), token(' slept')]), [
    'The| robot|↵',
    '·| slept',
  ]);
  assert.deepEqual(read([token('   x'), token('\t')]), [' ··x|⇥']);
});

test('word pieces stand together, words apart', () => {
  const tokens = [token('[CLS]', { special: true }), token('unto'), token('##ken'), token('.')];
  assert.deepEqual(read(tokens), ['[CLS]| unto|ken| .']);
});

test('a character of several tokens is shown once, whole', () => {
  const part = (/** @type {string} */ text, /** @type {number} */ i, n = 3) => token(text, { part: [i, n] });
  assert.deepEqual(read([token('a b'), part(' 日', 1), part(' 日', 2), part(' 日', 3)]), ['a·b| 日|2|3']);
  const astronaut = [
    ...[1, 2, 3].map((i) => part(' 👩', i)),
    ...[1, 2].map((i) => part('\u200d', i, 2)),
    ...[1, 2, 3].map((i) => part('🚀', i)),
  ];
  assert.deepEqual(read([token('Hi'), ...astronaut, token('!')]), ['Hi| 👩\u200d🚀|2|3|4|5|6|7|8|!']);
  assert.deepEqual(read([token(' क'), token('ि'), token('त')]), [' कि|2|त']);
});

test('a token is never dropped', () => {
  const odd = [
    token(''),
    token('\r'),
    token('\n'),
    token('\u0301'),
    token('e\u0301', { special: true }),
    token('\u200d'),
  ];
  assert.equal(paragraphs(odd).flat().length, odd.length);
  assert.deepEqual(
    paragraphs(odd)
      .flat()
      .map((word) => word.index),
    [0, 1, 2, 3, 4, 5],
  );
});

test('a mean is the plain average, and hidden stays hidden', () => {
  const a = Float32Array.from([0.5, 0.5, -1]);
  const b = Float32Array.from([0, 1, -1]);
  assert.deepEqual([...meanOfHeads([a, b])], [0.25, 0.75, -1]);
  assert.equal(meanOfHeads([a]), a);
});

test('pinned tokens together: the mean counts hidden as 0, the largest is the largest', () => {
  const a = Float32Array.from([1, -1, -1]);
  const b = Float32Array.from([0.25, 0.75, -1]);
  assert.deepEqual([...joined([a, b], 'mean')], [0.625, 0.375, -1]);
  assert.deepEqual([...joined([a, b], 'largest')], [1, 0.75, -1]);
});

test('the account of a row: its sum, entropy and order', () => {
  const { sum, visible, entropy, order } = account(Float32Array.from([0.25, 0.5, 0.25, -1]));
  assert.equal(sum, 1);
  assert.equal(visible, 3);
  assert.ok(Math.abs(entropy - 1.5 * Math.LN2) < 1e-12);
  assert.deepEqual(order, [1, 0, 2]);
});

test('CSV quotes what it has to', () => {
  const csv = toCsv({
    header: ['token', 'weight'],
    rows: [
      ['a,"b"', 0.5],
      [' x', null],
      ['\n', 1e-7],
    ],
  });
  assert.equal(csv, 'token,weight\r\n"a,""b""",0.5\r\n" x",\r\n"\n",1e-7\r\n');
});
