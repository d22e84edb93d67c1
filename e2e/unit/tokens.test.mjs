// Tokens read as text, and nothing in them is invisible.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { direction, pieces, plain, spoken } from '../../ui/tokens.js';

const token = (/** @type {string} */ text, /** @type {object} */ more = {}) => ({
  id: 1,
  text,
  special: false,
  ...more,
});

test('tokens run as their first letter does; what a model adds does not count', () => {
  const mark = token('[CLS]', { special: true });
  assert.equal(direction([mark, token('ש'), token('##ל')]), 'rtl');
  assert.equal(direction([token('"'), token(' مرحبا'), token(' world')]), 'rtl');
  assert.equal(direction([mark, token('42'), token('world'), token('שלום')]), 'ltr');
  assert.equal(direction([token('你'), token('ሰላም')]), 'ltr');
  assert.equal(direction([]), 'ltr');
});

test('a leading space is seen', () => {
  assert.equal(plain(token(' robot')), '·robot');
  assert.deepEqual(pieces(token(' robot')), [
    { text: '·', kind: 'space' },
    { text: 'robot', kind: 'text' },
  ]);
});

test('line breaks, tabs and other blanks have marks', () => {
  assert.equal(plain(token('\n\n')), '↵↵');
  assert.equal(plain(token('\t')), '⇥');
  assert.equal(plain(token('\u00a0')), '⍽');
  assert.equal(plain(token('\u200b')), '‹200B›');
  assert.equal(plain(token('\u0007')), '‹0007›');
});

test('characters that turn the direction of text are shown, not obeyed', () => {
  assert.equal(plain(token('a\u202eb')), 'a‹202E›b');
});

test('joiners inside a word or an emoji stay', () => {
  assert.equal(plain(token('👩‍🚀')), '👩‍🚀');
  assert.equal(plain(token('می‌خواهم')), 'می‌خواهم');
});

test('special tokens are marked', () => {
  assert.deepEqual(pieces(token('<|endoftext|>', { special: true })), [{ text: '<|endoftext|>', kind: 'special' }]);
});

test('a part of a character says which part', () => {
  assert.equal(plain(token('日', { part: [1, 2] })), '日 1/2');
  assert.equal(plain(token('', { part: [2, 3] })), '… 2/3');
});

test('an empty token is not an empty label', () => {
  assert.equal(plain(token('')), '∅');
});

test('markup is text', () => {
  assert.deepEqual(pieces(token('<b>')), [{ text: '<b>', kind: 'text' }]);
});

test('a screen reader hears words', () => {
  assert.equal(spoken(token(' robot')), 'robot');
  assert.equal(spoken(token('\n')), 'line break');
  assert.equal(spoken(token(' ')), 'space');
  assert.equal(spoken(token('</s>', { special: true })), 'special token </s>');
  assert.equal(spoken(token('', { part: [2, 3] })), 'part 2 of 3 of a character');
});
