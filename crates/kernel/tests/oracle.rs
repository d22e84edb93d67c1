//! The fast path against the f64 reference, on every instruction set of this machine.

mod common;

use attnscope_kernel::{
    Forward, Isa, Left, Mask, Observe, Params, Recall, Segments, View, Window, forward, forward_into, forward_observed,
    reference,
};
use common::{Case, Wanted, case, case_of, hidden, normal, position, worst};
use proptest::prelude::*;

fn as_exact_as_f32_allows(case: &Case) -> Result<(), TestCaseError> {
    let wanted = Wanted::of(case);
    Isa::all().into_iter().try_for_each(|isa| wanted.check(isa, &run(case, isa)))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(16) })]

    /// Several runs of keys, which are copied one by one.
    #[test]
    fn long_ones_too(case in case_of(20..90, 256..700)) {
        as_exact_as_f32_allows(&case)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(256) })]

    #[test]
    fn forward_is_as_exact_as_f32_allows(case in case()) {
        as_exact_as_f32_allows(&case)?;
    }

    /// The mask, which the fast path and the reference share, hides what each parameter says that it hides.
    #[test]
    fn the_mask_is_what_its_parameters_say(case in case()) {
        let [batch, q_len, q_heads, _] = case.q_shape;
        let kv_len = case.k_shape[1];
        let mask = Mask::new(&case.params, q_len, kv_len);
        for (b, h, i) in (0..batch).flat_map(|b| (0..q_heads).flat_map(move |h| (0..q_len).map(move |i| (b, h, i)))) {
            prop_assert_eq!(mask.position(i), position(&case, i));
            let want: Vec<_> = (0..kv_len).map(|j| hidden(&case, (b, h, i, j))).collect();
            let got: Vec<_> = (0..kv_len).map(|j| mask.hidden(b, h, i, j).map(|why| why.name())).collect();
            prop_assert_eq!(&got, &want, "query {} of head {}", i, h);
            let seen: Vec<_> = (0..kv_len).filter(|j| want[*j].is_none()).collect();
            prop_assert_eq!(mask.sees_nothing(b, h, i), seen.is_empty());
            prop_assert_eq!(mask.visible(b, h, i, 0..kv_len).collect::<Vec<_>>(), seen);
        }
    }

    /// Weights recalled from q, k and lse are the reference's, hidden cells exactly 0, and rows sum to 1.
    #[test]
    fn recalled_weights_are_exact(case in case()) {
        let (q, k, v) = case.views();
        let want = reference::attention(q, k, v, &case.params).unwrap();
        let [batch, q_len, q_heads, _] = case.q_shape;
        let kv_len = case.k_shape[1];
        for isa in Isa::all() {
            let done = forward(q, k, v, &case.params, isa).unwrap();
            let recall = Recall::new(q, k, &done.lse, &case.params, isa).unwrap();
            for b in 0..batch {
                for h in 0..q_heads {
                    let tile = recall.tile(b, h, 0..q_len, 0..kv_len).unwrap();
                    let at = (b * q_heads + h) * q_len * kv_len;
                    for (cell, (got, want)) in tile.weights.iter().zip(&want.weights[at..]).enumerate() {
                        prop_assert!((got - want).abs() <= 2e-5, "{}: cell {cell}: {got} for {want}", isa.name());
                        if recall.mask().hidden(b, h, cell / kv_len, cell % kv_len).is_some() {
                            prop_assert_eq!(*got, 0.0);
                        }
                    }
                    for (i, row) in tile.weights.chunks(kv_len).enumerate() {
                        let sum: f64 = row.iter().sum();
                        let sink = case.params.sinks.as_ref().map_or(0.0, |sinks| {
                            (f64::from(sinks[h]) - recall.lse(b, h, i).unwrap()).exp()
                        });
                        let nothing = recall.mask().sees_nothing(b, h, i) && case.params.sinks.is_none();
                        let want = if nothing { 0.0 } else { 1.0 };
                        prop_assert!((sum + sink - want).abs() < 2e-6, "{}: row {i} sums to {sum} + {sink}", isa.name());
                    }
                }
            }
        }
    }

    /// What the forward pass notes on its way is what the whole matrix of weights says.
    #[test]
    fn what_is_observed_is_true(case in case(), most in 1..20usize) {
        let (q, k, v) = case.views();
        let want = reference::attention(q, k, v, &case.params).unwrap();
        let [batch, q_len, q_heads, _] = case.q_shape;
        let kv_len = case.k_shape[1];
        for isa in Isa::all() {
            let observe = Observe { rows: true, map: Some(most) };
            let (done, seen) = forward_observed::<f32, f32>(q, k, v, &case.params, isa, observe).unwrap();
            let plain = forward(q, k, v, &case.params, isa).unwrap();
            prop_assert!(worst(&done.out, &plain.out.iter().map(|x| f64::from(*x)).collect::<Vec<_>>()) < 1e-5);
            let (rows, map) = (seen.rows.unwrap(), seen.map.unwrap());
            prop_assert!(map.rows <= most.max(1) || map.side == 16, "{} rows of {}", map.rows, map.side);
            let mask = Mask::new(&case.params, q_len, kv_len);
            for head in 0..batch * q_heads {
                let (b, h) = (head / q_heads, head % q_heads);
                let (mean, max, visible) = map.head(head);
                let mut blocks = vec![(0.0f64, 0.0f64, 0u32); map.rows * map.columns];
                for i in 0..q_len {
                    let weights = &want.weights[(head * q_len + i) * kv_len..][..kv_len];
                    let p = mask.position(i);
                    let at = |key: i64| usize::try_from(key).ok().and_then(|key| weights.get(key)).copied().unwrap_or(0.0);
                    let largest = weights.iter().copied().fold(0.0, f64::max);
                    let entropy: f64 = weights.iter().filter(|w| **w > 0.0).map(|w| -w * w.ln()).sum();
                    let distance: f64 = weights.iter().zip(0..).map(|(w, j)| w * (p - j as i64).abs() as f64).sum();
                    let got = rows[head * q_len + i];
                    for (name, got, want, slack) in [
                        ("entropy", got.entropy, entropy, 2e-5 * (1.0 + entropy)),
                        ("max", got.max, largest, 2e-5),
                        ("first", got.first, at(0), 2e-5),
                        ("own", got.own, at(p), 2e-5),
                        ("previous", got.previous, at(p - 1), 2e-5),
                        ("distance", got.distance, distance, 2e-5 * (1 + q_len + kv_len) as f64),
                    ] {
                        let off = (f64::from(got) - want).abs();
                        prop_assert!(off <= slack, "{}: head {head} query {i} {name}: {got} for {want}", isa.name());
                    }
                    if let Some(key) = got.max_key {
                        prop_assert!(largest - weights[key as usize] <= 2e-5, "{}: max at {key}", isa.name());
                    } else {
                        prop_assert!(mask.sees_nothing(b, h, i), "{}: no maximum", isa.name());
                    }
                    for (j, weight) in weights.iter().enumerate() {
                        let block = &mut blocks[i / map.side * map.columns + j / map.side];
                        if mask.hidden(b, h, i, j).is_none() {
                            *block = (block.0 + weight, block.1.max(*weight), block.2 + 1);
                        }
                    }
                }
                for (at, (sum, largest, seen)) in blocks.iter().enumerate() {
                    prop_assert_eq!(visible[at], *seen);
                    let want = sum / f64::from(*seen).max(1.0);
                    prop_assert!((f64::from(mean[at]) - want).abs() <= 1e-5, "{}: mean {} for {want}", isa.name(), mean[at]);
                    prop_assert!((f64::from(max[at]) - largest).abs() <= 2e-5, "{}: max {} for {largest}", isa.name(), max[at]);
                }
            }
        }
    }

    /// A cell asked for alone is bit-identical to the same cell of any tile.
    #[test]
    fn a_cell_is_a_cell_however_it_is_asked_for(case in case(), pick in any::<[u16; 3]>()) {
        let (q, k, v) = case.views();
        let [_, q_len, q_heads, _] = case.q_shape;
        let kv_len = case.k_shape[1];
        let pick = pick.map(usize::from);
        let (head, query, key) = (pick[0] % q_heads, pick[1] % q_len, pick[2] % kv_len);
        for isa in Isa::all() {
            let done = forward(q, k, v, &case.params, isa).unwrap();
            let recall = Recall::new(q, k, &done.lse, &case.params, isa).unwrap();
            let cell = recall.cell(0, head, query, key).unwrap();
            let tile = recall.tile(0, head, 0..q_len, 0..kv_len).unwrap();
            prop_assert_eq!(cell.score.to_bits(), tile.scores[query * kv_len + key].to_bits());
            prop_assert_eq!(cell.weight.to_bits(), tile.weights[query * kv_len + key].to_bits());
            prop_assert_eq!(cell.hidden.is_some(), cell.log_weight == f64::NEG_INFINITY);
        }
    }
}

