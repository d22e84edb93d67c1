//! The online softmax: what is known of a row's sum after the keys seen so far. (Milakov and Gimelshein 2018)

use fearless_simd::{Select, Simd, SimdBase, SimdFloat};

use crate::exp::exp2;
use crate::pack::{VECTORS, lanes};

/// The running maximum and sum of a panel of rows, in base 2.
pub(crate) struct Online<S: Simd> {
    row_max: [S::f32s; VECTORS],
    row_sum: [S::f32s; VECTORS],
}

impl<S: Simd> Online<S> {
    #[inline(always)]
    pub(crate) fn new(simd: S) -> Self {
        Self {
            row_max: [S::f32s::splat(simd, f32::NEG_INFINITY); VECTORS],
            row_sum: [S::f32s::splat(simd, 0.0); VECTORS],
        }
    }

    /// Takes one block of scores, (keys x lanes), turns them into exp2(score - row_max), and gives the factor by which
    /// all that was summed before has to shrink, now that the maximum may have grown.
    #[inline(always)]
    pub(crate) fn block(&mut self, simd: S, scores: &mut [f32]) -> [S::f32s; VECTORS] {
        let (lanes, width) = (lanes::<S>(), <S::f32s as SimdBase<S>>::LEN);
        std::array::from_fn(|r| {
            let at = r * width..(r + 1) * width;
            let mut max = self.row_max[r];
            for row in scores.chunks_exact(lanes) {
                max = max.max(S::f32s::from_slice(simd, &row[at.clone()]));
            }
            // A row that has seen nothing yet has maximum -inf; -inf - -inf would be NaN.
            let none = max.simd_eq(S::f32s::splat(simd, f32::NEG_INFINITY));
            let base = none.select(S::f32s::splat(simd, 0.0), max);
            let shrink = exp2(simd, self.row_max[r] - base);
            let mut sum = S::f32s::splat(simd, 0.0);
            for row in scores.chunks_exact_mut(lanes) {
                let prob = exp2(simd, S::f32s::from_slice(simd, &row[at.clone()]) - base);
                prob.store_slice(&mut row[at.clone()]);
                sum += prob;
            }
            self.row_max[r] = max;
            self.row_sum[r] = self.row_sum[r].mul_add(shrink, sum);
            shrink
        })
    }

    /// (1 / row_sum, lse) of one lane; (0, -inf) for a row that saw nothing.
    #[inline(always)]
    pub(crate) fn finish(&self, lane: usize) -> (f32, f64) {
        let width = <S::f32s as SimdBase<S>>::LEN;
        let row_max = self.row_max[lane / width].as_slice()[lane % width];
        let row_sum = self.row_sum[lane / width].as_slice()[lane % width];
        if row_sum == 0.0 {
            return (0.0, f64::NEG_INFINITY);
        }
        (1.0 / row_sum, f64::from(row_max) * std::f64::consts::LN_2 + f64::from(row_sum).ln())
    }
}
