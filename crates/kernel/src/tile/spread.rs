//! The gradients of a block of keys: the weights of every query that sees it, times what belongs to the queries. Here
//! lanes are dimensions, and one weight is broadcast at a time.

use std::ops::Range;

use fearless_simd::Simd;

use crate::simd::{Lanes, load};
use crate::tile::strips::Strips;
use crate::tile::{BACK_KV, BACK_Q};

/// `acc[key][t] += sum over queries of weights[query][key] * rows[query][t]` for one block of keys.
///
/// `weights` is (panels x keys x lanes), `rows` the [`Strips`] of the block's queries, `acc` those of all `keys` keys, of
/// which the block begins with `first`. `seen` says for each panel which keys of the block it sees, in whole fours; nothing
/// else of `weights` is read.
#[inline(always)]
pub(crate) fn spread<S: Simd, F: Lanes<S>, const N: usize, const R: usize>(
    simd: S,
    weights: &[f32],
    seen: &[Range<usize>],
    (rows, strips): (&[f32], Strips),
    (first, keys): (usize, usize),
    acc: &mut [f32],
) {
    for strip in strips.each() {
        let rows = &rows[strip.start * BACK_Q..strip.end * BACK_Q];
        let acc = &mut acc[strip.start * keys + first * strip.len()..strip.end * keys];
        match strip.len() / F::LEN {
            whole if whole == R => fours::<S, F, N, R>(simd, weights, seen, rows, acc),
            3 => fours::<S, F, N, 3>(simd, weights, seen, rows, acc),
            2 => fours::<S, F, N, 2>(simd, weights, seen, rows, acc),
            _ => fours::<S, F, N, 1>(simd, weights, seen, rows, acc),
        }
    }
}

/// One strip, four keys at a time, over each run of panels that see them.
#[inline(always)]
fn fours<S: Simd, F: Lanes<S>, const N: usize, const R: usize>(
    simd: S,
    weights: &[f32],
    seen: &[Range<usize>],
    rows: &[f32],
    acc: &mut [f32],
) {
    let lanes = N * F::LEN;
    let (panel, strip) = (BACK_KV * lanes, lanes * R * F::LEN);
    for (acc, key) in acc.chunks_exact_mut(4 * R * F::LEN).zip((0..BACK_KV).step_by(4)) {
        let sees = |panel: usize| seen.get(panel).is_some_and(|seen| seen.contains(&key));
        let mut start = 0;
        while start < seen.len() {
            let mut end = start;
            while sees(end) {
                end += 1;
            }
            if end > start {
                let weights = &weights[start * panel..end * panel];
                tile::<S, F, N, R>(simd, weights, key, &rows[start * strip..end * strip], acc);
            }
            start = end + 1;
        }
    }
}

/// One tile of four keys by `R` vectors, held in registers over all queries of the block.
#[inline(always)]
fn tile<S: Simd, F: Lanes<S>, const N: usize, const R: usize>(
    simd: S,
    weights: &[f32],
    key: usize,
    rows: &[f32],
    acc: &mut [f32],
) {
    let lanes = N * F::LEN;
    // A block is summed by itself and then added, so that rounding grows with queries / block, not with queries.
    let mut sums = [[F::splat(simd, 0.0); R]; 4];
    let strip = lanes * R * F::LEN;
    for panel in 0..rows.len() / strip {
        let rows = &rows[panel * strip..(panel + 1) * strip];
        let weights = &weights[(panel * BACK_KV + key) * lanes..(panel * BACK_KV + key + 4) * lanes];
        let (ab, cd) = weights.split_at(2 * lanes);
        let ((a, b), (c, d)) = (ab.split_at(lanes), cd.split_at(lanes));
        for ((((row, a), b), c), d) in rows.chunks_exact(R * F::LEN).zip(a).zip(b).zip(c).zip(d) {
            let row: [F; R] = load(simd, row);
            let weights = [F::splat(simd, *a), F::splat(simd, *b), F::splat(simd, *c), F::splat(simd, *d)];
            for key in 0..4 {
                for r in 0..R {
                    sums[key][r] = row[r].mul_add(weights[key], sums[key][r]);
                }
            }
        }
    }
    for (sum, acc) in sums.as_flattened().iter().zip(acc.chunks_exact_mut(F::LEN)) {
        (F::from_slice(simd, acc) + *sum).store_slice(acc);
    }
}