fn small(len: usize, params: Params) -> Case {
    let shape = [1, len, 2, 8];
    let x = |seed| normal(seed, len * 16, 1.0);
    Case { q: x(1), k: x(2), v: x(3), q_shape: shape, k_shape: shape, v_shape: shape, params }
}

fn run(case: &Case, isa: Isa) -> Forward {
    let (q, k, v) = case.views();
    forward(q, k, v, &case.params, isa).unwrap()
}

#[test]
fn strides_change_nothing() {
    let case = small(37, Params { causal: true, ..Params::for_head_dim(8) });
    // The same numbers laid out head by head, as frameworks that keep (batch, heads, len, dim) have them.
    let by_head = |x: &[f32]| -> Vec<f32> {
        (0..2)
            .flat_map(|h| (0..37).flat_map(move |i| (0..8).map(move |t| (i * 2 + h) * 8 + t)))
            .map(|at| x[at])
            .collect()
    };
    let (q, k, v) = (by_head(&case.q), by_head(&case.k), by_head(&case.v));
    let view = |x| View::strided(x, [1, 37, 2, 8], [37 * 16, 8, 37 * 8]).unwrap();
    for isa in Isa::all() {
        assert_eq!(run(&case, isa), forward(view(&q), view(&k), view(&v), &case.params, isa).unwrap());
    }
}

