//! Cases for the tests of the kernel: operations with every option on or off, with every other.
#![allow(dead_code)] // not every test file uses all of it

use std::ops::Range;

use attnscope_kernel::reference::{self, Reference};
use attnscope_kernel::{Bias, Forward, Isa, KeyPadding, Knockout, Params, RelativeBias, Segments, View, Window};
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

/// What a case must give.
pub(crate) struct Wanted {
    reference: Reference,
    /// Of an output.
    error: f64,
}

impl Wanted {
    /// At most twice a plain f32 implementation's error, plus 4 eps max|v|.
    pub(crate) fn of(case: &Case) -> Self {
        let (q, k, v) = case.views();
        let reference = reference::attention(q, k, v, &case.params).unwrap();
        let slack = 4.0 * f64::from(f32::EPSILON) * case.v.iter().fold(0.0, |m: f64, x| m.max(f64::from(x.abs())));
        let error = 2.0 * plain_error(case, &reference.out) + slack;
        Self { reference, error }
    }

    pub(crate) fn check(&self, isa: Isa, got: &Forward) -> Result<(), TestCaseError> {
        let error = worst(&got.out, &self.reference.out);
        prop_assert!(error <= self.error, "{}: out error {error:e}, allowed {:e}", isa.name(), self.error);
        for (row, (got, want)) in got.lse.iter().zip(&self.reference.lse).enumerate() {
            // Scores reach about 40 here; an f32 sum of products of that size is good to a few 1e-6.
            let same = (got - want).abs() <= 1e-5 || (got.is_infinite() && got == want);
            prop_assert!(same, "{}: lse of row {row}: {got} for {want}", isa.name());
        }
        Ok(())
    }
}

/// The error of a plain f32 implementation on the same case: the yardstick. The largest over a few orders of summation
/// along head_dim, with the scale on the queries or on the products, because one alone may be lucky; over more of them where
/// there are few rows to be unlucky in.
fn plain_error(case: &Case, want: &[f64]) -> f64 {
    let ordered = |x: &[f32], order: &[usize], scale: f32| -> Vec<f32> {
        x.chunks(order.len()).flat_map(|row| order.iter().map(|t| row[*t] * scale)).collect()
    };
    let (dim, rows) = (case.q_shape[3], case.q_shape[..3].iter().product::<usize>());
    let turns = (256 / rows).clamp(4, 32);
    let error = |turn: usize| {
        let mut order: Vec<usize> = (0..dim).collect();
        order.rotate_left(turn * dim / turns);
        if turn % 2 == 1 {
            order.reverse();
        }
        let (before, after) = if turn % 4 < 2 { (1.0, case.params.scale) } else { (case.params.scale, 1.0) };
        let params = Params { scale: after, ..case.params.clone() };
        let (q, k) = (ordered(&case.q, &order, before), ordered(&case.k, &order, 1.0));
        worst(&plain_f32(&Case { q, k, params, ..case.clone() }), want)
    };
    let error = (0..turns).map(error).fold(0.0, f64::max);
    // It shares nothing with the reference, which shares masks and biases with the fast path: were one of these wrong, this
    // alone would tell.
    assert!(error < 1e-3, "the reference is {error:e} off a plain implementation");
    error
}

/// The queries and the keys of the packed text in which a query stands; of everything where nothing is packed.
fn text_of(case: &Case, query: usize) -> [Range<usize>; 2] {
    let Some(segments) = &case.params.segments else { return [0..case.q_shape[1], 0..case.k_shape[1]] };
    let (q, kv) = segments.ends();
    let texts = q.windows(2).zip(kv.windows(2)).map(|(q, kv)| [q[0]..q[1], kv[0]..kv[1]]);
    texts.into_iter().find(|[queries, _]| queries.contains(&query)).unwrap()
}

/// The key position at which a query stands: the last of its text at the last key of its text.
pub(crate) fn position(case: &Case, query: usize) -> i64 {
    let [queries, keys] = text_of(case, query);
    keys.end as i64 - 1 - (queries.end - 1 - query) as i64
}

/// Why a cell (batch, head, query, key) is hidden, by what each parameter says that it hides.
pub(crate) fn hidden(case: &Case, (batch, head, query, key): (usize, usize, usize, usize)) -> Option<&'static str> {
    let (params, kv_len) = (&case.params, case.k_shape[1]);
    let ahead = key as i64 - position(case, query);
    let far = |window: Window| ahead < -(window.left as i64) || ahead > window.right as i64;
    let cut = |rule: &Knockout| {
        [(rule.head, head), (rule.query, query), (rule.key, key)].iter().all(|(of, at)| of.is_none_or(|of| of == *at))
    };
    if !text_of(case, query)[1].contains(&key) {
        Some("other_segment")
    } else if params.key_padding.as_ref().is_some_and(|padding| !padding.real()[batch * kv_len + key]) {
        Some("padding")
    } else if params.causal && ahead > 0 {
        Some("future")
    } else if params.window.is_some_and(far) {
        Some("outside_window")
    } else {
        params.knockouts.iter().any(cut).then_some("knocked_out")
    }
}

/// What is added to a score of a head for a key `ahead` of the query's position: ALiBi's slope on the distance, and T5's number
/// for the bucket of the distance. Its buckets, of which there are 8 up to a distance of 32 in [`case_of`], begin at the
/// distances that transformers has.
fn by_distance(params: &Params, head: usize, ahead: i64) -> f32 {
    let alibi = params.alibi_slopes.as_ref().map_or(0.0, |slopes| -slopes[head] * ahead.abs() as f32);
    let Some(relative) = &params.relative_bias else { return alibi };
    let (buckets, _, both) = relative.buckets();
    let (distance, first, begins): (_, _, &[i64]) = match both {
        true => (ahead.abs(), if ahead > 0 { 4 } else { 0 }, &[1, 2, 8]),
        false => ((-ahead).max(0), 0, &[1, 2, 3, 4, 7, 12, 20]),
    };
    let bucket = first + begins.iter().filter(|begin| **begin <= distance).count();
    alibi + relative.table()[bucket * (relative.table().len() / buckets) + head]
}

/// What a plain f32 implementation makes of a case.
fn plain_f32(case: &Case) -> Vec<f32> {
    let (q, k, v) = case.views();
    let [batch, q_len, q_heads, _] = case.q_shape;
    let group = q_heads / case.k_shape[2];
    let params = &case.params;
    let mut out = Vec::new();
    for b in 0..batch {
        for i in 0..q_len {
            for h in 0..q_heads {
                let score = |j: usize| {
                    let dot = q.row(b, i, h).iter().zip(k.row(b, j, h / group)).map(|(a, b)| a * b).sum::<f32>();
                    let scaled = dot * params.scale;
                    let ahead = j as i64 - position(case, i);
                    let bias = params.bias.as_ref().map_or(0.0, |bias| {
                        let [batches, heads, q_len, kv_len] = bias.shape();
                        bias.data()[(((b % batches) * heads + h % heads) * q_len + i) * kv_len + j]
                    });
                    params.softcap.map_or(scaled, |cap| cap * (scaled / cap).tanh())
                        + by_distance(params, h, ahead)
                        + bias
                };
                let visible: Vec<usize> =
                    (0..case.k_shape[1]).filter(|j| hidden(case, (b, h, i, *j)).is_none()).collect();
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
