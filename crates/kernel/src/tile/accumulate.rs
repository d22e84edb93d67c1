//! The output of a panel: probabilities times values.

use fearless_simd::Simd;

use crate::simd::{Lanes, load};

/// `acc[t][lane] = acc[t][lane] * shrink[lane] + sum over keys of probs[key][lane] * values[key][t]`, with `D`
/// dimensions at a time. Without `shrink` there was nothing before: what `acc` holds is not read.
#[inline(always)]
pub(crate) fn accumulate<S: Simd, F: Lanes<S>, const N: usize, const D: usize>(
    simd: S,
    probs: &[f32],
    values: &[f32],
    shrink: Option<[F; N]>,
    acc: &mut [f32],
    between: impl FnMut(),
) {
    accumulate_some::<S, F, N, N, D>(simd, 0, probs, values, shrink, acc, between);
}

/// [`accumulate`] for `M` vectors of the panel from one on, the only ones that these keys matter to.
#[inline(always)]
pub(crate) fn accumulate_some<S: Simd, F: Lanes<S>, const N: usize, const M: usize, const D: usize>(
    simd: S,
    from: usize,
    probs: &[f32],
    values: &[f32],
    shrink: Option<[F; M]>,
    acc: &mut [f32],
    mut between: impl FnMut(),
) {
    let lanes = N * F::LEN;
    let dim = acc.len() / lanes;
    let mut tiles = acc.chunks_exact_mut(D * lanes);
    let mut t = 0;
    for acc in tiles.by_ref() {
        tile::<S, F, N, M, D>(simd, from, probs, values, (t, dim), shrink, acc);
        t += D;
        between();
    }
    for acc in tiles.into_remainder().chunks_exact_mut(lanes) {
        tile::<S, F, N, M, 1>(simd, from, probs, values, (t, dim), shrink, acc);
        t += 1;
    }
}

/// One tile of `D` dimensions, from t of dim, by a panel; held in registers over all keys of the block.
#[inline(always)]
fn tile<S: Simd, F: Lanes<S>, const N: usize, const M: usize, const D: usize>(
    simd: S,
    from: usize,
    probs: &[f32],
    values: &[f32],
    (t, dim): (usize, usize),
    shrink: Option<[F; M]>,
    acc: &mut [f32],
) {
    let lanes = N * F::LEN;
    // A block is summed by itself and then added, so that rounding grows with keys / block, not with keys.
    let mut sums = [[F::splat(simd, 0.0); M]; D];
    for (probs, value) in probs.chunks_exact(lanes).zip(values.chunks_exact(dim)) {
        let value = &value[t..t + D];
        let p: [F; M] = load(simd, &probs[from * F::LEN..]);
        for d in 0..D {
            let v = F::splat(simd, value[d]);
            for r in 0..M {
                sums[d][r] = p[r].mul_add(v, sums[d][r]);
            }
        }
    }
    for (sums, acc) in sums.iter().zip(acc.chunks_exact_mut(lanes)) {
        let acc = &mut acc[from * F::LEN..];
        for r in 0..M {
            let at = r * F::LEN..(r + 1) * F::LEN;
            let sum = match shrink {
                Some(shrink) => F::from_slice(simd, &acc[at.clone()]).mul_add(shrink[r], sums[r]),
                None => sums[r],
            };
            sum.store_slice(&mut acc[at]);
        }
    }
}
