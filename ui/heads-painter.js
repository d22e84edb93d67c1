// Paints every head, small: one picture each from its pooled weights, faint where it was filtered out.

/** @import { Thumbs } from './api.js' */
/** @import { HeadFacts } from './contract.js' */
/** @import { HeadsLayout } from './heads-layout.js' */
/** @import { Inks } from './map-painter.js' */
/** @import { Statistic } from './patterns.js' */
/** @import { Palette, Theme } from './palette.js' */
/** @import { Scale } from './scales.js' */
import { rampBytes } from './palette.js';
import { STATISTICS } from './patterns.js';
import { rowFractions } from './scales.js';

/**
 * @typedef {object} HeadsScene
 * @property {HeadsLayout} layout
 * @property {Map<number, Thumbs>} thumbs       by layer
 * @property {(layer: number, head: number) => HeadFacts | null} facts
 * @property {(layer: number, head: number) => boolean} passes  is not filtered out
 * @property {boolean} filtered                 whether anything may be
 * @property {Statistic | null} sort
 * @property {Scale} scale
 * @property {Theme} theme
 * @property {Palette} palette
 * @property {Inks} inks
 * @property {string} font
 * @property {number} nameSize
 */

/** One head as pixels; its hidden blocks are clear. @type {WeakMap<Float32Array, {look: string, picture: HTMLCanvasElement}>} */
const pictures = new WeakMap();

/**
 * @param {CanvasRenderingContext2D} ctx
 * @param {HeadsScene} scene
 */
export function paintHeads(ctx, scene) {
  const { layout, inks } = scene;
  ctx.clearRect(0, 0, layout.width, layout.height);
  for (const place of layout.places) {
    const passes = scene.passes(place.layer, place.head);
    const faint = layout.grid && scene.filtered && !passes;
    paintThumb(ctx, scene, place, layout.side, faint ? 0.16 : 1);
    if (layout.grid && scene.filtered && passes) {
      ctx.strokeStyle = inks.ink;
      ctx.lineWidth = 1.5;
      ctx.strokeRect(place.x - 0.25, place.y - 0.25, layout.side + 0.5, layout.side + 0.5);
    }
    if (layout.caption > 0) caption(ctx, scene, place);
  }
  if (layout.grid) axes(ctx, scene);
}

/**
 * @param {CanvasRenderingContext2D} ctx
 * @param {Pick<HeadsScene, 'thumbs' | 'scale' | 'theme' | 'palette' | 'inks'>} scene
 * @param {{layer: number, head: number, x: number, y: number}} place
 * @param {number} side
 * @param {number} [alpha]
 */
export function paintThumb(ctx, { thumbs, scale, theme, palette, inks }, { layer, head, x, y }, side, alpha = 1) {
  const layerThumbs = thumbs.get(layer);
  const map = layerThumbs?.maps[head];
  ctx.globalAlpha = alpha;
  ctx.fillStyle = inks.hatch;
  ctx.fillRect(x, y, side, side);
  if (layerThumbs && map) {
    const look = `${theme} ${palette} ${scale}`;
    let known = pictures.get(map);
    if (!known || known.look !== look) {
      known = { look, picture: pictureOf(map, layerThumbs.side, scale, rampBytes(theme, palette)) };
      pictures.set(map, known);
    }
    // Blocks larger than pixels keep their edges.
    ctx.imageSmoothingEnabled = layerThumbs.side > side * devicePixelRatio;
    ctx.imageSmoothingQuality = 'high';
    ctx.drawImage(known.picture, x, y, side, side);
  }
  ctx.globalAlpha = 1;
}

/** @param {Float32Array} map @param {number} side @param {Scale} scale @param {Uint8ClampedArray} colours */
function pictureOf(map, side, scale, colours) {
  const picture = document.createElement('canvas');
  picture.width = side;
  picture.height = side;
  const image = new ImageData(side, side);
  const out = new Uint32Array(image.data.buffer);
  const ramp = new Uint32Array(colours.buffer);
  const top = ramp.length - 1;
  for (let from = 0; from < map.length; from += side) {
    const row = map.subarray(from, from + side);
    rowFractions(scale, row, (i) => row[i] >= 0).forEach((at, i) => {
      if (row[i] >= 0) out[from + i] = ramp[Math.round(at * top)];
    });
  }
  picture.getContext('2d')?.putImageData(image, 0, 0);
  return picture;
}

/** The names of layers and heads. @param {CanvasRenderingContext2D} ctx @param {HeadsScene} scene */
function axes(ctx, { layout, inks, font, nameSize }) {
  const { places, side, layersDown, left, top } = layout;
  ctx.font = `${nameSize}px ${font}`;
  ctx.fillStyle = inks.soft;
  ctx.textBaseline = 'middle';
  let [lastX, lastY] = [-Infinity, -Infinity];
  const room = nameSize * 1.9;
  const rows = new Map(places.map((p) => [p.y, layersDown ? p.layer : p.head]));
  const columns = new Map(places.map((p) => [p.x, layersDown ? p.head : p.layer]));
  ctx.textAlign = 'right';
  for (const [y, index] of rows) {
    if (y - lastY < nameSize * 1.15) continue;
    lastY = y;
    ctx.fillText(String(index), left - 8, y + side / 2);
  }
  ctx.textAlign = 'center';
  for (const [x, index] of [...columns].sort((a, b) => a[0] - b[0])) {
    if (x - lastX < room) continue;
    lastX = x;
    ctx.fillText(String(index), x + side / 2, top - nameSize * 0.8);
  }
}

/** @param {CanvasRenderingContext2D} ctx @param {HeadsScene} scene @param {{layer: number, head: number, x: number, y: number}} place */
function caption(ctx, { layout, facts, sort, inks, font, nameSize }, { layer, head, x, y }) {
  const about = facts(layer, head);
  const value = sort && about ? STATISTICS[sort].of(about) : null;
  ctx.textAlign = 'left';
  ctx.textBaseline = 'alphabetic';
  ctx.font = `${nameSize}px ${font}`;
  ctx.fillStyle = inks.soft;
  ctx.fillText(`${layer} · ${head}`, x, y + layout.side + nameSize * 1.1);
  if (!sort) return;
  ctx.font = `600 ${nameSize}px ${font}`;
  ctx.fillStyle = inks.ink;
  ctx.fillText(value === null ? '–' : STATISTICS[sort].write(value), x, y + layout.side + nameSize * 2.2);
}
