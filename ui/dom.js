// Making elements. Text goes into text nodes and nowhere else, so no token can become markup.

/** @typedef {Node | string | number | null | undefined | false} Child */
/** @typedef {Record<string, string | number | boolean | null | undefined | EventListener>} Attributes */

const MATHML = 'http://www.w3.org/1998/Math/MathML';

/**
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Attributes | null} [attributes]  `onclick` and the like are listeners; true is an empty attribute
 * @param {...(Child | Child[])} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function h(tag, attributes, ...children) {
  const element = document.createElement(tag);
  dress(element, attributes);
  element.append(...nodes(children));
  return element;
}

/**
 * The same for MathML.
 * @param {string} tag
 * @param {Attributes | null} [attributes]
 * @param {...(Child | Child[])} children
 * @returns {Element}
 */
export function m(tag, attributes, ...children) {
  const element = document.createElementNS(MATHML, tag);
  dress(element, attributes);
  element.append(...nodes(children));
  return element;
}

/**
 * @param {Element} element
 * @param {Attributes | null} [attributes]
 */
function dress(element, attributes) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === 'function') listen(element, name.slice(2), value);
    else element.setAttribute(name, value === true ? '' : String(value));
  }
}

/** Who listens to an element, by the kind of event. @type {WeakMap<EventTarget, Map<string, EventListener>>} */
const listeners = new WeakMap();

/** @param {Event} event */
function hear(event) {
  const target = /** @type {EventTarget} */ (event.currentTarget);
  listeners.get(target)?.get(event.type)?.call(target, event);
}

/** @param {Element} element @param {string} type @param {EventListener} listener */
function listen(element, type, listener) {
  const known = listeners.get(element);
  if (known) known.set(type, listener);
  else listeners.set(element, new Map([[type, listener]]));
  element.addEventListener(type, hear);
}

/** Those who listen to one element listen to another from now on. @param {Element} from @param {Element} to */
export function handOn(from, to) {
  const handed = listeners.get(from);
  if (!handed) return void listeners.delete(to);
  listeners.set(to, handed);
  for (const type of handed.keys()) to.addEventListener(type, hear);
}

/**
 * @param {(Child | Child[])[]} children
 * @returns {(Node | string)[]}
 */
function nodes(children) {
  /** @type {(Node | string)[]} */
  const out = [];
  for (const child of children.flat()) {
    if (child === null || child === undefined || child === false) continue;
    out.push(typeof child === 'number' ? String(child) : child);
  }
  return out;
}

/**
 * A custom property on one element, for lengths and colours that come from data. Set through the
 * object model: the page's policy forbids style attributes.
 * @template {HTMLElement} T
 * @param {T} element
 * @param {Record<string, string | number>} properties
 * @returns {T}
 */
export function vars(element, properties) {
  for (const [name, value] of Object.entries(properties)) element.style.setProperty(name, String(value));
  return element;
}
