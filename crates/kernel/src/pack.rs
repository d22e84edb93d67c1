//! Queries transposed into panels: dimension after dimension, one lane a query. Scores and outputs are then vertical
//! in the lanes, and no keys or values need packing.

use fearless_simd::{Simd, SimdBase};

/// Vectors across a panel. Two vectors against four keys make eight independent sums: enough to hide the latency of
/// a multiply-add, few enough for sixteen registers.
pub(crate) const VECTORS: usize = 2;

/// Queries in a panel on this instruction set.
#[inline(always)]
pub(crate) const fn lanes<S: Simd>() -> usize {
    VECTORS * <S::f32s as SimdBase<S>>::LEN
}

/// Writes `rows` into `panel` (head_dim x lanes), each number multiplied by `factor`. Lanes without a row are 0.
pub(crate) fn pack<'a>(rows: impl Iterator<Item = &'a [f32]>, factor: f32, lanes: usize, panel: &mut [f32]) {
    panel.fill(0.0);
    for (lane, row) in rows.enumerate() {
        for (slot, &x) in panel[lane..].iter_mut().step_by(lanes).zip(row) {
            *slot = x * factor;
        }
    }
}

/// The factor folded into the queries: scores come out in base 2, so that exp is exp2 and costs no multiplication.
pub(crate) fn factor(scale: f32) -> f32 {
    (f64::from(scale) * std::f64::consts::LOG2_E) as f32
}
