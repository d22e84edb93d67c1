// What the address says of the map: its colours, what they leave out, and the part that is in view.

/** @import { Palette } from './palette.js' */
/** @import { Place } from './map-camera.js' */
import { joined, parts } from './map-left-out.js';
import { isPalette } from './palette.js';

/**
 * @typedef {object} MapView
 * @property {Palette | null} palette
 * @property {'mean' | null} blocks     What stands for a square of cells; null: the largest weight
 * @property {'largest' | null} range   Where the scale ends; null: at 1
 * @property {string | null} leftOut    Columns left out of the scale
 * @property {Place | null} place       null: the whole map
 */

/** @type {Readonly<MapView>} */
export const EMPTY_MAP = Object.freeze({ palette: null, blocks: null, range: null, leftOut: null, place: null });

/** No side of a cell is larger than this, in pixels. */
const LARGEST = 1024;

/** @param {URLSearchParams} params @returns {MapView} */
export function parseMap(params) {
  const palette = params.get('palette');
  const zoom = Math.min(Number(params.get('zoom')), LARGEST);
  const [, query, key] = params.get('centre')?.match(/^(\d{1,9})-(\d{1,9})$/) ?? [];
  return {
    palette: isPalette(palette) ? palette : null,
    blocks: params.get('blocks') === 'mean' ? 'mean' : null,
    range: params.get('range') === 'largest' ? 'largest' : null,
    leftOut: joined(parts(params.get('without'))),
    place: zoom > 0 && key ? { zoom, query: Number(query), key: Number(key) } : null,
  };
}

/** @param {MapView} view @param {URLSearchParams} params  to be added to */
export function formatMap({ palette, blocks, range, leftOut, place }, params) {
  if (palette !== null) params.set('palette', palette);
  if (blocks !== null) params.set('blocks', blocks);
  if (range !== null) params.set('range', range);
  if (leftOut !== null) params.set('without', leftOut);
  if (place === null) return;
  params.set('zoom', String(place.zoom));
  params.set('centre', `${place.query}-${place.key}`);
}