#[test]
fn threads_change_nothing() {
    let case = small(300, Params { causal: true, ..Params::for_head_dim(8) });
    let on = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    for isa in Isa::all() {
        assert_eq!(on(1).install(|| run(&case, isa)), on(3).install(|| run(&case, isa)));
    }
}

/// So many, and so short, that their keys are copied with those of all heads; unless threads are as many as texts.
#[test]
fn many_packed_texts_are_each_as_exact_on_any_number_of_threads() {
    let on = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    for (len, texts) in [(32, 40), (128, 17), (50, 33)] {
        let segments = Some(Segments::of_lens(&vec![len; texts]).unwrap());
        let case = small(len * texts, Params { segments, ..Params::for_head_dim(8) });
        let wanted = Wanted::of(&case);
        for isa in Isa::all() {
            let got = on(2).install(|| run(&case, isa));
            wanted.check(isa, &got).unwrap();
            assert_eq!(got, on(texts).install(|| run(&case, isa)));
        }
    }
}

#[test]
fn a_query_block_at_the_end_of_a_cache_sees_what_the_whole_would() {
    let case = small(90, Params { causal: true, ..Params::for_head_dim(8) });
    let (q, k, v) = case.views();
    for isa in Isa::all() {
        let whole = forward(q, k, v, &case.params, isa).unwrap();
        let last = View::new(&case.q[80 * 16..], [1, 10, 2, 8]).unwrap();
        let tail = forward(last, k, v, &case.params, isa).unwrap();
        for (got, want) in tail.out.iter().zip(&whole.out[80 * 16..]) {
            assert!((got - want).abs() < 1e-6, "{}: {got} for {want}", isa.name());
        }
    }
}

