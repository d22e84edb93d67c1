// Keeps a word of a line that scrolls in sight.

/** @param {HTMLElement} line @param {HTMLElement} word */
export function scrollTo(line, word) {
  const top = word.offsetTop - line.offsetTop;
  if (top < line.scrollTop || top + word.offsetHeight > line.scrollTop + line.clientHeight)
    line.scrollTop = top - line.clientHeight / 3;
}
