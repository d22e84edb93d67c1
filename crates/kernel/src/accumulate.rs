//! The output of a panel: probabilities times values.

use fearless_simd::{Simd, SimdBase, SimdFloat};

use crate::pack::{VECTORS, lanes};

/// `acc[t][lane] = acc[t][lane] * shrink[lane] + sum over keys of probs[key][lane] * values[key][t]`.
#[inline(always)]
pub(crate) fn accumulate<S: Simd>(
    simd: S,
    probs: &[f32],
    values: &[&[f32]],
    shrink: [S::f32s; VECTORS],
    acc: &mut [f32],
) {
    let lanes = lanes::<S>();
    let mut t = 0;
    let mut chunks = acc.chunks_exact_mut(4 * lanes);
    for acc in chunks.by_ref() {
        tile::<S, 4>(simd, probs, values, t, shrink, acc);
        t += 4;
    }
    for acc in chunks.into_remainder().chunks_exact_mut(lanes) {
        tile::<S, 1>(simd, probs, values, t, shrink, acc);
        t += 1;
    }
}

/// One tile of `DIMS` dimensions by a panel, held in registers over all keys of the block.
#[inline(always)]
fn tile<S: Simd, const DIMS: usize>(
    simd: S,
    probs: &[f32],
    values: &[&[f32]],
    t: usize,
    shrink: [S::f32s; VECTORS],
    acc: &mut [f32],
) {
    let (lanes, width) = (lanes::<S>(), <S::f32s as SimdBase<S>>::LEN);
    // A block is summed by itself and then added, so that rounding grows with keys / block, not with keys.
    let mut sums = [[S::f32s::splat(simd, 0.0); VECTORS]; DIMS];
    for (probs, value) in probs.chunks_exact(lanes).zip(values) {
        let value = &value[t..t + DIMS];
        let p: [S::f32s; VECTORS] =
            std::array::from_fn(|r| S::f32s::from_slice(simd, &probs[r * width..(r + 1) * width]));
        for d in 0..DIMS {
            let v = S::f32s::splat(simd, value[d]);
            for r in 0..VECTORS {
                sums[d][r] = p[r].mul_add(v, sums[d][r]);
            }
        }
    }
    for (sums, acc) in sums.iter().zip(acc.chunks_exact_mut(lanes)) {
        for r in 0..VECTORS {
            let at = r * width..(r + 1) * width;
            let before = S::f32s::from_slice(simd, &acc[at.clone()]);
            before.mul_add(shrink[r], sums[r]).store_slice(&mut acc[at]);
        }
    }
}
