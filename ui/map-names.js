// The names of rows and columns around the map. Where there is no room for all, every so many are
// written, and always the two of the cell in view.

/** @import { Token } from './contract.js' */
/** @import { Scene } from './map-painter.js' */
import { nameStep, SLANT } from './map-geometry.js';
import { plain } from './tokens.js';

/** Longer names are cut with an ellipsis. */
export const LONGEST = 96;

/** @type {Map<string, string>} */
const cuts = new Map();

/**
 * @param {CanvasRenderingContext2D} ctx
 * @param {Scene} scene
 */
export function paintNames(ctx, scene) {
  rows(ctx, scene);
  columns(ctx, scene);
}

/**
 * How wide the widest name is.
 * @param {CanvasRenderingContext2D} ctx
 * @param {Token[]} tokens
 * @param {string} font   with its size
 * @param {number} most
 */
export function widestName(ctx, tokens, font, most) {
  ctx.font = font;
  let widest = 0;
  // A sample tells enough of a long text; every name is cut to the room anyway.
  const stride = Math.ceil(tokens.length / 400);
  for (let i = 0; i < tokens.length; i += stride) {
    widest = Math.max(widest, ctx.measureText(plain(tokens[i])).width);
    if (widest >= most) return most;
  }
  return widest;
}

/** @param {CanvasRenderingContext2D} ctx @param {Scene} scene */
function rows(ctx, scene) {
  const { f, c, part, queries, chosen, hover, inks, font, nameSize } = scene;
  ctx.save();
  ctx.beginPath();
  ctx.rect(0, f.top - 8, f.left, f.height + 16);
  ctx.clip();
  ctx.textBaseline = 'middle';
  ctx.textAlign = 'right';
  const room = nameSize * 1.2;
  const type = new Type(ctx, nameSize, font);
  for (const { index, strong } of written(part.q0, part.q1, c.cell, chosen?.query, hover?.query, room)) {
    const y = f.top + (index + 0.5) * c.cell - c.y;
    type.set(strong !== null);
    ctx.fillStyle = strong === 'chosen' ? inks.q : strong ? inks.ink : inks.soft;
    ctx.fillText(cut(type, nameOf(queries, index), f.left - 12), f.left - 8, y);
    tick(ctx, f.left - 5, y, 4, 0, inks.line);
  }
  ctx.restore();
}

/** @param {CanvasRenderingContext2D} ctx @param {Scene} scene */
function columns(ctx, scene) {
  const { f, c, part, keys, chosen, hover, inks, font, nameSize } = scene;
  const slanted = f.slanted;
  ctx.save();
  ctx.beginPath();
  ctx.rect(f.left - 6, 0, f.width + f.right + 6, f.top);
  ctx.clip();
  ctx.textBaseline = 'middle';
  const apart = nameSize * (slanted ? 1.6 : 1.2);
  const type = new Type(ctx, nameSize, font);
  for (const { index, strong } of written(part.k0, part.k1, c.cell, chosen?.key, hover?.key, apart)) {
    const x = f.left + (index + 0.5) * c.cell - c.x;
    if (x < f.left || x > f.left + f.width) continue;
    type.set(strong !== null);
    ctx.fillStyle = strong === 'chosen' ? inks.k : strong ? inks.ink : inks.soft;
    ctx.save();
    ctx.translate(x, f.top - 9);
    if (slanted) {
      ctx.rotate(-Math.PI / 4);
      ctx.textAlign = 'left';
      const room = Math.min(f.top - 14, f.left + f.width + f.right - x - 6) / SLANT;
      ctx.fillText(cut(type, nameOf(keys, index), room), 0, 0);
    } else {
      ctx.textAlign = 'center';
      ctx.fillText(cut(type, nameOf(keys, index), Math.max(c.cell, f.fit) + 2), 0, -4);
    }
    ctx.restore();
    tick(ctx, x, f.top - 5, 0, 4, inks.line);
  }
  ctx.restore();
}

/** From this many tokens on a name alone does not say where it is. */
export const NUMBERED = 24;

/**
 * In a longer text the index says which this is.
 * @param {Token[]} tokens
 * @param {number} index
 */
function nameOf(tokens, index) {
  return tokens.length >= NUMBERED ? `${index} ${plain(tokens[index])}` : plain(tokens[index]);
}

/**
 * Which names are written: those that have room, without the neighbours that would touch the
 * strong ones.
 * @param {number} from
 * @param {number} to
 * @param {number} cell
 * @param {number | undefined} chosen
 * @param {number | undefined} hover
 * @param {number} room   that one name needs
 * @returns {{index: number, strong: 'chosen' | 'hover' | null}[]}
 */
export function written(from, to, cell, chosen, hover, room) {
  const step = nameStep(cell, room);
  const clear = Math.ceil(room / cell);
  /** @type {Map<number, 'chosen' | 'hover' | null>} */
  const names = new Map();
  for (let i = Math.ceil(from / step) * step; i < to; i += step) names.set(i, null);
  for (const [index, strong] of /** @type {const} */ ([
    [chosen, 'chosen'],
    [hover, 'hover'],
  ])) {
    if (index === undefined || index < from || index >= to || names.get(index) === 'chosen') continue;
    if (strong === 'hover' && chosen !== undefined && Math.abs(index - chosen) < clear) continue;
    for (let i = index - clear + 1; i < index + clear; i++) names.delete(i);
    names.set(index, strong);
  }
  return [...names].map(([index, strong]) => ({ index, strong }));
}

/** @param {CanvasRenderingContext2D} ctx @param {number} x @param {number} y @param {number} dx @param {number} dy @param {string} ink */
function tick(ctx, x, y, dx, dy, ink) {
  ctx.strokeStyle = ink;
  ctx.lineWidth = 1;
  ctx.beginPath();
  ctx.moveTo(x, y);
  ctx.lineTo(x + dx, y + dy);
  ctx.stroke();
}

/** The letters of names. Browsers take their time over a font, also over one that is set already. */
class Type {
  face = '';

  /** @param {CanvasRenderingContext2D} ctx @param {number} size  in CSS pixels @param {string} font */
  constructor(ctx, size, font) {
    this.ctx = ctx;
    this.plain = `${size}px ${font}`;
  }

  /** @param {boolean} strong */
  set(strong) {
    const face = `${strong ? '600 ' : ''}${this.plain}`;
    if (face !== this.face) this.ctx.font = this.face = face;
  }
}

/** @param {Type} type @param {string} text @param {number} room */
function cut({ ctx, face }, text, room) {
  const name = `${face} ${Math.round(room)} ${text}`;
  const known = cuts.get(name);
  if (known !== undefined) return known;
  let short = text;
  if (ctx.measureText(text).width > room) {
    const letters = [...text];
    while (letters.length > 1 && ctx.measureText(`${letters.join('')}…`).width > room) letters.pop();
    short = `${letters.join('')}…`;
  }
  if (cuts.size > 5000) cuts.clear();
  cuts.set(name, short);
  return short;
}
