//! The online softmax of decoding.

use fearless_simd::{Simd, SimdBase, f32x16};

use super::FEW;
use crate::simd::exp::exp2;

/// The online softmax of a few rows. The lanes of a wide vector are the rows of several keys side by side.
#[derive(Clone)]
pub(super) struct Online {
    pub(super) row_max: [f32; FEW],
    pub(super) row_sum: [f32; FEW],
}

impl Online {
    pub(super) fn new() -> Self {
        Self { row_max: [f32::NEG_INFINITY; FEW], row_sum: [0.0; FEW] }
    }

    /// Takes one block of scores, (keys x lanes) and a multiple of 16 in all, turns them into exp2(score - row_max), and
    /// gives the factors by which all that was summed before has to shrink.
    #[inline(always)]
    pub(super) fn block<S: Simd>(&mut self, simd: S, lanes: usize, scores: &mut [f32]) -> [f32; FEW] {
        let mut top = f32x16::splat(simd, f32::NEG_INFINITY);
        for scores in scores.chunks_exact(16) {
            top = top.max(f32x16::from_slice(simd, scores));
        }
        let mut tops = [0.0; 16];
        top.store_slice(&mut tops);
        let mut base = [0.0; 16];
        let before = self.row_max;
        for lane in 0..lanes {
            for keys in (lane..16).step_by(lanes) {
                self.row_max[lane] = self.row_max[lane].max(tops[keys]);
            }
            // -inf - -inf would be NaN: a row that has seen nothing has base 0.
            let of_row = if self.row_max[lane] == f32::NEG_INFINITY { 0.0 } else { self.row_max[lane] };
            for keys in (lane..16).step_by(lanes) {
                base[keys] = of_row;
            }
        }
        let base = f32x16::from_slice(simd, &base);
        let mut sum = f32x16::splat(simd, 0.0);
        for scores in scores.chunks_exact_mut(16) {
            let prob = exp2(simd, f32x16::from_slice(simd, scores) - base);
            prob.store_slice(scores);
            sum += prob;
        }
        let mut shrink = [0.0; FEW];
        exp2(simd, f32x16::from_slice(simd, &before) - base).store_slice(&mut shrink);
        let mut sums = [0.0; 16];
        sum.store_slice(&mut sums);
        for lane in 0..lanes {
            let mut of_block = 0.0;
            for keys in (lane..16).step_by(lanes) {
                of_block += sums[keys];
            }
            self.row_sum[lane] = self.row_sum[lane] * shrink[lane] + of_block;
        }
        shrink
    }
}
