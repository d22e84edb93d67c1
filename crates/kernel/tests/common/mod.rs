//! Cases for the tests of the kernel: operations with every option on or off, with every other.
#![allow(dead_code)] // not every test file uses all of it

use std::ops::Range;

use attnscope_kernel::{Bias, KeyPadding, Knockout, Mask, Params, RelativeBias, Segments, View, Window};
use proptest::prelude::*;

/// One operation's data, owned.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    pub(crate) q: Vec<f32>,
    pub(crate) k: Vec<f32>,
    pub(crate) v: Vec<f32>,
    pub(crate) q_shape: [usize; 4],
    pub(crate) k_shape: [usize; 4],
    pub(crate) v_shape: [usize; 4],
    pub(crate) params: Params,
}

impl Case {
    pub(crate) fn views(&self) -> (View<'_>, View<'_>, View<'_>) {
        let view = |x, shape| View::new(x, shape).unwrap();
        (view(&self.q, self.q_shape), view(&self.k, self.k_shape), view(&self.v, self.v_shape))
    }
}

/// Numbers that look normal, the same for the same seed.
pub(crate) fn normal(seed: u64, len: usize, spread: f32) -> Vec<f32> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut uniform = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 40) as f32 / (1u64 << 24) as f32
    };
    (0..len).map(|_| ((0..6).map(|_| uniform()).sum::<f32>() - 3.0) * 1.41 * spread).collect()
}

/// Sizes and a seed; every option on or off, with every other.
pub(crate) fn case() -> impl Strategy<Value = Case> {
    case_of(1..70, 1..200)
}

/// The same with other lengths.
pub(crate) fn case_of(q_len: Range<usize>, kv_len: Range<usize>) -> impl Strategy<Value = Case> {
    let sizes = (1..3usize, q_len, kv_len, 1..4usize, 1..4usize, 1..40usize, 1..40usize);
    (sizes, 0.1..6.0f32, any::<u64>(), any::<u16>()).prop_map(
        |((batch, q_len, kv_len, kv_heads, group, dim, v_dim), spread, seed, options)| {
            let q_heads = kv_heads * group;
            let q_shape = [batch, q_len, q_heads, dim];
            let k_shape = [batch, kv_len, kv_heads, dim];
            let v_shape = [batch, kv_len, kv_heads, v_dim];
            let mut bits = options;
            let mut on = |out_of: u16| {
                let on = bits % out_of == 0;
                bits = bits.rotate_right(3) ^ 0x9E37;
                on
            };
            let number = |at: u64, below: usize| (seed.rotate_left(at as u32) % below.max(1) as u64) as usize;
            let params = Params {
                causal: on(2),
                window: on(3).then(|| Window { left: number(3, 80), right: number(9, 20) }),
                softcap: on(3).then_some(4.0),
                alibi_slopes: on(3).then(|| (0..q_heads).map(|h| 0.5f32.powi(h as i32)).collect()),
                relative_bias: on(3).then(|| {
                    let (buckets, both) = (8, on(2));
                    RelativeBias::new(normal(seed ^ 7, buckets * q_heads, 1.0), buckets, 32, both).unwrap()
                }),
                bias: on(3).then(|| {
                    let shape = [if on(2) { 1 } else { batch }, if on(2) { 1 } else { q_heads }, q_len, kv_len];
                    Bias::new(normal(seed ^ 8, shape.iter().product(), 1.0), shape).unwrap()
                }),
                sinks: on(3).then(|| normal(seed ^ 9, q_heads, 2.0).into()),
                segments: on(3).then(|| {
                    let (q, kv) = (number(5, q_len + 1), number(11, kv_len + 1));
                    Segments::new([0, q / 2, q, q_len], [0, kv / 3, kv, kv_len]).unwrap()
                }),
                key_padding: on(3).then(|| {
                    KeyPadding::new(
                        (0..batch * kv_len).map(|at| !(at as u64 ^ seed).is_multiple_of(5)).collect::<Vec<_>>(),
                    )
                }),
                knockouts: if on(3) {
                    vec![
                        Knockout { key: Some(number(13, kv_len)), ..Default::default() },
                        Knockout { query: Some(number(17, q_len)), head: Some(number(19, q_heads)), key: None },
                        Knockout { head: Some(0), query: Some(0), key: Some(0) },
                    ]
                } else {
                    Vec::new()
                },
                ..Params::for_head_dim(dim)
            };
            Case {
                q: normal(seed, q_shape.iter().product(), spread),
                k: normal(seed ^ 1, k_shape.iter().product(), 1.0),
                v: normal(seed ^ 2, v_shape.iter().product(), 1.0),
                q_shape,
                k_shape,
                v_shape,
                params,
            }
        },
    )
}

