//! The gradients: the f64 reference against finite differences, the fast path against the reference, on every
//! instruction set of this machine.

mod common;

use attnscope_kernel::{
    Bias, Element, Gradients, Isa, KeyPadding, Knockout, Mask, Params, RelativeBias, Segments, View, Window, backward,
    backward_into, bf16, f16, forward, reference,
};
use common::{normal, worst};
use proptest::prelude::*;

/// One operation and the gradient of its output, owned.
#[derive(Debug, Clone)]
struct Case<T = f32> {
    q: Vec<T>,
    k: Vec<T>,
    v: Vec<T>,
    d_out: Vec<T>,
    q_shape: [usize; 4],
    k_shape: [usize; 4],
    v_shape: [usize; 4],
    params: Params,
}

impl<T> Case<T> {
    fn views(&self) -> (View<'_, T>, View<'_, T>, View<'_, T>) {
        let view = |x, shape| View::new(x, shape).unwrap();
        (view(&self.q, self.q_shape), view(&self.k, self.k_shape), view(&self.v, self.v_shape))
    }

    fn out_shape(&self) -> [usize; 4] {
        let [batch, q_len, q_heads, _] = self.q_shape;
        [batch, q_len, q_heads, self.v_shape[3]]
    }

    fn d_out(&self) -> View<'_, T> {
        View::new(&self.d_out, self.out_shape()).unwrap()
    }

    fn map<U>(&self, f: impl Fn(&T) -> U) -> Case<U> {
        let map = |x: &[T]| x.iter().map(&f).collect();
        Case {
            q: map(&self.q),
            k: map(&self.k),
            v: map(&self.v),
            d_out: map(&self.d_out),
            q_shape: self.q_shape,
            k_shape: self.k_shape,
            v_shape: self.v_shape,
            params: self.params.clone(),
        }
    }
}

impl<T: Element> Case<T> {
    fn run(&self, isa: Isa) -> Gradients {
        let (q, k, v) = self.views();
        let done = forward(q, k, v, &self.params, isa).unwrap();
        let out = View::new(&done.out, self.out_shape()).unwrap();
        backward(q, k, v, out, &done.lse, self.d_out(), &self.params, isa).unwrap()
    }
}

/// Sizes and a seed; every option on or off, with every other.
fn case(q_lens: std::ops::Range<usize>, kv_lens: std::ops::Range<usize>) -> impl Strategy<Value = Case> {
    let sizes = (1..3usize, q_lens, kv_lens, 1..4usize, 1..4usize, 1..40usize, 1..40usize);
    (sizes, 0.1..4.0f32, any::<u64>(), prop::array::uniform12(any::<bool>())).prop_map(
        |((batch, q_len, kv_len, kv_heads, group, dim, v_dim), spread, seed, on)| {
            let q_heads = kv_heads * group;
            let number = |at: u32, below: usize| (seed.rotate_left(at) % below.max(1) as u64) as usize;
            let params = Params {
                causal: on[0],
                window: on[1].then(|| Window { left: number(3, 80), right: number(9, 20) }),
                softcap: on[2].then_some(4.0),
                alibi_slopes: on[3].then(|| (0..q_heads).map(|h| 0.5f32.powi(h as i32)).collect()),
                relative_bias: on[4]
                    .then(|| RelativeBias::new(normal(seed ^ 7, 8 * q_heads, 1.0), 8, 32, on[5]).unwrap()),
                bias: on[6].then(|| {
                    let shape = [if on[7] { 1 } else { batch }, if on[8] { 1 } else { q_heads }, q_len, kv_len];
                    Bias::new(normal(seed ^ 8, shape.iter().product(), 1.0), shape).unwrap()
                }),
                sinks: on[9].then(|| normal(seed ^ 9, q_heads, 2.0).into()),
                segments: on[10].then(|| {
                    let (q, kv) = (number(5, q_len + 1), number(11, kv_len + 1));
                    Segments::new([0, q / 2, q, q_len], [0, kv / 3, kv, kv_len]).unwrap()
                }),
                key_padding: on[11].then(|| {
                    let real = (0..batch * kv_len).map(|at| !(at as u64 ^ seed).is_multiple_of(5));
                    KeyPadding::new(real.collect::<Vec<_>>())
                }),
                ..Params::for_head_dim(dim)
            };
            let (q_shape, k_shape) = ([batch, q_len, q_heads, dim], [batch, kv_len, kv_heads, dim]);
            let v_shape = [batch, kv_len, kv_heads, v_dim];
            Case {
                q: normal(seed, q_shape.iter().product(), spread),
                k: normal(seed ^ 1, k_shape.iter().product(), 1.0),
                v: normal(seed ^ 2, v_shape.iter().product(), 1.0),
                d_out: normal(seed ^ 3, batch * q_len * q_heads * v_dim, 1.0),
                q_shape,
                k_shape,
                v_shape,
                params,
            }
        },
    )
}

