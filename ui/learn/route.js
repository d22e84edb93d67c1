// The address of a page of the lesson: its chapter, and what has been chosen in it.

/** @typedef {{chapter: number, params: URLSearchParams}} Route */

/**
 * @param {string} hash   Such as `#/3?query=6&key=1`
 * @param {number} count  How many chapters there are
 * @returns {Route}
 */
export function parseRoute(hash, count) {
  const [, number, query] = hash.match(/^#\/(\d{1,3})(?:\?(.*))?$/) ?? [];
  const chapter = number === undefined ? 1 : Math.max(1, Math.min(count, Number(number)));
  return { chapter, params: new URLSearchParams(query ?? '') };
}

/** @param {number} chapter @param {URLSearchParams} [params] @returns {string} */
export function formatRoute(chapter, params) {
  const query = params?.toString();
  return `#/${chapter}${query ? `?${query}` : ''}`;
}

/**
 * A whole number from the address, or what stands in for it.
 * @param {URLSearchParams} params
 * @param {string} name
 * @param {number} otherwise
 * @param {number} below  the number must be smaller
 */
export function whole(params, name, otherwise, below) {
  const text = params.get(name);
  const value = text !== null && /^\d{1,9}$/.test(text) ? Number(text) : otherwise;
  return value < below ? value : otherwise;
}

/**
 * A number between two others from the address, or what stands in for it.
 * @param {URLSearchParams} params
 * @param {string} name
 * @param {number} otherwise
 * @param {number} least
 * @param {number} most
 */
export function between(params, name, otherwise, least, most) {
  const text = params.get(name);
  const value = text !== null && /^-?\d{1,6}(\.\d{1,6})?$/.test(text) ? Number(text) : otherwise;
  return value >= least && value <= most ? value : otherwise;
}

/**
 * One of some names from the address, or what stands in for it.
 * @template {string} T
 * @param {URLSearchParams} params
 * @param {string} name
 * @param {readonly T[]} names
 * @param {T} otherwise
 * @returns {T}
 */
export function oneOf(params, name, names, otherwise) {
  return names.find((one) => one === params.get(name)) ?? otherwise;
}

/** A choice as it is put into the address: null where it is what stands in anyway. @template T @param {T} value @param {T} otherwise */
export const unless = (value, otherwise) => (value === otherwise ? null : value);

/**
 * Numbers from the address, such as `1.9_-0.8`, or what stands in for them.
 * @param {URLSearchParams} params
 * @param {string} name
 * @param {readonly number[]} otherwise  says how many there must be
 * @param {number} most                  none may be larger than this, or smaller than its negative
 * @returns {number[]}
 */
export function numbersIn(params, name, otherwise, most) {
  const values = (params.get(name) ?? '').split('_').map((text) => (text === '' ? NaN : Number(text)));
  const good = values.length === otherwise.length && values.every((v) => Math.abs(v) <= most);
  return good ? values : [...otherwise];
}

/** The same, to be put there; null where it is what stands in anyway. @param {readonly number[]} values @param {readonly number[]} otherwise */
export const written = (values, otherwise) =>
  values.every((v, i) => v === otherwise[i]) ? null : values.map((v) => Number(v.toFixed(3))).join('_');