#[test]
fn rows_that_see_nothing_give_zero_and_minus_infinity() {
    // Five queries on two keys: aligned bottom-right, the first three stand before every key.
    let params = Params { causal: true, ..Params::for_head_dim(8) };
    let (q, kv) = (normal(1, 5 * 8, 1.0), normal(2, 2 * 8, 1.0));
    let (q, kv) = (View::new(&q, [1, 5, 1, 8]).unwrap(), View::new(&kv, [1, 2, 1, 8]).unwrap());
    for isa in Isa::all() {
        let done = forward(q, kv, kv, &params, isa).unwrap();
        assert!(done.out[..3 * 8].iter().all(|x| *x == 0.0));
        assert!(done.lse[..3].iter().all(|x| *x == f64::NEG_INFINITY));
        assert!(done.lse[3..].iter().all(|x| x.is_finite()));
        let cell = Recall::new(q, kv, &done.lse, &params, isa).unwrap().cell(0, 0, 0, 1).unwrap();
        assert_eq!(cell.weight, 0.0);
    }
}

#[test]
fn huge_and_hopeless_scores_are_ordinary() {
    // Every visible score lies far below any "large negative number" a mask might add.
    let q = [1e4f32, 0.0];
    let k = [-1e4f32, 0.0, -1.0001e4, 0.0, -3e4, 0.0];
    let v = [1.0f32, 2.0, 3.0];
    let params = Params { scale: 1.0, ..Params::for_head_dim(2) };
    let (q, k) = (View::new(&q, [1, 1, 1, 2]).unwrap(), View::new(&k, [1, 3, 1, 2]).unwrap());
    let v = View::new(&v, [1, 3, 1, 1]).unwrap();
    for isa in Isa::all() {
        let done = forward(q, k, v, &params, isa).unwrap();
        assert_eq!(done.out, [1.0], "{}", isa.name());
        let cell = Recall::new(q, k, &done.lse, &params, isa).unwrap().cell(0, 0, 0, 0).unwrap();
        assert_eq!(cell.weight, 1.0, "score {} lse {}", cell.score, cell.lse);
    }
}

#[test]
fn nan_in_a_query_stays_in_its_row() {
    let mut case = small(40, Params { causal: true, ..Params::for_head_dim(8) });
    case.q[7 * 16 + 3] = f32::NAN; // query 7 of head 0
    for isa in Isa::all() {
        let done = run(&case, isa);
        for (row, out) in done.out.chunks(8).enumerate() {
            assert_eq!(out.iter().any(|x| x.is_nan()), row == 14, "{}: row {row}", isa.name());
        }
    }
}

#[test]
fn a_hidden_value_changes_nothing_whatever_it_is() {
    let params = Params { causal: true, window: Some(Window { left: 12, right: 0 }), ..Params::for_head_dim(8) };
    let case = small(40, params);
    for isa in Isa::all() {
        let want = run(&case, isa);
        for poison in [f32::NAN, f32::INFINITY] {
            let mut poisoned = case.clone();
            poisoned.k[7 * 16..8 * 16].fill(poison);
            poisoned.v[7 * 16..8 * 16].fill(poison);
            let got = run(&poisoned, isa);
            for (at, (got, want)) in got.out.iter().zip(&want.out).enumerate() {
                let query = at / 16;
                if (7..20).contains(&query) {
                    assert!(!got.is_finite(), "{}: query {query} sees the poisoned key", isa.name());
                } else {
                    assert!((got - want).abs() < 1e-6, "{}: query {query}: {got} for {want}", isa.name());
                }
            }
        }
    }
}