/// The gradients as a plain implementation in f32 has them, and for each the sum of the absolute terms. The scale is
/// applied to the queries or to the products: either is plain, and they are lucky in different places.
fn plain_f32(case: &Case, to_queries: bool) -> (Gradients, Gradients) {
    let (q, k, v) = case.views();
    let d_out = case.d_out();
    let params = &case.params;
    let ([batch, q_len, q_heads, dim], [_, kv_len, kv_heads, v_dim]) = (case.q_shape, case.v_shape);
    let group = q_heads / kv_heads;
    let mask = Mask::new(params, q_len, kv_len);
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
    let zeros = || Gradients {
        dq: vec![0.0f32; case.q.len()],
        dk: vec![0.0; case.k.len()],
        dv: vec![0.0; case.v.len()],
        d_bias: params.bias.as_ref().map(|bias| vec![0.0; bias.data().len()]),
        d_sinks: params.sinks.as_ref().map(|_| vec![0.0; q_heads]),
    };
    let (mut d, mut size) = (zeros(), zeros());
    let add = |sum: &mut f32, size: &mut f32, x: f32, terms: f32| {
        *sum += x;
        *size += terms.abs();
    };
    for b in 0..batch {
        for h in 0..q_heads {
            for i in 0..q_len {
                let bias_at = |j: usize| {
                    params.bias.as_ref().map(|bias| {
                        let [batches, heads, ..] = bias.shape();
                        ((b % batches * heads + h % heads) * q_len + i) * kv_len + j
                    })
                };
                let (before, after) = if to_queries { (params.scale, 1.0) } else { (1.0, params.scale) };
                let q_row: Vec<f32> = q.row(b, i, h).iter().map(|x| x * before).collect();
                let scaled = |j: usize| dot(&q_row, k.row(b, j, h / group)) * after;
                let score = |j: usize| {
                    let ahead = j as i64 - mask.position(i);
                    params.softcap.map_or(scaled(j), |cap| cap * (scaled(j) / cap).tanh())
                        + params.alibi(h, ahead)
                        + params.relative(h, ahead)
                        + bias_at(j).map_or(0.0, |at| params.bias.as_ref().unwrap().data()[at])
                };
                let visible: Vec<usize> = mask.visible(b, h, i, 0..kv_len).collect();
                let scores: Vec<f32> = visible.iter().map(|j| score(*j)).collect();
                let sink = params.sinks.as_ref().map_or(f32::NEG_INFINITY, |sinks| sinks[h]);
                let max = scores.iter().copied().fold(sink, f32::max);
                let exps: Vec<f32> = scores.iter().map(|s| (s - max).exp()).collect();
                let sum: f32 = exps.iter().sum::<f32>() + (sink - max).exp();
                let d_row = d_out.row(b, i, h);
                let products: Vec<f32> = visible.iter().map(|j| dot(d_row, v.row(b, *j, h / group))).collect();
                let delta: f32 = exps.iter().zip(&products).map(|(e, p)| e / sum * p).sum();
                // Gradients of scores are differences: their terms are those of both sides.
                let size_of = |j: &usize| d_row.iter().zip(v.row(b, *j, h / group)).map(|(d, v)| (d * v).abs()).sum();
                let sizes: Vec<f32> = visible.iter().map(size_of).collect();
                let delta_size: f32 = exps.iter().zip(&sizes).map(|(e, s)| e / sum * s).sum();
                if let (Some(d), Some(size)) = (&mut d.d_sinks, &mut size.d_sinks)
                    && !visible.is_empty()
                {
                    let weight = (sink - max).exp() / sum;
                    add(&mut d[h], &mut size[h], -weight * delta, weight * delta_size);
                }
                for (((j, e), product), terms) in visible.iter().zip(&exps).zip(&products).zip(&sizes) {
                    let weight = e / sum;
                    let d_score = weight * (product - delta);
                    let slope = params.softcap.map_or(1.0, |cap| 1.0 - (scaled(*j) / cap).tanh().powi(2));
                    let (d_dot, terms) = (d_score * slope * params.scale, weight * (terms + delta_size));
                    let dot_terms = terms * slope * params.scale;
                    let (q_at, k_at) = (((b * q_len + i) * q_heads + h), ((b * kv_len + j) * kv_heads + h / group));
                    for t in 0..dim {
                        let (q_at, k_at) = (q_at * dim + t, k_at * dim + t);
                        add(&mut d.dq[q_at], &mut size.dq[q_at], d_dot * case.k[k_at], dot_terms * case.k[k_at]);
                        add(&mut d.dk[k_at], &mut size.dk[k_at], d_dot * case.q[q_at], dot_terms * case.q[q_at]);
                    }
                    for t in 0..v_dim {
                        let at = k_at * v_dim + t;
                        add(&mut d.dv[at], &mut size.dv[at], weight * d_row[t], weight * d_row[t]);
                    }
                    if let (Some(d), Some(size), Some(at)) = (&mut d.d_bias, &mut size.d_bias, bias_at(*j)) {
                        add(&mut d[at], &mut size[at], d_score, terms);
                    }
                }
            }
        }
    }
    (d, size)
}

