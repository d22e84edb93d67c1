// Times and sizes as a person reads them.

/** @param {number} ms */
export function milliseconds(ms) {
  if (ms >= 1000) return `${round(ms / 1000)} s`;
  if (ms >= 1) return `${round(ms)} ms`;
  return `${round(ms * 1000)} µs`;
}

/** @param {number} count */
export function bytes(count) {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  const step = count < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(count) / 10));
  return `${round(count / 1024 ** step)} ${units[step]}`;
}

/** @param {number} value */
const round = (value) =>
  value >= 99.5 || Number.isInteger(value) ? value.toFixed(0) : value >= 9.95 ? value.toFixed(0) : value.toFixed(1);
