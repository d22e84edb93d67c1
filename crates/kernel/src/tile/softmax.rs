//! The online softmax: what is known of a row's sum after the keys seen so far. (Milakov and Gimelshein 2018)

use fearless_simd::{Select, Simd};

use crate::simd::{Lanes, exp::exp2};

/// The running maximum and sum of a panel of rows, in base 2.
pub(crate) struct Online<F, const N: usize> {
    pub(crate) row_max: [F; N],
    pub(crate) row_sum: [F; N],
}

impl<F, const N: usize> Online<F, N> {
    #[inline(always)]
    pub(crate) fn new<S: Simd>(simd: S) -> Self
    where
        F: Lanes<S>,
    {
        Self { row_max: [F::splat(simd, f32::NEG_INFINITY); N], row_sum: [F::splat(simd, 0.0); N] }
    }

    /// Takes one block of scores, (keys x lanes), turns them into exp2(score - row_max), and gives the factor by which
    /// all that was summed before has to shrink, now that the maximum may have grown.
    #[inline(always)]
    pub(crate) fn block<S: Simd>(&mut self, simd: S, scores: &mut [f32]) -> [F; N]
    where
        F: Lanes<S>,
    {
        let max = row_max(simd, self.row_max, scores);
        let base = base(simd, max);
        let mut shrink = base;
        for r in 0..N {
            shrink[r] = exp2(simd, self.row_max[r] - base[r]);
        }
        let mut sums = [F::splat(simd, 0.0); N];
        for scores in scores.chunks_exact_mut(N * F::LEN) {
            for (r, scores) in scores.chunks_exact_mut(F::LEN).enumerate() {
                let prob = exp2(simd, F::from_slice(simd, scores) - base[r]);
                prob.store_slice(scores);
                sums[r] += prob;
            }
        }
        self.row_max = max;
        for r in 0..N {
            self.row_sum[r] = self.row_sum[r].mul_add(shrink[r], sums[r]);
        }
        shrink
    }
}

/// The maximum of each row, as far as known, and of a block of its scores.
#[inline(always)]
pub(crate) fn row_max<S: Simd, F: Lanes<S>, const N: usize>(simd: S, mut max: [F; N], scores: &[f32]) -> [F; N] {
    for scores in scores.chunks_exact(N * F::LEN) {
        for (r, scores) in scores.chunks_exact(F::LEN).enumerate() {
            max[r] = max[r].max(F::from_slice(simd, scores));
        }
    }
    max
}

/// What to subtract from scores: the maximum, or 0 for a row that has seen nothing yet; -inf - -inf would be NaN.
#[inline(always)]
pub(crate) fn base<S: Simd, F: Lanes<S>, const N: usize>(simd: S, max: [F; N]) -> [F; N] {
    let mut base = max;
    for r in 0..N {
        base[r] = max[r].simd_eq(F::splat(simd, f32::NEG_INFINITY)).select(F::splat(simd, 0.0), max[r]);
    }
    base
}
