//! Few queries, caches, partial states: against the f64 reference and against the whole, on every instruction set.

mod common;

use attnscope_kernel::{
    Element, Error, Forward, Isa, KvCache, Params, Recall, Segments, View, Window, bf16, f16, forward,
    forward_shared_prefix, merge, reference,
};
use common::{Case, Wanted, case_of, normal, worst};
use proptest::prelude::*;

/// A cache of a case's keys and values, appended in pieces.
fn cached<T: Element>(case: &Case, mut cache: KvCache<T>, piece: usize) -> KvCache<T> {
    let [batch, len, heads, dim] = case.k_shape;
    let v_dim = case.v_shape[3];
    for first in (0..len).step_by(piece) {
        let n = piece.min(len - first);
        let part = |x: &[f32], dim: usize| -> Vec<f32> {
            let row = heads * dim;
            (0..batch).flat_map(|b| x[(b * len + first) * row..(b * len + first + n) * row].to_vec()).collect()
        };
        let (k, v) = (part(&case.k, dim), part(&case.v, v_dim));
        let view = |x, dim| View::new(x, [batch, n, heads, dim]).unwrap();
        cache.append(view(&k, dim), view(&v, v_dim)).unwrap();
    }
    cache
}

fn shape(case: &Case) -> [usize; 4] {
    [case.k_shape[0], case.k_shape[2], case.k_shape[3], case.v_shape[3]]
}

/// A case with the numbers of its keys and values as a cache of halves keeps them.
fn rounded<T: Element>(case: &Case) -> Case {
    let round = |x: &[f32]| {
        let (mut narrow, mut wide) = (vec![T::zero(); x.len()], vec![0.0; x.len()]);
        T::narrow(x, &mut narrow);
        T::widen(&narrow, &mut wide);
        wide
    };
    Case { k: round(&case.k), v: round(&case.v), ..case.clone() }
}

