//! From scores and products to weights and the gradient of the scores: the one pass over the cells of a block that the
//! backward pass makes between its products. (Dao 2023, algorithm 2, lines 11 and 14)

use fearless_simd::{Select, Simd};

use crate::simd::{Lanes, exp::exp2, load};

/// What is known of the rows of a panel, one number a lane.
#[derive(Clone, Copy)]
pub(crate) struct Known<F, const N: usize> {
    /// lse in base 2, in two parts: a single f32 is too coarse beside a large score.
    pub(crate) lse: [[F; N]; 2],
    /// out . d_out.
    pub(crate) delta: [F; N],
}

impl<F, const N: usize> Known<F, N> {
    /// From `lse` and `delta` of the panel's rows.
    #[inline(always)]
    pub(crate) fn load<S: Simd>(simd: S, [high, low]: [&[f32]; 2], delta: &[f32]) -> Self
    where
        F: Lanes<S>,
    {
        Self { lse: [load(simd, high), load(simd, low)], delta: load(simd, delta) }
    }
}

/// lse as the tiles subtract it. A row that sees nothing gets +inf: exp2(score - inf) is exactly 0.
pub(crate) fn base2(lse: f64) -> [f32; 2] {
    if lse == f64::NEG_INFINITY {
        return [f32::INFINITY, 0.0];
    }
    let lse = lse * std::f64::consts::LOG2_E;
    let high = lse as f32;
    let low = (lse - f64::from(high)) as f32;
    [high, if low.is_finite() { low } else { 0.0 }]
}

/// Turns base-2 scores (keys x lanes) into weights, and `products`, d_out . v, into the gradient of the scores:
/// weight * (product - delta). Cells that are hidden (-inf) get 0 for both, whatever stands there.
#[inline(always)]
pub(crate) fn gradient<S: Simd, F: Lanes<S>, const N: usize, const HIDES: bool>(
    simd: S,
    known: Known<F, N>,
    scores: &mut [f32],
    products: &mut [f32],
) {
    let lanes = N * F::LEN;
    let [high, low] = known.lse;
    let zero = F::splat(simd, 0.0);
    for (scores, products) in scores.chunks_exact_mut(lanes).zip(products.chunks_exact_mut(lanes)) {
        for r in 0..N {
            let at = r * F::LEN..(r + 1) * F::LEN;
            let score = F::from_slice(simd, &scores[at.clone()]);
            let mut weight = exp2(simd, (score - high[r]) - low[r]);
            let mut gradient = weight * (F::from_slice(simd, &products[at.clone()]) - known.delta[r]);
            if HIDES {
                let hidden = score.simd_eq(F::splat(simd, f32::NEG_INFINITY));
                weight = hidden.select(zero, weight);
                gradient = hidden.select(zero, gradient);
            }
            weight.store_slice(&mut scores[at.clone()]);
            gradient.store_slice(&mut products[at]);
        }
    }
}

/// Softcap's part of the gradient, from capped base-2 scores: 1 - (score / c)^2, into `slopes`.
#[inline(always)]
pub(crate) fn slopes<S: Simd, F: Lanes<S>>(simd: S, softcap: f32, scores: &[f32], slopes: &mut [f32]) {
    let over = F::splat(simd, 1.0 / (softcap * std::f32::consts::LOG2_E));
    let one = F::splat(simd, 1.0);
    for (score, slope) in scores.chunks_exact(F::LEN).zip(slopes.chunks_exact_mut(F::LEN)) {
        let tanh = F::from_slice(simd, score) * over;
        (one - tanh * tanh).store_slice(slope);
    }
}

/// `gradients *= slopes`.
#[inline(always)]
pub(crate) fn steepen<S: Simd, F: Lanes<S>>(simd: S, slopes: &[f32], gradients: &mut [f32]) {
    for (slope, gradient) in slopes.chunks_exact(F::LEN).zip(gradients.chunks_exact_mut(F::LEN)) {
        (F::from_slice(simd, slope) * F::from_slice(simd, gradient)).store_slice(gradient);
    }
}