/// The error of a plain f32 implementation on the same case: the yardstick. The largest over a few orders of summation
/// along head_dim, because one order alone may be lucky when there are few rows.
pub(crate) fn plain_error(case: &Case, want: &[f64]) -> f64 {
    let ordered = |x: &[f32], order: &[usize]| -> Vec<f32> {
        x.chunks(order.len()).flat_map(|row| order.iter().map(|t| row[*t])).collect()
    };
    let dim = case.q_shape[3];
    let error = |turn: usize| {
        let mut order: Vec<usize> = (0..dim).collect();
        order.rotate_left(turn * dim / 4);
        if turn % 2 == 1 {
            order.reverse();
        }
        let (q, k) = (ordered(&case.q, &order), ordered(&case.k, &order));
        worst(&plain_f32(&Case { q, k, ..case.clone() }), want)
    };
    (0..4).map(error).fold(0.0, f64::max)
}

/// What a plain f32 implementation makes of a case.
pub(crate) fn plain_f32(case: &Case) -> Vec<f32> {
    let (q, k, v) = case.views();
    let [batch, q_len, q_heads, _] = case.q_shape;
    let group = q_heads / case.k_shape[2];
    let params = &case.params;
    let mask = Mask::new(params, q_len, case.k_shape[1]);
    let mut out = Vec::new();
    for b in 0..batch {
        for i in 0..q_len {
            for h in 0..q_heads {
                let score = |j: usize| {
                    let dot = q.row(b, i, h).iter().zip(k.row(b, j, h / group)).map(|(a, b)| a * b).sum::<f32>();
                    let scaled = dot * params.scale;
                    let ahead = j as i64 - mask.position(i);
                    let bias = params.bias.as_ref().map_or(0.0, |bias| {
                        let [batches, heads, q_len, kv_len] = bias.shape();
                        bias.data()[(((b % batches) * heads + h % heads) * q_len + i) * kv_len + j]
                    });
                    params.softcap.map_or(scaled, |cap| cap * (scaled / cap).tanh())
                        + params.alibi(h, ahead)
                        + params.relative(h, ahead)
                        + bias
                };
                let visible: Vec<usize> = mask.visible(b, h, i, 0..case.k_shape[1]).collect();
                let scores: Vec<f32> = visible.iter().map(|j| score(*j)).collect();
                let sink = params.sinks.as_ref().map_or(f32::NEG_INFINITY, |sinks| sinks[h]);
                let max = scores.iter().copied().fold(sink, f32::max);
                let exps: Vec<f32> = scores.iter().map(|s| (s - max).exp()).collect();
                let sum: f32 = exps.iter().sum::<f32>() + (sink - max).exp();
                for t in 0..case.v_shape[3] {
                    let mixed = visible.iter().zip(&exps).map(|(j, e)| e / sum * v.row(b, *j, h / group)[t]);
                    out.push(mixed.sum::<f32>());
                }
            }
        }
    }
    out
}

/// The largest difference, where NaN is the largest of all.
pub(crate) fn worst(got: &[f32], want: &[f64]) -> f64 {
    assert_eq!(got.len(), want.len());
    let differences = got.iter().zip(want).map(|(g, w)| (f64::from(*g) - w).abs());
    differences.fold(0.0, |worst, d| if worst.is_nan() || d <= worst { worst } else { d })
}