#[test]
fn the_reference_leaves_hidden_values_out_too() {
    let mut case = small(8, Params { causal: true, ..Params::for_head_dim(8) });
    case.k[7 * 16..].fill(f32::NAN);
    case.v[7 * 16..].fill(f32::INFINITY);
    let (q, k, v) = case.views();
    let want = reference::attention(q, k, v, &case.params).unwrap();
    assert!(want.out[..7 * 16].iter().all(|x| x.is_finite()));
    assert!(want.out[7 * 16..].iter().all(|x| !x.is_finite()));
    let short = View::new(&case.v[..16], [1, 1, 2, 8]).unwrap();
    assert!(reference::attention(q, k, short, &case.params).is_err());
}

#[test]
fn what_cannot_be_computed_is_refused() {
    let case = small(4, Params { scale: 3e38, ..Params::for_head_dim(8) });
    let (q, k, v) = case.views();
    let error = forward(q, k, v, &case.params, Isa::detect()).unwrap_err().to_string();
    assert!(error.starts_with("scale is"), "{error}");
    // Absurd sizes beside a 0 index nothing.
    let empty: [f32; 0] = [];
    assert!(View::new(&empty, [0, usize::MAX, 2, 2]).is_ok());
}

#[test]
fn the_textbook_form_agrees() {
    for causal in [false, true] {
        let params = Params { causal, ..Params::for_head_dim(8) };
        let (q, k, v) = (normal(1, 5 * 8, 1.0), normal(2, 3 * 8, 1.0), normal(3, 3 * 8, 1.0));
        let q = View::new(&q, [1, 5, 1, 8]).unwrap();
        let (k, v) = (View::new(&k, [1, 3, 1, 8]).unwrap(), View::new(&v, [1, 3, 1, 8]).unwrap());
        let want = reference::attention(q, k, v, &params).unwrap();
        assert!(worst(&reference::textbook(q, k, v, &params).unwrap(), &want.out) < 1e-6);
    }
}

#[test]
fn empty_inputs_give_empty_outputs() {
    for (q_len, kv_len, batch) in [(0, 3, 1), (3, 0, 1), (3, 3, 0), (0, 0, 0)] {
        let (q, kv) = (vec![0.5; batch * q_len * 4], vec![0.5; batch * kv_len * 4]);
        let q = View::new(&q, [batch, q_len, 1, 4]).unwrap();
        let kv = View::new(&kv, [batch, kv_len, 1, 4]).unwrap();
        let done = forward(q, kv, kv, &Params::for_head_dim(4), Isa::detect()).unwrap();
        assert_eq!(done.out, vec![0.0; batch * q_len * 4]);
        assert_eq!(done.lse, vec![f64::NEG_INFINITY; batch * q_len]);
    }
}

#[test]
fn vectors_without_dimensions_are_no_harm() {
    let numbers = normal(1, 40 * 2 * 4, 1.0);
    let none = View::new(&[], [1, 40, 2, 0]).unwrap();
    let some = View::new(&numbers, [1, 40, 2, 4]).unwrap();
    let params = Params { causal: true, ..Params::for_head_dim(4) };
    let observe = Observe { rows: true, map: Some(4) };
    for isa in Isa::all() {
        let (done, _) = forward_observed::<f32, f32>(some, some, none, &params, isa, observe).unwrap();
        assert!(done.out.is_empty());
        let (whole, _) = forward_observed::<f32, f32>(some, some, some, &params, isa, observe).unwrap();
        assert_eq!(done.lse, whole.lse);
        assert!(forward(some, some, none, &params, isa).unwrap().out.is_empty());
        // Every score is 0: a query's output is the mean of what it sees.
        let (done, seen) = forward_observed::<f32, f32>(none, none, some, &params, isa, observe).unwrap();
        assert_eq!(forward(none, none, some, &params, isa).unwrap().out.len(), done.out.len());
        for (query, (out, lse)) in done.out.chunks_exact(8).zip(&done.lse).enumerate() {
            let mean = (0..=query).map(|key| f64::from(some.row(0, key, 1)[2])).sum::<f64>() / (query + 1) as f64;
            assert!((f64::from(out[6]) - mean).abs() < 1e-6, "{}: query {query}", isa.name());
            assert!((lse - ((query + 1) as f64).ln()).abs() < 1e-6);
        }
        assert!(seen.rows.unwrap().iter().all(|row| row.max_key == Some(0)), "the first of equals");
    }
}