fn on<R: Send>(threads: usize, run: impl FnOnce() -> R + Send) -> R {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(run)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(128) })]

    #[test]
    fn few_queries_are_as_exact_as_f32_allows(case in case_of(1..6, 1..900)) {
        let (q, k, v) = case.views();
        let wanted = Wanted::of(&case);
        for isa in Isa::all() {
            wanted.check(isa, &forward(q, k, v, &case.params, isa).unwrap())?;
        }
    }

    #[test]
    fn a_cache_gives_what_the_whole_would(case in case_of(1..30, 1..400), piece in 1..60usize) {
        let whole = cached(&case, KvCache::<f32>::new(shape(&case)).unwrap(), piece);
        let f16s = cached(&case, KvCache::<f16>::new(shape(&case)).unwrap(), piece);
        let bf16s = cached(&case, KvCache::<bf16>::new(shape(&case)).unwrap(), piece);
        let q = case.views().0;
        // Halves are read exactly: what they hold is what the result is exact for.
        let cases = [&case, &rounded::<f16>(&case), &rounded::<bf16>(&case)];
        let [of_whole, of_f16s, of_bf16s] = cases.map(Wanted::of);
        for isa in Isa::all() {
            of_whole.check(isa, &whole.decode(q, &case.params, isa).unwrap())?;
            of_f16s.check(isa, &f16s.decode(q, &case.params, isa).unwrap())?;
            of_bf16s.check(isa, &bf16s.decode(q, &case.params, isa).unwrap())?;
        }
        let kv_len = case.k_shape[1];
        prop_assert_eq!(whole.keys(0..kv_len).unwrap(), case.k.clone());
        prop_assert_eq!(f16s.values(0..kv_len).unwrap(), rounded::<f16>(&case).v);
    }

    /// The recalled score is the number that entered the sum: a row that sees one key has it as its lse.
    #[test]
    fn a_recalled_score_is_the_one_in_the_loop(case in case_of(1..20, 20..300)) {
        let params = Params { window: Some(Window { left: 0, right: 0 }), sinks: None, segments: None,
            key_padding: None, knockouts: Vec::new(), ..case.params.clone() };
        let case = Case { params, ..case };
        let (q, k, v) = case.views();
        let [_, q_len, q_heads, _] = case.q_shape;
        let cache = cached(&case, KvCache::<f32>::new(shape(&case)).unwrap(), 50);
        for isa in Isa::all() {
            for done in [forward(q, k, v, &case.params, isa).unwrap(), cache.decode(q, &case.params, isa).unwrap()] {
                let recall = Recall::new(q, k, &done.lse, &case.params, isa).unwrap();
                for head in 0..q_heads {
                    for query in 0..q_len {
                        let key = case.k_shape[1] - q_len + query;
                        let cell = recall.cell(0, head, query, key).unwrap();
                        prop_assert_eq!(cell.score.to_bits(), cell.lse.to_bits(), "{}: {:?}", isa.name(), cell);
                    }
                }
            }
        }
    }

    #[test]
    fn threads_change_no_bit(case in case_of(1..6, 300..2000)) {
        let (q, k, v) = case.views();
        let cache = cached(&case, KvCache::<f16>::new(shape(&case)).unwrap(), 1000);
        let run = || {
            let isa = Isa::detect();
            let both = [forward(q, k, v, &case.params, isa).unwrap(), cache.decode(q, &case.params, isa).unwrap()];
            both.map(|done| {
                let out: Vec<u32> = done.out.iter().map(|x| x.to_bits()).collect();
                (out, done.lse.iter().map(|x| x.to_bits()).collect::<Vec<u64>>())
            })
        };
        let one = on(1, run);
        for threads in [2, 3, 5] {
            prop_assert_eq!(&on(threads, run), &one);
        }
    }

    /// Keys dealt out to a few states at random, joined: the whole.
    #[test]
    fn states_over_any_split_join_to_the_whole(case in case_of(1..40, 1..120), deal in any::<u64>(), states in 1..5usize) {
        let params = Params { scale: case.params.scale, softcap: case.params.softcap, ..Params::for_head_dim(1) };
        let case = Case { params, ..case };
        let (q, k, v) = case.views();
        let [batch, kv_len, heads, _] = case.k_shape;
        let wanted = Wanted::of(&case);
        let state = |key: usize| (deal.rotate_left(key as u32 * 7) % states as u64) as usize;
        for isa in Isa::all() {
            let part = |wanted: usize| -> Forward {
                let keys: Vec<usize> = (0..kv_len).filter(|key| state(*key) == wanted).collect();
                let rows = |x: View| -> Vec<f32> {
                    let mut rows = Vec::new();
                    for b in 0..batch {
                        for key in &keys {
                            (0..heads).for_each(|head| rows.extend_from_slice(x.row(b, *key, head)));
                        }
                    }
                    rows
                };
                let (k, v) = (rows(k), rows(v));
                let view = |x, dim| View::new(x, [batch, keys.len(), heads, dim]).unwrap();
                forward(q, view(&k, case.k_shape[3]), view(&v, case.v_shape[3]), &case.params, isa).unwrap()
            };
            let parts: Vec<Forward> = (0..states).map(part).collect();
            let [_, q_len, q_heads, _] = case.q_shape;
            let joined = merge(&parts.iter().collect::<Vec<_>>(), [batch, q_len, q_heads, case.v_shape[3]]).unwrap();
            wanted.check(isa, &joined)?;
        }
    }

    #[test]
    fn a_shared_prefix_is_as_if_each_had_it(case in case_of(1..9, 9..60), prefix_len in 0..300usize) {
        // Suffixes of this case behind one prefix.
        let [batch, suffix_len, heads, dim] = case.k_shape;
        let v_dim = case.v_shape[3];
        let (pk, pv) = (normal(5, prefix_len * heads * dim, 1.0), normal(6, prefix_len * heads * v_dim, 1.0));
        let joined = |prefix: &[f32], suffix: &[f32]| -> Vec<f32> {
            suffix.chunks(suffix.len() / batch).flat_map(|own| [prefix, own].concat()).collect()
        };
        let Params { scale, softcap, causal, sinks, .. } = case.params.clone();
        let whole = Case {
            params: Params { scale, softcap, causal, sinks, ..Params::for_head_dim(dim) },
            k: joined(&pk, &case.k),
            v: joined(&pv, &case.v),
            k_shape: [batch, prefix_len + suffix_len, heads, dim],
            v_shape: [batch, prefix_len + suffix_len, heads, v_dim],
            ..case.clone()
        };
        let view = |x, dim| View::new(x, [1, prefix_len, heads, dim]).unwrap();
        let (q, k, v) = case.views();
        let wanted = Wanted::of(&whole);
        for isa in Isa::all() {
            let prefix = (view(&pk, dim), view(&pv, v_dim));
            wanted.check(isa, &forward_shared_prefix(q, prefix, (k, v), &whole.params, isa).unwrap())?;
        }
    }

    #[test]
    fn a_sliding_cache_is_a_window(case in case_of(1..4, 200..700), left in 0..300usize, piece in 1..40usize) {
        let q_len = case.q_shape[1];
        let params = Params { window: Some(Window { left, right: 0 }), segments: None, ..case.params.clone() };
        let case = Case { params, ..case };
        let cache = cached(&case, KvCache::<f32>::sliding(shape(&case), left + q_len).unwrap(), piece);
        prop_assert_eq!(cache.len(), case.k_shape[1]);
        prop_assert!(cache.held().len() <= left + q_len + 127);
        prop_assert!(cache.bytes() <= (left + q_len + 3 * 128) * shape(&case)[..2].iter().product::<usize>()
            * (shape(&case)[2] + shape(&case)[3]) * 4);
        let wanted = Wanted::of(&case);
        for isa in Isa::all() {
            wanted.check(isa, &cache.decode(case.views().0, &case.params, isa).unwrap())?;
        }
    }
}

