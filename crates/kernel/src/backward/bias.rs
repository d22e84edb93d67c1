//! The gradient of the additive bias: that of every score, summed over the batches and heads that share a number. A pass
//! of its own, so that the sums have one order and nothing but the gradient itself is as large as the bias.

use std::ops::Range;

use fearless_simd::{Simd, SimdBase, dispatch};
use rayon::prelude::*;

use super::grade::{At, Scratch, grade};
use super::operands::{Operands, lanes};
use crate::Element;
use crate::params::{Bias, Block, Span};
use crate::simd::Lanes;
use crate::tile::BACK_KV;
use crate::tile::gradient::{Known, base2};
use crate::tile::pack::{factor, pack, pack_keys};
use crate::tile::rows::Rows;

/// d bias, in the bias's own shape.
pub(super) fn d_bias<T: Element, G: Element>(operands: Operands<T, G>, bias: &Bias) -> Vec<f32> {
    let lanes = lanes(operands.isa);
    let [batches, heads, q_len, kv_len] = bias.shape();
    let mut d_bias = vec![0.0; bias.data().len()];
    let panels = d_bias.chunks_exact_mut((q_len * kv_len).max(1)).enumerate().flat_map(|(at, d_bias)| {
        d_bias.chunks_mut(lanes * kv_len).enumerate().map(move |(panel, d_bias)| (at, panel * lanes, d_bias))
    });
    panels.collect::<Vec<_>>().into_par_iter().for_each(|(at, first, d_bias)| {
        let queries = first..q_len.min(first + lanes);
        // Those that share these numbers.
        let shared = |at: usize, of: usize, all: usize| if of == 1 { 0..all } else { at..at + 1 };
        for batch in shared(at / heads, batches, operands.shape.batch) {
            for head in shared(at % heads, heads, operands.shape.q_heads) {
                let at = (batch, head, queries.clone());
                dispatch!(operands.isa.0, simd => panel_of(simd, operands, at, d_bias));
            }
        }
    });
    d_bias
}

#[inline(always)]
fn panel_of<S: Simd, T: Element, G: Element>(
    simd: S,
    operands: Operands<T, G>,
    at: (usize, usize, Range<usize>),
    d_bias: &mut [f32],
) {
    simd.vectorize(
        #[inline(always)]
        || match <S::f32s as SimdBase<S>>::LEN {
            16 => panel::<S, T, G, S::f32s, 2, 2>(simd, operands, at, d_bias),
            _ => panel::<S, T, G, S::f32s, 2, 1>(simd, operands, at, d_bias),
        },
    );
}

/// Adds the gradients of a few queries' scores, (batch, head, queries), to `d_bias`, (queries x kv_len).
#[inline(always)]
fn panel<S: Simd, T: Element, G: Element, F: Lanes<S>, const N: usize, const Q: usize>(
    simd: S,
    operands: Operands<T, G>,
    (batch, head, queries): (usize, usize, Range<usize>),
    d_bias: &mut [f32],
) {
    let Operands { shape, q, k, v, d_out, params, mask, .. } = operands;
    let lanes = N * F::LEN;
    let (dim, v_dim, kv_head) = (k.dim(), v.dim(), head / shape.group());
    let (mut q_panel, mut d_panel) = (vec![0.0; dim * lanes], vec![0.0; v_dim * lanes]);
    pack(simd, queries.clone().map(|query| q.row(batch, query, head)), factor(params.scale), lanes, &mut q_panel);
    pack(simd, queries.clone().map(|query| d_out.row(batch, query, head)), 1.0, lanes, &mut d_panel);
    let (mut high, mut low, mut delta) = (vec![f32::INFINITY; lanes], vec![0.0; lanes], vec![0.0; lanes]);
    for (lane, query) in queries.clone().enumerate() {
        let row = operands.row(batch, head, query);
        [high[lane], low[lane]] = base2(operands.lse[row]);
        delta[lane] = operands.delta[row] as f32;
    }
    let known = Known::<F, N>::load(simd, [&high, &low], &delta);

    // One head: its rows are its queries.
    let rows = Rows { group: 1, kv_head: head };
    let span = Span { batch, heads: head..head + 1, queries: queries.clone() };
    let reach = mask.reach(queries.clone());
    let mut scratch = Scratch::default();
    scratch.fit(lanes, params);
    let (mut weights, mut gradients) = (vec![0.0; BACK_KV * lanes], vec![0.0; BACK_KV * lanes]);
    let (mut keys, mut values) = (vec![[0.0; 4]; BACK_KV / 4 * dim], vec![[0.0; 4]; BACK_KV / 4 * v_dim]);
    for first in reach.clone().step_by(BACK_KV) {
        let block = first..reach.end.min(first + BACK_KV);
        let visibility = mask.block(&span, block.clone());
        if visibility == Block::Skip {
            continue;
        }
        let fours = block.len().div_ceil(4);
        let (keys, values) = (&mut keys[..fours * dim], &mut values[..fours * v_dim]);
        pack_keys(simd, block.clone().map(|key| k.row(batch, key, kv_head)), dim, keys);
        pack_keys(simd, block.clone().map(|key| v.row(batch, key, kv_head)), v_dim, values);
        let at = At { rows, range: queries.clone(), span: &span, visibility, keys: block.clone() };
        let cells = [&mut weights[..fours * 4 * lanes], &mut gradients[..fours * 4 * lanes]];
        grade::<S, F, N, Q>(
            simd,
            (params, &mask),
            at,
            ([&q_panel, &d_panel], [keys, values]),
            known,
            &mut scratch,
            cells,
        );
        for (lane, row) in d_bias.chunks_exact_mut(shape.kv_len).enumerate() {
            let gradients = gradients[lane..].iter().step_by(lanes);
            row[block.clone()].iter_mut().zip(gradients).for_each(|(d_bias, gradient)| *d_bias += gradient);
        }
    }
}