#[test]
fn without_heads_there_is_an_empty_map() {
    let params = Params::for_head_dim(4);
    let observe = Observe { rows: true, map: Some(4) };
    let keys = [0.5; 3 * 4];
    // Sizes beside a 0 may be absurd: nothing is counted that no head sees.
    for (q_len, kv_heads) in [(5, 0), (5, 1), (usize::MAX, 1)] {
        let q = View::new(&[], [1, q_len, 0, 4]).unwrap();
        let kv = View::new(&keys[..12 * kv_heads], [1, 3, kv_heads, 4]).unwrap();
        let (done, seen) = forward_observed::<f32, f32>(q, kv, kv, &params, Isa::detect(), observe).unwrap();
        assert!(done.out.is_empty() && done.lse.is_empty() && seen.rows.unwrap().is_empty());
        let map = seen.map.unwrap();
        assert!(map.mean.is_empty() && map.max.is_empty() && map.visible.is_empty());
    }
}

/// Rows that see nothing stand after a head whose scores are infinite, on the same thread.
#[test]
fn an_infinity_stays_in_the_map_of_its_head() {
    let (mut q, kv) = (vec![0.5; 64 * 16], vec![4.0; 70 * 16]);
    let segments = Some(Segments::new([0, 32, 64], [0, 70, 70]).unwrap());
    let params = Params { segments, sinks: Some(vec![0.0, 0.0].into()), ..Params::for_head_dim(8) };
    let observe = Observe { rows: true, map: Some(1) };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let kv = View::new(&kv, [1, 70, 2, 8]).unwrap();
    for isa in Isa::all() {
        let mut map = |of_head_1: f32| {
            q[8..16].fill(of_head_1);
            let q = View::new(&q, [1, 64, 2, 8]).unwrap();
            let seen = || forward_observed::<f32, f32>(q, kv, kv, &params, isa, observe).unwrap().1;
            pool.install(seen).map.unwrap()
        };
        let (clean, infinite) = (map(0.5), map(3e38));
        let (mean, max, _) = infinite.head(1);
        assert!(mean[0].is_nan() && max[0].is_nan(), "{}", isa.name());
        assert_eq!(infinite.head(0), clean.head(0), "{}", isa.name());
    }
}

/// The panel of a NaN is followed by others on the same thread: not one bit of theirs is other for it.
#[test]
fn a_nan_leaves_nothing_to_the_panels_after_it() {
    let clean = small(400, Params { causal: true, ..Params::for_head_dim(8) });
    let mut poisoned = clean.clone();
    // The last queries come first, because they see most.
    poisoned.q[399 * 16..].fill(f32::NAN);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let observe = Observe { rows: true, map: Some(8) };
    for isa in Isa::all() {
        for observe in [Observe::default(), observe] {
            let of = |case: &Case| {
                let (q, k, v) = case.views();
                pool.install(|| forward_observed::<f32, f32>(q, k, v, &case.params, isa, observe).unwrap())
            };
            let ((want, _), (got, _)) = (of(&clean), of(&poisoned));
            assert_eq!(got.out[..399 * 16], want.out[..399 * 16], "{}", isa.name());
            assert!(got.out[399 * 16..].iter().all(|x| x.is_nan()));
            let rows = |lse: &[f64]| [lse[..399].to_vec(), lse[400..799].to_vec()];
            assert_eq!(rows(&got.lse), rows(&want.lse), "{}", isa.name());
        }
    }
}

