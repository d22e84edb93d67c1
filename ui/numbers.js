// How numbers are written. Only the writing is rounded; values are never changed.

const MINUS = '\u2212';

/** @param {string} text */
const typographic = (text) => text.replace('-', MINUS);

/** A damaged trace has numbers that are none. @param {number | null} value @returns {value is number} */
const isFinite = (value) => Number.isFinite(value);

/**
 * A number as a person wants to read it: two decimals from 1 on, three significant digits
 * below, scientific where a decimal would be mostly zeros. null is minus infinity.
 * @param {number | null | undefined} value
 * @returns {string}
 */
export function show(value) {
  if (value === null || value === undefined) return `${MINUS}∞`;
  if (Number.isNaN(value)) return 'not a number';
  if (!Number.isFinite(value)) return value > 0 ? '∞' : `${MINUS}∞`;
  const size = Math.abs(value);
  if (size === 0) return '0';
  if (size < 0.001 || size >= 1e6) return tiny(value);
  if (size >= 1000) return typographic(value.toFixed(0));
  if (size >= 100) return typographic(value.toFixed(1));
  if (size >= 0.9995) return typographic(value.toFixed(2));
  return typographic(value.toPrecision(3));
}

/**
 * Scientific notation with two digits, as an error or a tiny weight is read.
 * @param {number | null} value  null where it is not finite
 */
export function tiny(value) {
  if (value === 0) return '0';
  if (!isFinite(value)) return show(value ?? NaN);
  const [digits, power] = value.toExponential(1).split('e');
  return `${typographic(digits)}e${typographic(power.replace('+', ''))}`;
}

/**
 * Six significant digits: as many as a weight worked out in 32-bit arithmetic has.
 * @param {number | null} value  null where it is not finite
 */
export function precise(value) {
  if (!isFinite(value)) return show(value ?? NaN);
  if (value === 0 || value === 1) return String(value);
  if (Math.abs(value) >= 1e-4) return typographic(value.toPrecision(6));
  const [digits, power] = value.toExponential(5).split('e');
  return `${typographic(digits)}e${typographic(power.replace('+', ''))}`;
}

/**
 * The fewest decimals (at most `most`) that write every number here exactly, up to the
 * rounding of 32-bit arithmetic; null where there are none such.
 * @param {readonly number[]} values
 * @param {number} [most]
 * @returns {number | null}
 */
export function exactDecimals(values, most = 2) {
  for (let decimals = 0; decimals <= most; decimals++) {
    const unit = 10 ** decimals;
    const exact = values.every(
      (v) => Math.abs(v * unit - Math.round(v * unit)) <= 1e-5 * unit * Math.max(1, Math.abs(v)) * 0.5,
    );
    if (exact) return decimals;
  }
  return null;
}

/**
 * A writer for numbers that stand together (a vector, a matrix): all with the same decimals,
 * few where the numbers are round.
 * @param {readonly number[]} values
 * @returns {(value: number) => string}
 */
export function together(values) {
  const decimals = exactDecimals(values) ?? 2;
  return (value) => {
    if (!isFinite(value)) return show(value ?? NaN);
    const text = value.toFixed(decimals);
    if (value !== 0 && Number(text) === 0) return tiny(value);
    return Number(text) === 0 ? (0).toFixed(decimals) : typographic(text);
  };
}

/**
 * One number that may be round: 2 and 0.5 as they are, others as `show` writes them.
 * @param {number} value
 */
export function tidy(value) {
  const decimals = exactDecimals([value], 3);
  return decimals === null || decimals === 3 ? show(value) : together([value])(value);
}

/**
 * A share of the whole, in per cent.
 * @param {number} value  0 to 1
 */
export function percent(value) {
  if (!isFinite(value)) return show(value ?? NaN);
  const hundred = value * 100;
  if (hundred === 0) return '0%';
  if (hundred < 0.1) return '< 0.1%';
  if (hundred > 99.9 && hundred < 100) return '> 99.9%';
  return `${hundred.toFixed(hundred < 9.95 || (hundred >= 99.5 && hundred < 100) ? 1 : 0)}%`;
}

/** So many tokens. @param {number} tokens */
export const counted = (tokens) => `${tokens.toLocaleString('en')} ${tokens === 1 ? 'token' : 'tokens'}`;

/**
 * Text on its way to the clipboard: the typographic minus becomes one that programs can read.
 * @param {string} text
 */
export const forClipboard = (text) => text.replaceAll(MINUS, '-');
