//! Takes the hidden cells of a partial block out of it: exp2(-inf) is exactly 0.

use std::ops::Range;

use fearless_simd::{Select, Simd};

use crate::params::{Mask, Span};
use crate::simd::{Lanes, load};
use crate::tile::rows::Rows;

/// `bounds` has room for two numbers a lane.
#[inline(always)]
pub(crate) fn hide<S: Simd, F: Lanes<S>, const N: usize>(
    simd: S,
    mask: &Mask,
    (rows, range, span): (Rows, Range<usize>, &Span),
    keys: Range<usize>,
    bounds: &mut [f32],
    scores: &mut [f32],
) {
    let lanes = N * F::LEN;
    let (starts, ends) = bounds.split_at_mut(lanes);
    starts.fill(0.0);
    ends.fill(0.0);
    for ((row, start), end) in range.clone().zip(&mut *starts).zip(&mut *ends) {
        let visible = mask.span(rows.at(row).0);
        // Counted from the block's first key, so small and exact.
        *start = (visible.start.clamp(keys.start, keys.end) - keys.start) as f32;
        *end = (visible.end.clamp(keys.start, keys.end) - keys.start) as f32;
    }
    let (starts, ends): ([F; N], [F; N]) = (load(simd, starts), load(simd, ends));
    let hidden = F::splat(simd, f32::NEG_INFINITY);
    let mut at = 0.0;
    for scores in scores.chunks_exact_mut(lanes) {
        let key = F::splat(simd, at);
        at += 1.0;
        for (r, scores) in scores.chunks_exact_mut(F::LEN).enumerate() {
            let seen = starts[r].simd_le(key) & key.simd_lt(ends[r]);
            seen.select(F::from_slice(simd, scores), hidden).store_slice(scores);
        }
    }
    if mask.has_holes() && mask.punched(span, keys.clone()) {
        for (lane, row) in range.enumerate() {
            let (query, head) = rows.at(row);
            for (key, score) in keys.clone().zip(scores[lane..].iter_mut().step_by(lanes)) {
                if mask.holed(span.batch, head, query, key) {
                    *score = f32::NEG_INFINITY;
                }
            }
        }
    }
}
