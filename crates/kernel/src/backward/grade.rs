//! The weights of a block and the gradients of its scores.

use std::ops::Range;

use fearless_simd::Simd;

use crate::Params;
use crate::params::{Block, Mask, Span};
use crate::simd::Lanes;
use crate::tile::BACK_KV;
use crate::tile::adjust::{add, cap};
use crate::tile::gradient::{Known, gradient, slopes};
use crate::tile::hide::hide;
use crate::tile::rows::Rows;
use crate::tile::scores::scores;

/// A panel of rows and a run of keys, as the forward pass knows them.
pub(super) struct At<'a> {
    pub(super) rows: Rows,
    pub(super) range: Range<usize>,
    pub(super) span: &'a Span,
    pub(super) visibility: Block,
    pub(super) keys: Range<usize>,
}

/// What a block leaves between its steps.
#[derive(Default)]
pub(super) struct Scratch {
    bounds: Vec<f32>,
    /// By how much the scores of the last block grow with their products; empty without a softcap.
    pub(super) slopes: Vec<f32>,
}

impl Scratch {
    pub(super) fn fit(&mut self, lanes: usize, params: &Params) {
        self.bounds.resize(2 * lanes, 0.0);
        self.slopes.resize(if params.softcap.is_some() { BACK_KV * lanes } else { 0 }, 0.0);
    }
}

/// The weights of one block and the gradients of its scores, (keys x lanes), from panels and fours of (queries and keys,
/// d_out and values). Both have room for the last four whole.
#[inline(always)]
pub(super) fn grade<S: Simd, F: Lanes<S>, const N: usize, const Q: usize>(
    simd: S,
    (params, mask): (&Params, &Mask),
    at: At,
    (panels, fours): ([&[f32]; 2], [&[[f32; 4]]; 2]),
    known: Known<F, N>,
    scratch: &mut Scratch,
    [weights, gradients]: [&mut [f32]; 2],
) {
    let lanes = N * F::LEN;
    let At { rows, range, span, visibility, keys } = at;
    scores::<S, F, N, Q>(simd, panels[0], fours[0], weights, || ());
    scores::<S, F, N, Q>(simd, panels[1], fours[1], gradients, || ());
    let weights = &mut weights[..keys.len() * lanes];
    if let Some(softcap) = params.softcap {
        cap::<S, F>(simd, softcap, weights);
        slopes::<S, F>(simd, softcap, weights, &mut scratch.slopes);
    }
    if params.biased() {
        add((params, mask), (span.batch, rows, range.clone()), keys.clone(), lanes, weights);
    }
    if visibility == Block::Partial {
        hide::<S, F, N>(simd, mask, (rows, range, span), keys, &mut scratch.bounds, weights);
        gradient::<S, F, N, true>(simd, known, weights, gradients);
    } else {
        gradient::<S, F, N, false>(simd, known, weights, gradients);
    }
}
