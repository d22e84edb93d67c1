// The picture of all heads as a file: the same drawing, with its axes, its legend and what it shows.

/** @import { HeadsScene } from './heads-painter.js' */
import { paintHeads } from './heads-painter.js';
import { css, rampAt } from './palette.js';
import { SCALES } from './scales.js';

/** Pixels of the file for each CSS pixel: 300 an inch in print. */
const RATIO = 3;
const MARGIN = 20;
/** Browsers draw no more than this on one canvas. */
const MOST = 16000;

/**
 * @param {HeadsScene} scene
 * @param {{title: string, note: string, across: string, down: string}} words
 * @returns {Promise<Blob>}
 */
export function printHeads(scene, { title, note, across, down }) {
  const { layout, inks, font, nameSize: size } = scene;
  const [left, top] = [MARGIN + size * 1.6, MARGIN + size * 5.6];
  const width = Math.max(left + layout.width + MARGIN, 460);
  const height = top + layout.height + size * 4 + MARGIN;
  const ratio = Math.min(RATIO, MOST / width, MOST / height);
  const canvas = document.createElement('canvas');
  Object.assign(canvas, { width: Math.round(width * ratio), height: Math.round(height * ratio) });
  const ctx = canvas.getContext('2d');
  if (!ctx) return Promise.reject(new Error('This browser cannot draw the picture.'));
  ctx.scale(ratio, ratio);
  ctx.translate(left, top);
  paintHeads(ctx, scene);
  ctx.translate(-left, -top);
  // Behind what is painted: the page.
  ctx.globalCompositeOperation = 'destination-over';
  ctx.fillStyle = inks.page;
  ctx.fillRect(0, 0, width, height);
  ctx.globalCompositeOperation = 'source-over';
  const write = (
    /** @type {string} */ text,
    /** @type {number} */ x,
    /** @type {number} */ y,
    ink = inks.soft,
    weight = '',
  ) => {
    ctx.font = `${weight}${size}px ${font}`;
    ctx.fillStyle = ink;
    ctx.textAlign = 'left';
    ctx.textBaseline = 'alphabetic';
    ctx.fillText(text, x, y);
  };
  write(title, MARGIN, MARGIN + size, inks.ink, '600 ');
  write(note, MARGIN, MARGIN + size * 2.5);
  write(across, left, top - size * 0.6);
  if (down) {
    ctx.save();
    ctx.translate(MARGIN, top);
    ctx.rotate(Math.PI / 2);
    write(down, 0, 0);
    ctx.restore();
  }
  legend(ctx, scene, left, top + layout.height + size, write);
  return new Promise((resolve, reject) =>
    canvas.toBlob(
      (blob) => (blob ? resolve(blob) : reject(new Error('The picture is too large to be made.'))),
      'image/png',
    ),
  );
}

/**
 * @param {CanvasRenderingContext2D} ctx
 * @param {HeadsScene} scene
 * @param {number} x
 * @param {number} y
 * @param {(text: string, x: number, y: number) => void} write
 */
function legend(ctx, { theme, palette, scale, nameSize: size, inks }, x, y, write) {
  const { rows, name } = SCALES[scale];
  const from = x + size * 4.4;
  write(`weight ${rows ? 'least' : scale === 'log' ? '1e−5' : '0'}`, x, y + size);
  const wide = 160;
  for (let i = 0; i < wide; i++) {
    ctx.fillStyle = css(rampAt(theme, i / (wide - 1), palette));
    ctx.fillRect(from + size * 1.6 + i, y, 1.5, size);
  }
  write(`${rows ? 'most' : '1'}   ${name} scale`, from + size * 2 + wide, y + size);
  ctx.fillStyle = inks.hatch;
  ctx.fillRect(x, y + size * 1.7, size, size);
  write('hidden by the mask', x + size * 1.5, y + size * 2.6);
}
