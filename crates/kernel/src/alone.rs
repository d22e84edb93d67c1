//! One row by itself, for outputs that are not finite.

use crate::params::Mask;
use crate::{Element, Params, reference};

/// A row whose output is not finite, once more, over nothing but what it sees: in a partial block a hidden value has
/// been multiplied by 0, which does not take a NaN or an infinity out. Plain arithmetic in f64: no row that is right
/// comes here.
///
/// `at` is (batch, q_head, query); `key` and `value` give the row of a key.
pub(crate) fn alone(
    (params, mask): (&Params, &Mask),
    (batch, head, query): (usize, usize, usize),
    q: &[f32],
    key: impl Fn(usize) -> Vec<f32>,
    value: impl Fn(usize) -> Vec<f32>,
    out: &mut [f32],
) {
    let visible: Vec<usize> = mask.visible(batch, head, query, 0..mask.kv_len()).collect();
    let score = |at: &usize| {
        let dot: f64 = q.iter().zip(key(*at)).map(|(q, k)| f64::from(*q) * f64::from(k)).sum();
        reference::score(params, mask, (batch, head, query, *at), dot)
    };
    let row: Vec<f64> = visible.iter().map(score).collect();
    let sink = params.sinks.as_ref().map_or(f64::NEG_INFINITY, |sinks| f64::from(sinks[head]));
    let max = row.iter().copied().fold(sink, f64::max);
    let sum: f64 = row.iter().map(|s| (s - max).exp()).sum::<f64>() + (sink - max).exp();
    let mut mixed = vec![0.0; out.len()];
    for (at, score) in visible.iter().zip(&row) {
        let weight = (score - max).exp() / sum;
        for (mixed, v) in mixed.iter_mut().zip(value(*at)) {
            *mixed += weight * f64::from(v);
        }
    }
    for (out, mixed) in out.iter_mut().zip(mixed) {
        *out = mixed as f32;
    }
}

/// A row in f32.
pub(crate) fn widened<T: Element>(row: &[T]) -> Vec<f32> {
    let mut wide = vec![0.0; row.len()];
    T::widen(row, &mut wide);
    wide
}