#[test]
fn wrong_shapes_are_named() {
    let x = vec![0.0; 64];
    let view = |shape| View::new(&x[..shape_len(shape)], shape).unwrap();
    let params = Params::for_head_dim(4);
    let message = |q, k, v| forward(q, k, v, &params, Isa::detect()).unwrap_err().to_string();
    let q = view([1, 2, 4, 4]);
    assert_eq!(
        message(q, view([1, 2, 3, 4]), view([1, 2, 3, 4])),
        "kv_heads is 3, but must be a divisor of q_heads, 4"
    );
    assert_eq!(message(q, view([1, 2, 2, 2]), view([1, 2, 2, 4])), "k head_dim is 2, but must be 4, as in q");
    assert_eq!(message(q, view([1, 2, 2, 4]), view([1, 3, 2, 4])), "v len is 3, but must be 2, as in k");
    let kv = view([1, 2, 2, 4]);
    let (observe, out) = (Observe::default(), &mut [0.0f32; 31]);
    let error =
        forward_into(q, kv, kv, &params, Isa::detect(), observe, (out, &mut Left::default())).unwrap_err().to_string();
    assert_eq!(error, "out length is 31, but must be 32 numbers, batch x q_len x q_heads x v_head_dim");
    let error = View::new(&x, [1, 2, 3, 4]).unwrap_err().to_string();
    assert_eq!(error, "data is 64, but must be 24 numbers for shape [1, 2, 3, 4]");
    assert!(View::strided(&x, [1, 9, 1, 4], [0, 8, 0]).is_err(), "row 8 would end at 68");
    assert!(View::new(&x, [usize::MAX, 2, 2, 2]).is_err());
}

fn shape_len(shape: [usize; 4]) -> usize {
    shape.iter().product()
}

#[test]
fn the_mask_says_why() {
    let params = Params { causal: true, window: Some(Window { left: 1, right: 0 }), ..Params::for_head_dim(4) };
    let mask = Mask::new(&params, 4, 4);
    let row: Vec<_> = (0..4).map(|key| mask.hidden(0, 0, 2, key).map(|h| h.name())).collect();
    assert_eq!(row, [Some("outside_window"), None, None, Some("future")]);
    assert_eq!(mask.span(0), 0..1);
}

#[test]
fn rounding_does_not_grow_with_the_number_of_keys() {
    // Nearly uniform weights on values that cancel: the outputs are small beside what is summed.
    let kv_len = 6000;
    let q_shape = [1, 3, 1, 16];
    let (q, k, v) = (normal(1, 48, 0.1), normal(2, kv_len * 16, 0.3), normal(3, kv_len * 16, 1.0));
    let shape = [1, kv_len, 1, 16];
    let (q, k, v) = (View::new(&q, q_shape).unwrap(), View::new(&k, shape).unwrap(), View::new(&v, shape).unwrap());
    let params = Params::for_head_dim(16);
    let want = reference::attention(q, k, v, &params).unwrap();
    let largest = want.out.iter().fold(0.0, |max: f64, x| max.max(x.abs()));
    for isa in Isa::all() {
        let got = forward(q, k, v, &params, isa).unwrap();
        let error = worst(&got.out, &want.out) / largest;
        assert!(error < 2e-6, "{}: {error:e}", isa.name());
        let row_sum: f64 = Recall::new(q, k, &got.lse, &params, isa)
            .unwrap()
            .tile(0, 0, 0..1, 0..kv_len)
            .unwrap()
            .weights
            .iter()
            .sum();
        assert!((row_sum - 1.0).abs() < 1e-6, "{}: {row_sum}", isa.name());
    }
}
