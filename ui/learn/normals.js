// Numbers drawn with mean 0 and variance 1, the same for the same seed: something to put to the engine.

/** @param {number} seed @param {number} count @returns {number[]} */
export function normals(seed, count) {
  let state = (seed * 2654435761) >>> 0 || 1;
  const uniform = () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return ((state >>> 0) + 0.5) / 2 ** 32;
  };
  for (let i = 0; i < 16; i++) uniform();
  // Box and Muller.
  return Array.from({ length: count }, () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform()));
}