fn small(q_len: usize, kv_len: usize, params: Params) -> Case {
    let x = |seed, len: usize| normal(seed, len * 16, 1.0);
    let (q_shape, k_shape) = ([1, q_len, 2, 8], [1, kv_len, 2, 8]);
    Case { q: x(1, q_len), k: x(2, kv_len), v: x(3, kv_len), q_shape, k_shape, v_shape: k_shape, params }
}

#[test]
fn what_is_not_a_number_stays_in_its_row() {
    let mut case = small(3, 400, Params { causal: true, ..Params::for_head_dim(8) });
    case.q[16 + 8] = f32::NAN; // query 1 of head 1
    case.v[399 * 16] = f32::INFINITY; // seen by query 2 of head 0 alone
    let cache = cached(&case, KvCache::<f32>::new(shape(&case)).unwrap(), 7);
    let (q, k, v) = case.views();
    for isa in Isa::all() {
        for done in [forward(q, k, v, &case.params, isa).unwrap(), cache.decode(q, &case.params, isa).unwrap()] {
            let finite: Vec<bool> = done.out.chunks(8).map(|row| row.iter().all(|x| x.is_finite())).collect();
            assert_eq!(finite, [true, true, true, false, false, true], "{}", isa.name());
            assert!(done.lse[4].is_nan() && done.lse.iter().filter(|lse| lse.is_nan()).count() == 1);
        }
    }
}

#[test]
fn rows_that_see_nothing_and_empty_caches() {
    let params = Params { causal: true, ..Params::for_head_dim(8) };
    let case = small(4, 2, params.clone());
    let empty = KvCache::<f16>::new([1, 2, 8, 8]).unwrap();
    let q = case.views().0;
    for isa in Isa::all() {
        let done = cached(&case, empty.clone(), 1).decode(q, &params, isa).unwrap();
        // The first two of four queries stand before the first of two keys.
        assert!(done.out[..32].iter().all(|x| *x == 0.0) && done.out[32..].iter().all(|x| *x != 0.0));
        assert_eq!(
            done.lse.iter().map(|lse| lse.is_finite()).collect::<Vec<_>>(),
            [false, false, true, true].repeat(2)
        );
        let none = empty.decode(q, &params, isa).unwrap();
        assert!(none.out.iter().all(|x| *x == 0.0) && none.lse.iter().all(|lse| *lse == f64::NEG_INFINITY));
        let sunk = Params { sinks: Some([0.5, -1.0].into()), ..params.clone() };
        assert_eq!(empty.decode(q, &sunk, isa).unwrap().lse[..5], [0.5, 0.5, 0.5, 0.5, -1.0]);
    }
    assert!(empty.is_empty() && empty.held().is_empty() && empty.bytes() == 0);
}

#[test]
fn a_state_that_saw_nothing_adds_nothing() {
    let saw = Forward { out: vec![1.0f32, 2.0], lse: vec![3.0] };
    let nothing = Forward { out: vec![f32::NAN; 2], lse: vec![f64::NEG_INFINITY] };
    let joined = merge(&[&nothing, &saw, &nothing], [1, 1, 1, 2]).unwrap();
    assert_eq!((joined.out, joined.lse), (vec![1.0, 2.0], vec![3.0]));
    let joined = merge(&[&nothing, &nothing], [1, 1, 1, 2]).unwrap();
    assert_eq!((joined.out, joined.lse), (vec![0.0, 0.0], vec![f64::NEG_INFINITY]));
    let joined = merge(&[&saw, &saw], [1, 1, 1, 2]).unwrap();
    assert_eq!((joined.out, joined.lse), (vec![1.0, 2.0], vec![3.0 + 2f64.ln()]));
}

#[test]
fn speculative_tokens_can_be_taken_back() {
    let params = Params { causal: true, ..Params::for_head_dim(8) };
    let case = small(2, 300, params.clone());
    let mut cache = cached(&case, KvCache::<f32>::new(shape(&case)).unwrap(), 300);
    let want = cache.decode(case.views().0, &params, Isa::detect()).unwrap();
    let wrong = normal(9, 100 * 16, 1.0);
    let wrong = View::new(&wrong, [1, 100, 2, 8]).unwrap();
    cache.append(wrong, wrong).unwrap();
    cache.truncate(300).unwrap();
    assert_eq!(cache.decode(case.views().0, &params, Isa::detect()).unwrap(), want);
    assert_eq!(
        cache.truncate(301).unwrap_err().to_string(),
        "len is 301, but must be 0 to 300, the positions that are held"
    );
}