/// Each gradient by its name.
fn named<F>(d: &Gradients<F>) -> Vec<(&'static str, &[F])> {
    let mut all = vec![("dq", &d.dq[..]), ("dk", &d.dk), ("dv", &d.dv)];
    all.extend(d.d_bias.as_deref().map(|d| ("d_bias", d)));
    all.extend(d.d_sinks.as_deref().map(|d| ("d_sinks", d)));
    all
}

/// At most twice a plain f32 implementation's error, plus 4 eps times the sum of the absolute terms.
fn as_exact_as_f32_allows(case: &Case) -> Result<(), TestCaseError> {
    let (q, k, v) = case.views();
    let want = reference::backward(q, k, v, case.d_out(), &case.params).unwrap();
    let ((plain, size), (other, _)) = (plain_f32(case, false), plain_f32(case, true));
    for isa in Isa::all() {
        let got = case.run(isa);
        let all = named(&got).into_iter().zip(named(&want)).zip(named(&plain)).zip(named(&other)).zip(named(&size));
        for ((((got, want), plain), other), size) in all {
            let slack = 4.0 * f64::from(f32::EPSILON * size.1.iter().copied().fold(0.0, f32::max));
            let plain = worst(plain.1, want.1).max(worst(other.1, want.1));
            let (error, allowed) = (worst(got.1, want.1), 2.0 * plain + slack);
            prop_assert!(error <= allowed, "{}: {} error {error:e}, allowed {allowed:e}", isa.name(), got.0);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(256) })]

    #[test]
    fn gradients_are_as_exact_as_f32_allows(case in case(1..70, 1..200)) {
        as_exact_as_f32_allows(&case)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(12) })]

    /// Several blocks of queries and several chunks of keys.
    #[test]
    fn long_ones_too(case in case(100..400, 400..700)) {
        as_exact_as_f32_allows(&case)?;
    }

    #[test]
    fn threads_change_nothing(case in case(100..300, 400..900)) {
        let on = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        for isa in Isa::all() {
            let one = on(1).install(|| case.run(isa));
            prop_assert_eq!(&one, &on(2).install(|| case.run(isa)));
            prop_assert_eq!(&one, &on(3).install(|| case.run(isa)));
        }
    }

    /// Stored in 16 bits, the numbers are what they are: the gradients are those of the same numbers in f32.
    #[test]
    fn half_types_compute_in_f32(case in case(1..70, 1..100)) {
        let (half, brain) = (case.map(|x| f16::from_f32(*x)), case.map(|x| bf16::from_f32(*x)));
        for isa in Isa::all() {
            prop_assert_eq!(half.run(isa), half.map(|x| x.to_f32()).run(isa));
            prop_assert_eq!(brain.run(isa), brain.map(|x| x.to_f32()).run(isa));
        }
    }

    /// The reference's gradients are what its own outputs do when a number moves.
    #[test]
    fn the_reference_agrees_with_finite_differences(case in case(1..6, 1..8)) {
        let case = case.map(|x| f64::from(*x));
        let loss = |case: &Case<f64>| {
            let (q, k, v) = case.views();
            let out = reference::attention(q, k, v, &case.params).unwrap().out;
            out.iter().zip(&case.d_out).map(|(out, d)| out * d).sum::<f64>()
        };
        let (q, k, v) = case.views();
        let d = reference::backward(q, k, v, case.d_out(), &case.params).unwrap();
        let check = |name, analytic: f64, step: f64, moved: &dyn Fn(f64) -> Case<f64>| {
            let slope = (loss(&moved(step)) - loss(&moved(-step))) / (2.0 * step);
            let near = (slope - analytic).abs() <= 20.0 * step * step * (1.0 + analytic.abs()) + 1e-8;
            prop_assert!(near, "{name}: {analytic} by the formula, {slope} by differences");
            Ok(())
        };
        let moved = |name: &str, at: usize, by: f64| {
            let mut moved = case.clone();
            let x = match name {
                "q" => &mut moved.q,
                "k" => &mut moved.k,
                _ => &mut moved.v,
            };
            x[at] += by;
            moved
        };
        for (name, d) in [("q", &d.dq), ("k", &d.dk), ("v", &d.dv)] {
            for (at, analytic) in d.iter().enumerate() {
                check(name, *analytic, 1e-5, &|by| moved(name, at, by))?;
            }
        }
        // These are f32: they are rounded so that a step is exact.
        let round = |x: &[f32]| x.iter().map(|x| (x * 256.0).round() / 256.0).collect::<Vec<f32>>();
        let with = |bias: Option<Vec<f32>>, sinks: Option<Vec<f32>>| {
            let mut case = case.clone();
            if let (Some(bias), Some(x)) = (&mut case.params.bias, bias) {
                *bias = Bias::new(x, bias.shape()).unwrap();
            }
            case.params.sinks = sinks.map(Into::into);
            case
        };
        let bias = case.params.bias.as_ref().map(|bias| round(bias.data()));
        let sinks = case.params.sinks.as_deref().map(round);
        let base = with(bias.clone(), sinks.clone());
        let (q, k, v) = base.views();
        let d = reference::backward(q, k, v, base.d_out(), &base.params).unwrap();
        let nudged = |x: &Option<Vec<f32>>, at: usize, by: f64| {
            let mut x = x.clone();
            x.as_mut().unwrap()[at] += by as f32;
            x
        };
        for (at, analytic) in d.d_bias.iter().flatten().enumerate() {
            check("bias", *analytic, 2f64.powi(-9), &|by| with(nudged(&bias, at, by), sinks.clone()))?;
        }
        for (at, analytic) in d.d_sinks.iter().flatten().enumerate() {
            check("sinks", *analytic, 2f64.powi(-9), &|by| with(bias.clone(), nudged(&sinks, at, by)))?;
        }
    }
}

