// The same on the command line: a cell, a row, a map, the heads.

/** @import { Column, Source } from './contract.js' */
/** @import { View } from './address.js' */

/**
 * A cell.
 * @param {Source} source
 * @param {View} view  with its query and key
 */
export const cellCommand = (source, view) =>
  command('cell', source, view, ...headWords(view, view.head), '--query', view.query, '--key', view.key);

/** The map. @param {Source} source @param {View} view */
export const mapCommand = (source, view) => command('show', source, view, ...headWords(view, view.head));

/** Every head. @param {Source} source @param {View} view */
export const headsCommand = (source, view) => command('heads', source, view);

/**
 * One row of a head, or of the mean of its layer.
 * @param {Source} source
 * @param {View} view
 * @param {number | null} query
 * @param {number | 'mean'} [head]
 */
export const rowCommand = (source, view, query, head = view.head) =>
  command('row', source, view, ...headWords(view, head), '--query', query);

/**
 * One column, which the command line gives as a file.
 * @param {Source} source
 * @param {View} view
 * @param {Column} column
 */
export const columnCommand = (source, view, { layer, head, key }) =>
  command(
    'export',
    source,
    view,
    ...headWords({ ...view, layer }, head),
    ...['--key', key.index, '--output', `column-${key.index}.csv`],
  );

/** @param {View} view @param {number | 'mean'} head */
const headWords = (view, head) => [
  ...(view.site === 'self' ? [] : ['--site', view.site]),
  ...['--layer', view.layer, '--head', head],
];

/**
 * @param {string} what
 * @param {Source} source
 * @param {View} view
 * @param {...(string | number | null)} more
 */
function command(what, source, view, ...more) {
  const text = source.text_fixed ? [] : ['--text', shellWord(view.text ?? source.text)];
  const mask = source.causal_choice && (view.causal ?? source.causal) ? ['--causal'] : [];
  return ['attnscope', what, shellWord(argumentOf(source)), ...text, ...more, ...mask].join(' ');
}

/** @param {Source} source */
function argumentOf(source) {
  return source.name ?? (source.kind === 'example' ? 'example' : source.label);
}

/**
 * One word for a POSIX shell, quoted only where it has to be.
 * @param {string} text
 */
export function shellWord(text) {
  return /^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
