// What a hand does and an eye waits for. All but `pan` run in the page, and so stand alone.

/** Milliseconds since the page was asked for at which the map was complete and a cell worked out. Runs in the page. */
export const painted = async () => {
  while (
    !document.querySelector('attention-map')?.hasAttribute('data-sharp') ||
    !document.querySelector('cell-headline h2') ||
    document.querySelector('cell-headline')?.getAttribute('aria-busy') !== 'false'
  )
    await new Promise((resolve) => requestAnimationFrame(resolve));
  return performance.now();
};

/** The same for the whole panel, down to what is out of sight. */
export const allDrawn = async () => {
  while (
    !document.querySelector('column-listeners .total') ||
    document.querySelector(':not(:defined), #panel-cell [aria-busy="true"]')
  )
    await new Promise((resolve) => requestAnimationFrame(resolve));
  return performance.now();
};

/** Milliseconds until the picture of every head is in the grid. Runs in the page. */
export const gridPainted = async () => {
  while (!document.querySelector('head-grid[data-painted]')) await new Promise((resolve) => requestAnimationFrame(resolve));
  await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
  return performance.now();
};

/**
 * Opens cells one after another, in the page itself, as a quick hand does: the pointer comes, rests for a tenth
 * of a second, clicks, and goes on a while after the cell is drawn. Milliseconds from each click to the picture
 * with its cell.
 */
export const clicks = async (n) => {
  const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
  const canvas = document.querySelector('attention-map canvas');
  const headline = document.querySelector('cell-headline');
  const { rows, cell, left, top, x, y } = document.querySelector('attention-map').geometry;
  const times = [];
  let seed = 7;
  const random = (below) => (seed = (seed * 48271) % 2147483647) % below;
  const shown = () => headline.querySelector('.note')?.textContent ?? '';
  for (let i = 0; i < n; i++) {
    const box = canvas.getBoundingClientRect();
    const query = random(rows);
    const key = random(query + 1);
    const at = {
      clientX: box.left + left + (key + 0.5) * cell - x,
      clientY: box.top + top + (query + 0.5) * cell - y,
    };
    const before = shown();
    const event = { bubbles: true, pointerId: 1, pointerType: 'mouse', isPrimary: true, ...at };
    canvas.dispatchEvent(new PointerEvent('pointermove', event));
    await pause(100);
    const start = performance.now();
    const drawn = new Promise((resolve) => {
      const observer = new MutationObserver(() => {
        if (shown() === before || headline.getAttribute('aria-busy') !== 'false') return;
        observer.disconnect();
        // The task after the picture that shows it.
        requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - start)));
      });
      observer.observe(headline, { attributes: true, childList: true, characterData: true, subtree: true });
      // The same cell again changes nothing.
      setTimeout(() => (observer.disconnect(), resolve(null)), 3000);
    });
    canvas.dispatchEvent(new PointerEvent('pointerdown', event));
    canvas.dispatchEvent(new PointerEvent('pointerup', event));
    canvas.dispatchEvent(new MouseEvent('click', { bubbles: true, ...at }));
    const time = await drawn;
    if (time !== null) times.push(time);
    await pause(150);
  }
  return times;
};

/** Drags the map about for two seconds and counts frames. */
export async function pan(page) {
  const at = await page.evaluate(() => {
    const box = document.querySelector('attention-map canvas').getBoundingClientRect();
    const { left, top } = document.querySelector('attention-map').geometry;
    return { x: box.left + left + 250, y: box.top + top + 150 };
  });
  await page.evaluate(() => {
    const frames = (window.frameTimes = []);
    let last = performance.now();
    const next = () => {
      const now = performance.now();
      frames.push(now - last);
      last = now;
      requestAnimationFrame(next);
    };
    requestAnimationFrame(next);
  });
  await page.mouse.move(at.x, at.y);
  await page.mouse.down();
  const end = Date.now() + 2000;
  for (let i = 0; Date.now() < end; i++) {
    const turn = i / 25;
    await page.mouse.move(at.x + 200 * Math.cos(turn) - 200, at.y + 140 * Math.sin(turn));
  }
  const frames = (await page.evaluate(() => window.frameTimes)).slice(2);
  await page.mouse.up();
  return 1000 / (frames.reduce((a, b) => a + b, 0) / frames.length);
}
