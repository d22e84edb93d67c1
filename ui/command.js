// The same cell on the command line.

/** @import { Source } from './contract.js' */
/** @import { View } from './address.js' */

/**
 * @param {Source} source
 * @param {View} view  with its query and key
 * @returns {string}
 */
export function cellCommand(source, view) {
  const words = ['attnscope', 'cell', shellWord(argumentOf(source))];
  if (!source.text_fixed) words.push('--text', shellWord(view.text ?? source.text));
  if (view.site !== 'self') words.push('--site', view.site);
  words.push('--layer', String(view.layer), '--head', String(view.head));
  words.push('--query', String(view.query), '--key', String(view.key));
  if (source.causal_choice && (view.causal ?? source.causal)) words.push('--causal');
  return words.join(' ');
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