fn small(len: usize, params: Params) -> Case {
    let shape = [1, len, 2, 8];
    let x = |seed| normal(seed, len * 16, 1.0);
    Case { q: x(1), k: x(2), v: x(3), d_out: x(4), q_shape: shape, k_shape: shape, v_shape: shape, params }
}

#[test]
fn strides_change_nothing() {
    let case = small(37, Params { causal: true, ..Params::for_head_dim(8) });
    // The same numbers laid out head by head, as frameworks that keep (batch, heads, len, dim) have them.
    let by_head = |x: &[f32]| -> Vec<f32> {
        let at = (0..2).flat_map(|h| (0..37).flat_map(move |i| (0..8).map(move |t| (i * 2 + h) * 8 + t)));
        at.map(|at| x[at]).collect()
    };
    let (q, k, v, d) = (by_head(&case.q), by_head(&case.k), by_head(&case.v), by_head(&case.d_out));
    let view = |x| View::strided(x, [1, 37, 2, 8], [37 * 16, 8, 37 * 8]).unwrap();
    for isa in Isa::all() {
        let done = forward(view(&q), view(&k), view(&v), &case.params, isa).unwrap();
        let out = View::new(&done.out, case.out_shape()).unwrap();
        let got = backward(view(&q), view(&k), view(&v), out, &done.lse, view(&d), &case.params, isa).unwrap();
        assert_eq!(got, case.run(isa));
    }
}

