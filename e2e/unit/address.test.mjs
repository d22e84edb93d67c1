// The address holds the view, and the command line names the same cell.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EMPTY_VIEW, formatAddress, parseAddress } from '../../ui/address.js';
import { EMPTY_MAP } from '../../ui/map-address.js';
import { cellCommand, headsCommand, mapCommand, rowCommand, shellWord } from '../../ui/command.js';

/** @type {import('../../ui/address.js').View} */
const view = {
  source: 's1',
  text: 'a & b = 日本\n#1',
  causal: true,
  site: 'self',
  layer: 3,
  head: 7,
  query: 12,
  key: 0,
  scale: 'log',
  tab: 'text',
  sort: 'previous',
  rising: true,
  pattern: 'local',
  least: 0.25,
  most: 1e-7,
  pins: [4, 0, 17],
  heads: [1, 3],
  facing: 'by',
  joining: 'largest',
  ...EMPTY_MAP,
};

test('a view survives the way through the address', () => {
  assert.deepEqual(parseAddress(formatAddress(view)), view);
  assert.deepEqual(parseAddress(''), EMPTY_VIEW);
  assert.deepEqual(parseAddress(formatAddress({ ...view, site: 'cross', causal: false, text: null })), {
    ...view,
    site: 'cross',
    causal: false,
    text: null,
  });
});

test('nonsense in an address is ignored', () => {
  const odd = parseAddress('#layer=-1&head=x&query=1e9&key=2.5&causal=maybe&scale=cubic&source=example');
  assert.deepEqual(odd, { ...EMPTY_VIEW, source: 'example' });
});

test('large numbers survive, and endless ones are held', () => {
  for (const least of [1e99, 1e-12, 0.1234567890123, 1e21, -2.5e7])
    assert.equal(parseAddress(formatAddress({ ...view, least })).least, least);
  assert.equal(parseAddress('#least=1e999').least, null);
  assert.deepEqual(parseAddress('#zoom=1e300&centre=3-4').place, { zoom: 1024, query: 3, key: 4 });
});

/** @type {import('../../ui/contract.js').Source} */
const example = {
  id: 'example',
  label: 'The worked example',
  kind: 'example',
  note: '',
  text: '',
  text_fixed: true,
  causal: false,
  causal_choice: true,
};

test('the command names the cell', () => {
  const cell = { ...EMPTY_VIEW, source: 'example', query: 6, key: 1 };
  assert.equal(cellCommand(example, cell), 'attnscope cell example --layer 0 --head 0 --query 6 --key 1');
  assert.equal(
    cellCommand(example, { ...cell, causal: true }),
    'attnscope cell example --layer 0 --head 0 --query 6 --key 1 --causal',
  );
});

test('the text comes along, safe for a shell', () => {
  const model = /** @type {const} */ ({
    ...example,
    id: 's1',
    label: 'SmolLM2',
    kind: 'model',
    text_fixed: false,
    causal_choice: false,
    text: 'It’s $HOME; `x`',
  });
  const command = cellCommand(model, { ...EMPTY_VIEW, query: 1, key: 0 });
  assert.equal(command, "attnscope cell SmolLM2 --text 'It’s $HOME; `x`' --layer 0 --head 0 --query 1 --key 0");
  assert.match(
    cellCommand({ ...model, name: 'models/smol lm.gguf' }, { ...EMPTY_VIEW, query: 1, key: 0 }),
    /^attnscope cell 'models\/smol lm.gguf' --text/,
  );
  assert.equal(shellWord("don't"), "'don'\\''t'");
  assert.equal(shellWord(''), "''");
});

test('the views of all heads and of the text are in the address', () => {
  const link = '#source=s1&view=text&layer=3&head=7&heads=mean&pins=6.2&facing=by';
  assert.equal(formatAddress(parseAddress(link)), link);
  const heads = '#source=s1&view=heads&layer=0&head=0&pattern=previous&sort=distance&order=rising&least=2&most=8.5';
  assert.equal(formatAddress(parseAddress(heads)), heads);
  assert.deepEqual(parseAddress('#view=stars&pattern=odd&sort=x&pins=1.1.-2.a&heads=.&least=NaN&facing=up'), {
    ...EMPTY_VIEW,
    pins: [1],
  });
});

test('rows, maps and heads have commands too', () => {
  const at = { ...EMPTY_VIEW, layer: 2, head: 5 };
  assert.equal(mapCommand(example, at), 'attnscope show example --layer 2 --head 5');
  assert.equal(rowCommand(example, at, 6), 'attnscope row example --layer 2 --head 5 --query 6');
  assert.equal(rowCommand(example, at, 6, 'mean'), 'attnscope row example --layer 2 --head mean --query 6');
  assert.equal(headsCommand(example, { ...at, causal: true }), 'attnscope heads example --causal');
});
