// Measures the contrast of every text on the page against what lies behind it (WCAG 2.1, 1.4.3).

/**
 * @param {import('playwright-core').Page} page
 * @returns {Promise<string[]>}  what falls short of 4.5 : 1
 */
export function contrastFaults(page) {
  return page.evaluate(() => {
    const brush = /** @type {OffscreenCanvasRenderingContext2D} */ (
      new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true })
    );
    const rgba = (/** @type {string} */ colour) => {
      brush.clearRect(0, 0, 1, 1);
      brush.fillStyle = colour;
      brush.fillRect(0, 0, 1, 1);
      return [...brush.getImageData(0, 0, 1, 1).data];
    };
    const light = (/** @type {number[]} */ c) => {
      const [r, g, b] = c.map((x) => (x / 255 <= 0.04045 ? x / 255 / 12.92 : ((x / 255 + 0.055) / 1.055) ** 2.4));
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const mix = (/** @type {number[]} */ top, /** @type {number[]} */ under, /** @type {number} */ alpha) =>
      under.slice(0, 3).map((u, i) => top[i] * alpha + u * (1 - alpha));
    const behind = (/** @type {Element} */ element) => {
      /** @type {number[][]} */
      const layers = [];
      for (let e = /** @type {Element | null} */ (element); e; e = e.parentElement) {
        const colour = rgba(getComputedStyle(e).backgroundColor);
        if (colour[3] > 0) layers.push(colour);
        if (colour[3] === 255) break;
      }
      return layers.reduceRight((under, top) => mix(top, under, top[3] / 255), [255, 255, 255]);
    };
    const faults = new Set();
    const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walk.nextNode()) {
      const element = walk.currentNode.parentElement;
      if (
        !element ||
        !walk.currentNode.textContent?.trim() ||
        element.closest('.unseen, .skip, noscript, option, :disabled, [hidden]')
      )
        continue;
      if (!element.checkVisibility()) continue;
      let faint = 1;
      for (let e = /** @type {Element | null} */ (element); e; e = e.parentElement)
        faint *= Number(getComputedStyle(e).opacity);
      const ground = behind(element);
      const ink = rgba(getComputedStyle(element).color);
      const [a, b] = [light(mix(ink, ground, (ink[3] / 255) * faint)), light(ground)];
      const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
      if (ratio < 4.5)
        faults.add(
          `${ratio.toFixed(2)} ${element.tagName.toLowerCase()}.${element.getAttribute('class') ?? ''} in ${element.closest('main > *, header, footer, section > *')?.tagName.toLowerCase()}: ${walk.currentNode.textContent.trim().slice(0, 30)}`,
        );
    }
    return /** @type {string[]} */ ([...faults]);
  });
}
