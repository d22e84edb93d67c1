//! Gradients whose sums came out not finite, once more, over nothing but what touches them: in a partial block what is
//! hidden has been multiplied by 0, which does not take a NaN or an infinity out. Plain arithmetic in f64: nothing that is
//! right comes here.

use super::operands::Operands;
use crate::Element;
use crate::alone::widened;
use crate::reference::{dot, score, slope};

/// One cell (batch, head, query, key): its weight, and the gradient of its q . k.
fn cell<T: Element, G: Element>(operands: &Operands<T, G>, at: (usize, usize, usize, usize)) -> (f64, f64) {
    let Operands { q, k, v, d_out, params, mask, .. } = *operands;
    let (batch, head, query, key) = at;
    let (row, kv_head) = (operands.row(batch, head, query), head / operands.shape.group());
    let product = dot(&widened(q.row(batch, query, head)), &widened(k.row(batch, key, kv_head)));
    let weight = (score(params, &mask, at, product) - operands.lse[row]).exp();
    let d_weight = dot(&widened(d_out.row(batch, query, head)), &widened(v.row(batch, key, kv_head)));
    (weight, weight * (d_weight - operands.delta[row]) * slope(params, product))
}

/// `row` = the sum of `terms`: (factor, numbers).
fn redo<E: Element>(row: &mut [f32], terms: impl Iterator<Item = (f64, Vec<E>)>) {
    let mut sum = vec![0.0; row.len()];
    for (factor, numbers) in terms {
        for (sum, x) in sum.iter_mut().zip(widened(&numbers)) {
            *sum += factor * f64::from(x);
        }
    }
    for (row, sum) in row.iter_mut().zip(sum) {
        *row = sum as f32;
    }
}

/// Whether every number is finite. Without a branch in the loop, so that it is vector code.
#[inline(always)]
pub(super) fn finite(row: &[f32]) -> bool {
    const INFINITY: u32 = f32::INFINITY.to_bits();
    !row.iter().fold(false, |found, x| found | (x.to_bits() & INFINITY == INFINITY))
}

/// The gradient of one query.
pub(super) fn query<T: Element, G: Element>(
    operands: &Operands<T, G>,
    (batch, head, query): (usize, usize, usize),
    dq: &mut [f32],
) {
    let kv_head = head / operands.shape.group();
    let visible = operands.mask.visible(batch, head, query, 0..operands.shape.kv_len);
    redo(
        dq,
        visible.map(|key| (cell(operands, (batch, head, query, key)).1, operands.k.row(batch, key, kv_head).to_vec())),
    );
}

/// The gradients of one key and its value.
pub(super) fn key<T: Element, G: Element>(
    operands: &Operands<T, G>,
    (batch, kv_head, key): (usize, usize, usize),
    dk: &mut [f32],
    dv: &mut [f32],
) {
    let group = operands.shape.group();
    let rows = || {
        let heads = kv_head * group..(kv_head + 1) * group;
        heads
            .flat_map(|head| (0..operands.shape.q_len).map(move |query| (head, query)))
            .filter(|(head, query)| operands.mask.hidden(batch, *head, *query, key).is_none())
    };
    let cells = || rows().map(|(head, query)| (head, query, cell(operands, (batch, head, query, key))));
    if !finite(dk) {
        redo(dk, cells().map(|(head, query, (_, d))| (d, operands.q.row(batch, query, head).to_vec())));
    }
    if !finite(dv) {
        redo(dv, cells().map(|(head, query, (weight, _))| (weight, operands.d_out.row(batch, query, head).to_vec())));
    }
}
