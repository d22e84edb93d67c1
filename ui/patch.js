// Turns what is on the page into what should be there, changing only what differs. Between two cells most
// of a calculation stays: its sentences, its tables, the shape of its formulas. What stays is not laid out
// and not painted again, and keeps its focus and what was unfolded in it.

import { handOn } from './dom.js';

/**
 * An element that draws its own inside, and takes what it draws from another of its kind.
 * @typedef {HTMLElement & {become: (next: any) => void}} Own
 */

/**
 * @param {Node} parent
 * @param {Iterable<Node>} wanted  its children to be; they are used up
 */
export function patch(parent, wanted) {
  let here = parent.firstChild;
  for (const next of [...wanted]) {
    if (!here) {
      parent.appendChild(next);
      continue;
    }
    const after = /** @type {ChildNode | null} */ (here.nextSibling);
    become(here, next);
    here = after;
  }
  while (here) {
    const after = /** @type {ChildNode | null} */ (here.nextSibling);
    here.remove();
    here = after;
  }
}

/** @param {ChildNode} old @param {Node} next */
function become(old, next) {
  if (old instanceof Text && next instanceof Text) {
    if (old.data !== next.data) old.data = next.data;
    return;
  }
  if (!(old instanceof Element) || !(next instanceof Element) || !alike(old, next)) return old.replaceWith(next);
  if (drawsItself(old)) return old.become(next);
  const kept = old instanceof HTMLDetailsElement && old.dataset.keep !== undefined;
  redress(old, next, kept);
  handOn(next, old);
  patch(old, next.childNodes);
}

/** @param {Element} old @param {Element} next */
function alike(old, next) {
  if (old.nodeName !== next.nodeName || old.namespaceURI !== next.namespaceURI) return false;
  if (old.localName.includes('-')) return drawsItself(old);
  return old.getAttribute('data-keep') === next.getAttribute('data-keep');
}

/** @param {Element} element @returns {element is Own} */
const drawsItself = (element) => 'become' in element;

/** @param {Element} old @param {Element} next @param {boolean} kept  A person decides whether it is open. */
function redress(old, next, kept) {
  const stays = (/** @type {string} */ name) => name === 'style' || (kept && name === 'open');
  for (const { name, value } of next.attributes)
    if (!stays(name) && old.getAttribute(name) !== value) old.setAttribute(name, value);
  for (const { name } of [...old.attributes]) if (!stays(name) && !next.hasAttribute(name)) old.removeAttribute(name);
  // The page's policy forbids style attributes, but not what is set through the object model.
  if (!(old instanceof HTMLElement) || !(next instanceof HTMLElement)) return;
  if (!old.hasAttribute('style') && !next.hasAttribute('style')) return;
  if (old.style.cssText !== next.style.cssText) old.style.cssText = next.style.cssText;
}
