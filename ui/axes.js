// Whose names stand at the rows and columns of a map. One text has both, except in the cross-attention of an
// encoder-decoder: there the decoder's tokens ask, and those that the encoder read are asked.

/** @import { Meta, Site, Token } from './contract.js' */
import { counted } from './numbers.js';

/** @typedef {{site: string}} Place  Anything that says of which kind of attention it is. */

/** The tokens that ask, one a row. @param {Meta} meta @param {Place} of @returns {Token[]} */
export const queriesOf = (meta, { site }) => (site === 'encoder' && meta.encoder ? meta.encoder.tokens : meta.tokens);

/** The tokens that are asked, one a column. @param {Meta} meta @param {Place} of @returns {Token[]} */
export const keysOf = (meta, { site }) =>
  (site === 'encoder' || site === 'cross') && meta.encoder ? meta.encoder.tokens : meta.tokens;

/** The tokens of a cell's two sides. @param {Meta} meta @param {Place & {query: {index: number}, key: {index: number}}} cell */
export const endsOf = (meta, cell) => [queriesOf(meta, cell)[cell.query.index], keysOf(meta, cell)[cell.key.index]];

/** Whether rows and columns are of different texts. @param {Meta} meta @param {Place} of */
export const ofTwoTexts = (meta, of) => queriesOf(meta, of) !== keysOf(meta, of);

/** The attention of that kind in a layer; none where the run has no such. @param {Meta} meta @param {Place & {layer: number}} at @returns {Site | undefined} */
export const siteOf = (meta, { site, layer }) => meta.sites.find((s) => s.site === site && s.layer === layer);

/** How much is read, in words. @param {Meta} meta @param {Place} of */
export const readWords = (meta, of) =>
  ofTwoTexts(meta, of)
    ? `${counted(queriesOf(meta, of).length)} beside ${counted(keysOf(meta, of).length)} of the encoder`
    : counted(queriesOf(meta, of).length);
