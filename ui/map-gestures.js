// What mouse, wheel and fingers do on the map, told as zooms, moves and points.

/**
 * @typedef {object} Wishes
 * @property {(factor: number, x: number, y: number) => void} zoom  about a point of the canvas
 * @property {() => void} zoomed     nothing more comes: find a place to rest
 * @property {(dx: number, dy: number) => void} move
 * @property {(vx: number, vy: number) => void} let    go, at so many pixels a millisecond
 * @property {(x: number, y: number) => void} point
 * @property {() => void} leave
 * @property {(x: number, y: number) => void} choose
 * @property {(x: number, y: number) => void} twice
 * @property {() => boolean} whole   the whole map is in view
 */

/** So far a finger may slip and still mean the one cell. */
const SLIP = 4;
/** A scroll of the page goes on for so long, in milliseconds, also when the map comes under the pointer. */
const SCROLLING = 350;
/** A wheel is done when it was still for so long. */
const STILL = 160;

/**
 * @param {HTMLElement} canvas
 * @param {Wishes} wish
 */
export function listenToHands(canvas, wish) {
  wheel(canvas, wish);
  fingers(canvas, wish);
  canvas.addEventListener('pointerleave', () => wish.leave());
}

/**
 * Where on the canvas, as finely as the pointer knows.
 * @param {HTMLElement} canvas
 * @param {MouseEvent} event
 * @returns {[number, number]}
 */
function at(canvas, event) {
  const box = canvas.getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
}

/** @param {HTMLElement} canvas @param {Wishes} wish */
function wheel(canvas, wish) {
  let scrolled = -Infinity;
  let timer = 0;
  document.addEventListener(
    'wheel',
    (event) => {
      if (!event.composedPath().includes(canvas)) scrolled = event.timeStamp;
    },
    { passive: true },
  );
  canvas.addEventListener(
    'wheel',
    (event) => {
      const lines = event.deltaMode === 1 ? 33 : event.deltaMode === 2 ? 400 : 1;
      const [dx, dy] = [event.deltaX * lines, event.deltaY * lines];
      const out = dy > 0 && wish.whole();
      // The page scrolls on where there is nothing left to zoom out of, and where it was scrolling already.
      if (!event.ctrlKey && (out || event.timeStamp - scrolled < SCROLLING)) {
        scrolled = event.timeStamp;
        return;
      }
      event.preventDefault();
      if (event.shiftKey || (Math.abs(dx) > Math.abs(dy) && !event.ctrlKey)) return wish.move(dx || dy, 0);
      // A pinch on a touchpad comes as many small turns with Ctrl.
      wish.zoom(Math.exp(-dy * (event.ctrlKey && Math.abs(dy) < 50 ? 0.01 : 0.003)), ...at(canvas, event));
      clearTimeout(timer);
      timer = window.setTimeout(wish.zoomed, STILL);
    },
    { passive: false },
  );
}

/** @param {HTMLElement} canvas @param {Wishes} wish */
function fingers(canvas, wish) {
  /** @type {Map<number, {x: number, y: number}>} */
  const down = new Map();
  // A click and a double click come with whole coordinates; the pointer knew better.
  let last = { x: 0, y: 0 };
  let dragged = false;
  let pinched = false;
  let speed = { x: 0, y: 0, at: 0 };
  const where = (/** @type {PointerEvent} */ event) => {
    const [x, y] = at(canvas, event);
    return { x, y };
  };

  canvas.addEventListener('pointerdown', (event) => {
    if (event.pointerType === 'mouse' && event.button !== 0) return;
    if (down.size === 0) dragged = pinched = false;
    // So do those of a press, in some browsers.
    const now = where(event);
    if (Math.hypot(now.x - last.x, now.y - last.y) > 1.5) last = now;
    down.set(event.pointerId, now);
    speed = { x: 0, y: 0, at: event.timeStamp };
  });

  canvas.addEventListener('pointermove', (event) => {
    const before = down.get(event.pointerId);
    const now = where(event);
    if (!before) {
      last = now;
      return wish.point(now.x, now.y);
    }
    const [dx, dy] = [now.x - before.x, now.y - before.y];
    if (down.size === 1) {
      // With one finger the page scrolls while the map has nowhere to go.
      if (event.pointerType === 'touch' && wish.whole()) return;
      if (!dragged && Math.hypot(dx, dy) < SLIP) return;
      if (!dragged) {
        canvas.setPointerCapture(event.pointerId);
        canvas.classList.add('dragged');
        wish.leave();
      }
      dragged = true;
      const passed = Math.max(1, event.timeStamp - speed.at);
      speed = { x: 0.6 * speed.x + (0.4 * -dx) / passed, y: 0.6 * speed.y + (0.4 * -dy) / passed, at: event.timeStamp };
      wish.move(-dx, -dy);
    } else {
      const other = [...down].find(([id]) => id !== event.pointerId)?.[1];
      if (!other) return;
      dragged = pinched = true;
      const apart = (/** @type {{x: number, y: number}} */ p) => Math.max(10, Math.hypot(p.x - other.x, p.y - other.y));
      wish.move(-dx / 2, -dy / 2);
      wish.zoom(apart(now) / apart(before), (now.x + other.x) / 2, (now.y + other.y) / 2);
    }
    down.set(event.pointerId, now);
  });

  const up = (/** @type {PointerEvent} */ event) => {
    if (!down.delete(event.pointerId) || down.size > 0) return;
    canvas.classList.remove('dragged');
    if (pinched) wish.zoomed();
    else if (dragged && event.timeStamp - speed.at < 60) wish.let(speed.x, speed.y);
  };
  canvas.addEventListener('pointerup', up);
  canvas.addEventListener('pointercancel', up);
  canvas.addEventListener('click', () => {
    if (!dragged) wish.choose(last.x, last.y);
    dragged = false;
  });
  canvas.addEventListener('dblclick', () => wish.twice(last.x, last.y));
  // Two fingers are for the map, also where one scrolls the page.
  for (const name of /** @type {const} */ (['touchstart', 'touchmove']))
    canvas.addEventListener(name, (event) => event.touches.length > 1 && event.cancelable && event.preventDefault(), {
      passive: false,
    });
}