#[test]
fn errors_name_the_argument() {
    let message = |error: Result<_, Error>| error.map(|_: ()| ()).unwrap_err().to_string();
    let x = normal(1, 4096, 1.0);
    let view = |shape: [usize; 4]| View::new(&x[..shape.iter().product()], shape).unwrap();
    let mut cache = KvCache::<f32>::sliding([1, 2, 4, 4], 4).unwrap();
    assert_eq!(
        message(cache.append(view([1, 1, 3, 4]), view([1, 1, 2, 4]))),
        "k heads is 3, but must be 2, as in the cache"
    );
    assert_eq!(message(cache.append(view([1, 2, 2, 4]), view([1, 1, 2, 4]))), "v len is 1, but must be 2, as in k");
    cache.append(view([1, 200, 2, 4]), view([1, 200, 2, 4])).unwrap();
    let params = Params::for_head_dim(4);
    let decode = |q, params: &Params| message(cache.decode(q, params, Isa::detect()).map(|_| ()));
    assert_eq!(decode(view([1, 1, 3, 4]), &params), "kv_heads is 2, but must be a divisor of q_heads, 3");
    assert_eq!(
        decode(view([1, 1, 2, 4]), &params),
        "the first key that a query sees is 0, but must be 128 or later: what is before slid out"
    );
    let far = Params { sinks: Some([0.0].into()), ..params.clone() };
    assert_eq!(decode(view([1, 1, 2, 4]), &far), "sinks is 1 numbers, but must be 2, one a q head");
    assert_eq!(message(KvCache::<f32>::sliding([1, 1, 1, 1], 0).map(|_| ())), "keep is 0, but must be at least 1");
    assert!(KvCache::<f32>::new([1, usize::MAX, 2, 2]).is_err());
    assert_eq!(message(cache.keys(0..5).map(|_| ())), "positions is 0..5, but must be a range within 128..200");
    let state = Forward { out: vec![0.0f32; 4], lse: vec![0.0; 2] };
    assert_eq!(
        message(merge(&[&state], [1, 1, 2, 3]).map(|_| ())),
        "out length is 4, but must be 6, as shape [1, 1, 2, 3] has"
    );
    assert_eq!(message(merge::<f32>(&[], [1, 1, 2, 3]).map(|_| ())), "states is none, but must be at least one");
    let shared = |k: [usize; 4], params: &Params| {
        let suffix = (view([2, 3, 2, 4]), view([2, 3, 2, 4]));
        message(
            forward_shared_prefix(view([2, 4, 2, 4]), (view(k), view(k)), suffix, params, Isa::detect()).map(|_| ()),
        )
    };
    assert_eq!(shared([2, 5, 2, 4], &params), "prefix k batch is 2, but must be 1: it is shared");
    let windowed = Params { window: Some(Window { left: 1, right: 0 }), ..params.clone() };
    assert_eq!(shared([1, 5, 2, 4], &windowed), "window is given, but must be None beside a shared prefix");
    let causal = Params { causal: true, ..params };
    assert_eq!(shared([1, 5, 2, 4], &causal), "suffix len is 3, but must be at least 4, the queries that stand in it");
}

#[test]
fn packed_suffixes_of_any_length_share_a_prefix() {
    // Two texts of 2 and 5 tokens after the same 30.
    let (pk, x) = (normal(1, 30 * 16, 1.0), normal(2, 7 * 16, 1.0));
    let segments = Segments::of_lens(&[2, 5]).unwrap();
    let params = Params { causal: true, segments: Some(segments), ..Params::for_head_dim(8) };
    let (prefix, own) = (View::new(&pk, [1, 30, 2, 8]).unwrap(), View::new(&x, [1, 7, 2, 8]).unwrap());
    let plain = Params { segments: None, ..params.clone() };
    for isa in Isa::all() {
        let got = forward_shared_prefix(own, (prefix, prefix), (own, own), &params, isa).unwrap();
        let mut want = Vec::new();
        for text in [0..2usize, 2..7] {
            let x = &x[text.start * 16..text.end * 16];
            let kv = [&pk[..], x].concat();
            let kv = View::new(&kv, [1, 30 + text.len(), 2, 8]).unwrap();
            let q = View::new(x, [1, text.len(), 2, 8]).unwrap();
            want.extend(reference::attention(q, kv, kv, &plain).unwrap().out);
        }
        assert!(worst(&got.out, &want) < 2e-6, "{}: {:e}", isa.name(), worst(&got.out, &want));
    }
}