#[test]
fn rows_that_see_nothing_have_gradient_0() {
    // Five queries on two keys: aligned bottom-right, the first three stand before every key.
    for sinks in [None, Some(vec![0.5f32].into())] {
        let params = Params { causal: true, sinks, ..Params::for_head_dim(8) };
        let case = Case {
            q: normal(1, 40, 1.0),
            k: normal(2, 16, 1.0),
            v: normal(3, 16, 1.0),
            d_out: normal(4, 40, 1.0),
            q_shape: [1, 5, 1, 8],
            k_shape: [1, 2, 1, 8],
            v_shape: [1, 2, 1, 8],
            params,
        };
        for isa in Isa::all() {
            let d = case.run(isa);
            assert!(d.dq[..24].iter().all(|x| *x == 0.0));
            assert!(d.dq[24..].iter().chain(&d.dk).chain(&d.dv).all(|x| x.is_finite()));
        }
    }
}

#[test]
fn huge_scores_are_ordinary() {
    let mut case = small(70, Params { causal: true, ..Params::for_head_dim(8) });
    case.q.iter_mut().chain(&mut case.k).for_each(|x| *x *= 60.0); // scores reach +-1e4
    as_exact_as_f32_allows(&case).unwrap();
}

#[test]
fn what_is_not_a_number_stays_in_what_it_touches() {
    let params = Params { causal: true, window: Some(Window { left: 12, right: 0 }), ..Params::for_head_dim(8) };
    let case = small(90, params);
    // Row 40 of head 1, in turn of each.
    let (row, at) = (40 * 2 + 1, (40 * 2 + 1) * 8 + 3);
    let sees = |query: usize, key: usize| (key..key + 13).contains(&query);
    for isa in Isa::all() {
        let clean = case.run(isa);
        for bad in [f32::NAN, f32::INFINITY] {
            for name in ["q", "k", "v", "d_out"] {
                let mut case = case.clone();
                match name {
                    "q" => case.q[at] = bad,
                    "k" => case.k[at] = bad,
                    "v" => case.v[at] = bad,
                    _ => case.d_out[at] = bad,
                }
                let d = case.run(isa);
                for other in 0..180usize {
                    let (position, same_head): (usize, bool) = (other / 2, other % 2 == row % 2);
                    // Whether this query, or this key, has to do with a row that has to do with number 40.
                    let far = |reach: usize| !same_head || position.abs_diff(40) > reach;
                    let of_key = if name == "q" || name == "d_out" { !sees(40, position) } else { far(12) };
                    let of_query = if name == "q" || name == "d_out" { position != 40 } else { !sees(position, 40) };
                    let range = other * 8..other * 8 + 8;
                    let same = |got: &[f32], want: &[f32]| {
                        got[range.clone()].iter().zip(&want[range.clone()]).all(|(g, w)| (g - w).abs() <= 1e-5)
                    };
                    if !same_head || of_query {
                        assert!(same(&d.dq, &clean.dq), "{} {bad} in {name}: dq {other}", isa.name());
                    }
                    if !same_head || of_key {
                        assert!(same(&d.dk, &clean.dk), "{} {bad} in {name}: dk {other}", isa.name());
                        assert!(same(&d.dv, &clean.dv), "{} {bad} in {name}: dv {other}", isa.name());
                    }
                }
                let of_row = &d.dq[row * 8..row * 8 + 8];
                assert!(!of_row.iter().all(|x| x.is_finite()), "{} {bad} in {name}", isa.name());
            }
        }
    }
}

