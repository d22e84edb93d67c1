// Copied numbers can be pasted into a program.

import { forClipboard } from '../numbers.js';

export function readableCopies() {
  document.addEventListener('copy', (event) => {
    const text = getSelection()?.toString() ?? '';
    if (!text || event.target instanceof HTMLInputElement) return;
    event.clipboardData?.setData('text/plain', forClipboard(text));
    event.preventDefault();
  });
}
