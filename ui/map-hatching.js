// Diagonal lines. Falling ones: hidden is not the same as small. Rising ones: not in the scale.

/** @type {Map<string, CanvasPattern>} */
const known = new Map();

/**
 * @param {CanvasRenderingContext2D} ctx
 * @param {string} ink
 * @param {boolean} [rising]
 */
export function hatching(ctx, ink, rising = false) {
  const name = `${ink} ${rising}`;
  const there = known.get(name);
  if (there) return there;
  const square = document.createElement('canvas');
  square.width = square.height = 6;
  const brush = /** @type {CanvasRenderingContext2D} */ (square.getContext('2d'));
  brush.strokeStyle = ink;
  brush.lineWidth = 1;
  if (rising) brush.setTransform(-1, 0, 0, 1, 6, 0);
  for (const at of [-6, 0, 6]) {
    brush.moveTo(at - 1, 7);
    brush.lineTo(at + 7, -1);
  }
  brush.stroke();
  const pattern = /** @type {CanvasPattern} */ (ctx.createPattern(square, 'repeat'));
  known.set(name, pattern);
  return pattern;
}