#[test]
fn empty_inputs_give_empty_gradients() {
    let sizes = [(0, 3, 1, 4, 4), (3, 0, 1, 4, 4), (3, 3, 0, 4, 4), (0, 0, 0, 4, 4), (3, 3, 1, 0, 4), (3, 3, 1, 4, 0)];
    for (q_len, kv_len, batch, dim, v_dim) in sizes {
        let numbers = |len: usize, dim: usize| vec![0.5f32; batch * len * dim];
        let case = Case {
            q: numbers(q_len, dim),
            k: numbers(kv_len, dim),
            v: numbers(kv_len, v_dim),
            d_out: numbers(q_len, v_dim),
            q_shape: [batch, q_len, 1, dim],
            k_shape: [batch, kv_len, 1, dim],
            v_shape: [batch, kv_len, 1, v_dim],
            params: Params::for_head_dim(dim),
        };
        for isa in Isa::all() {
            let d = case.run(isa);
            assert_eq!((d.dq.len(), d.dk.len(), d.dv.len()), (case.q.len(), case.k.len(), case.v.len()));
            assert!(d.dq.iter().chain(&d.dk).all(|x| *x == 0.0));
            assert!(d.dv.iter().all(|x| *x == 0.0 || (q_len > 0 && dim == 0)));
        }
    }
}

#[test]
fn wrong_arguments_are_named() {
    let x = vec![0.0f32; 64];
    let view = |shape: [usize; 4]| View::new(&x[..shape.iter().product()], shape).unwrap();
    let (q, out) = (view([1, 2, 4, 4]), view([1, 2, 4, 2]));
    let message = |k, v, out, lse: usize, d_out, params: &Params| {
        backward(q, k, v, out, &vec![0.0; lse], d_out, params, Isa::detect()).unwrap_err().to_string()
    };
    let params = Params::for_head_dim(4);
    let (k, v) = (view([1, 3, 2, 4]), view([1, 3, 2, 2]));
    assert_eq!(message(view([1, 3, 2, 2]), v, out, 8, out, &params), "k head_dim is 2, but must be 4, as in q");
    assert_eq!(message(k, view([1, 2, 2, 2]), out, 8, out, &params), "v len is 2, but must be 3, as in k");
    assert_eq!(
        message(k, v, q, 8, out, &params),
        "out shape is [1, 2, 4, 4], but must be [1, 2, 4, 2], as the output is"
    );
    assert_eq!(
        message(k, v, out, 8, q, &params),
        "d_out shape is [1, 2, 4, 4], but must be [1, 2, 4, 2], as the output is"
    );
    assert_eq!(message(k, v, out, 7, out, &params), "lse length is 7, but must be 8, one a query row");
    let cut = Params { knockouts: vec![Knockout::default()], ..params.clone() };
    let want = "knockouts is a list of 1, but must be empty: gradients do not go through them";
    assert_eq!(message(k, v, out, 8, out, &cut), want);
    assert_eq!(reference::backward(q, k, v, out, &cut).unwrap_err().to_string(), want);
    let bad = Params { softcap: Some(-1.0), ..params };
    assert_eq!(message(k, v, out, 8, out, &bad), "softcap is -1, but must be a finite number above 0");
}

/// In memory that held the gradients of a step before, where a whole block of queries sees nothing.
#[test]
fn queries_that_see_nothing_have_gradients_of_0_whatever_was_there() {
    let shape = [1, 150, 1, 8];
    let x = [1, 2, 3, 4].map(|seed| normal(seed, 150 * 8, 1.0));
    let [q, k, v, d_out] = x.each_ref().map(|x| View::new(x, shape).unwrap());
    let params = Params::for_head_dim(8);
    // The first 100 queries are of a text without keys.
    let segments = Some(Segments::new([0, 100, 150], [0, 0, 150]).unwrap());
    let unseen = Params { segments, ..params.clone() };
    for isa in Isa::all() {
        let mut gradients = Gradients::default();
        for params in [&params, &unseen] {
            let done = forward(q, k, v, params, isa).unwrap();
            let out = View::new(&done.out, shape).unwrap();
            backward_into(q, k, v, out, &done.lse, d_out, params, isa, &mut gradients).unwrap();
            assert_eq!(gradients, backward(q, k, v, out, &done.lse, d_out, params, isa).unwrap(), "{}", isa.name());
        }
        assert!(gradients.dq[..100 * 8].iter().all(|x| *x == 0.0), "{}", isa.name());
    }
}
