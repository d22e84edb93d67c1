//! From scaled products to scores: softcap, then whatever is added. One routine for the forward pass and for every
//! later query.

use std::ops::Range;

use fearless_simd::Simd;

use crate::params::{Mask, Params};
use crate::simd::{Lanes, tanh::tanh};
use crate::tile::rows::Rows;

/// Turns a block of base-2 products, (keys x lanes), into base-2 scores. `range` are the panel's rows.
#[inline(always)]
pub(crate) fn adjust<S: Simd, F: Lanes<S>>(
    simd: S,
    (params, mask): (&Params, &Mask),
    (batch, rows, range): (usize, Rows, Range<usize>),
    keys: Range<usize>,
    lanes: usize,
    scores: &mut [f32],
) {
    if let Some(softcap) = params.softcap {
        cap::<S, F>(simd, softcap, scores);
    }
    add((params, mask), (batch, rows, range), keys, lanes, scores);
}

/// What is added to the scores of a block: bias, ALiBi, relative-position bias.
#[inline(always)]
pub(crate) fn add(
    (params, mask): (&Params, &Mask),
    (batch, rows, range): (usize, Rows, Range<usize>),
    keys: Range<usize>,
    lanes: usize,
    scores: &mut [f32],
) {
    if !params.biased() {
        return;
    }
    for (lane, row) in range.enumerate() {
        let (query, head) = rows.at(row);
        let bias = params.bias.as_ref().map(|bias| &bias.row(batch, head, query)[keys.clone()]);
        let position = mask.position(query);
        for (at, score) in scores[lane..].iter_mut().step_by(lanes).enumerate() {
            let ahead = (keys.start + at) as i64 - position;
            // In f64: large additions would be rounded once more than by adding them to the score itself.
            let added = f64::from(params.alibi(head, ahead))
                + f64::from(params.relative(head, ahead))
                + f64::from(bias.map_or(0.0, |bias| bias[at]));
            *score = (f64::from(*score) + added * std::f64::consts::LOG2_E) as f32;
        }
    }
}

/// c tanh(s / c) of base-2 scores.
#[inline(always)]
pub(crate) fn cap<S: Simd, F: Lanes<S>>(simd: S, softcap: f32, scores: &mut [f32]) {
    let cap = softcap * std::f32::consts::LOG2_E;
    let (cap, over) = (F::splat(simd, cap), F::splat(simd, 1.0 / cap));
    for scores in scores.chunks_exact_mut(F::LEN) {
        (cap * tanh(simd, F::from_slice(simd, scores) * over)).store_slice(scores);
    }
}
