//! Nothing is read but what was given: every tensor lies in a larger buffer whose surroundings, before, after and between
//! its rows, are poison (NaN and infinity), and whatever is found is bit for bit what the same numbers by themselves
//! give. Where it writes into memory of the caller's, it writes all of that and nothing beside it.

mod common;

use attnscope_kernel::{
    Element, Forward, Gradients, Isa, KvCache, Left, Observe, Observed, Params, Recall, Rectangle, RowStats, Segments,
    View, Window, backward, backward_into, bf16, f16, forward, forward_into, forward_observed, forward_shared_prefix,
};
use common::{Case, case_of, normal};
use proptest::prelude::*;

/// How rows lie in a buffer: (batch, len, heads, dim) or (batch, heads, len, dim), with so much poison after every row,
/// after every run of rows and after every batch.
#[derive(Clone, Copy, Debug)]
struct Layout {
    by_head: bool,
    gaps: [usize; 3],
}

fn layout() -> impl Strategy<Value = Layout> {
    (any::<bool>(), prop::array::uniform3(0..19usize)).prop_map(|(by_head, gaps)| Layout { by_head, gaps })
}

/// Poison on either side of a tensor, in numbers: more than any vector or page of memory is long.
const MARGIN: usize = 2100;

/// A tensor in a larger buffer.
struct Guarded<T> {
    buffer: Vec<T>,
    shape: [usize; 4],
    strides: [usize; 3],
}

impl<T: Element> Guarded<T> {
    fn new(x: &[T], shape: [usize; 4], layout: Layout) -> Self {
        let [batch, len, heads, dim] = shape;
        let [row, run, whole] = layout.gaps;
        let inner = dim + row;
        let (strides, all) = if layout.by_head {
            let head = len * inner + run;
            ([heads * head + whole, inner, head], batch * (heads * head + whole))
        } else {
            let position = heads * inner + run;
            ([len * position + whole, position, inner], batch * (len * position + whole))
        };
        let mut buffer = poison(2 * MARGIN + all);
        let rows = x.chunks_exact(dim.max(1));
        for (at, row) in rows.enumerate() {
            let (b, i, h) = (at / heads / len, at / heads % len, at % heads);
            let first = MARGIN + b * strides[0] + i * strides[1] + h * strides[2];
            buffer[first..first + dim].copy_from_slice(row);
        }
        Self { buffer, shape, strides }
    }

    /// What follows the tensor is within the slice, so that nothing but the kernel's own care keeps it from being read.
    fn view(&self) -> View<'_, T> {
        View::strided(&self.buffer[MARGIN..], self.shape, self.strides).unwrap()
    }
}

fn poison<T: Element>(len: usize) -> Vec<T> {
    let mut poison = vec![T::zero(); len];
    let wide: Vec<f32> = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY].into_iter().cycle().take(len).collect();
    T::narrow(&wide, &mut poison);
    poison
}

fn stored<T: Element>(x: &[f32]) -> Vec<T> {
    let mut narrow = vec![T::zero(); x.len()];
    T::narrow(x, &mut narrow);
    narrow
}

/// The bits of f32 numbers: -0 is not 0, and a NaN is itself.
fn bits(x: &[f32]) -> Vec<u32> {
    x.iter().map(|x| x.to_bits()).collect()
}

fn wide_bits(x: &[f64]) -> Vec<u64> {
    x.iter().map(|x| x.to_bits()).collect()
}

/// The bits of stored numbers, made f32, which loses none of them.
fn stored_bits<T: Element>(x: &[T]) -> Vec<u32> {
    let mut wide = vec![0.0; x.len()];
    T::widen(x, &mut wide);
    bits(&wide)
}

fn of_forward(done: &Forward) -> (Vec<u32>, Vec<u64>) {
    (bits(&done.out), wide_bits(&done.lse))
}

fn of_observed(seen: &Observed) -> impl PartialEq + std::fmt::Debug + use<> {
    let (rows, map) = (seen.rows.as_ref().unwrap(), seen.map.as_ref().unwrap());
    let row = |r: &RowStats| (bits(&[r.entropy, r.max, r.first, r.own, r.previous, r.distance]), r.max_key);
    let rows: Vec<_> = rows.iter().map(row).collect();
    (rows, [map.side, map.rows, map.columns], bits(&map.mean), bits(&map.max), map.visible.clone())
}

fn of_gradients(d: &Gradients) -> Vec<Vec<u32>> {
    let all = [Some(&d.dq), Some(&d.dk), Some(&d.dv), d.d_bias.as_ref(), d.d_sinks.as_ref()];
    all.into_iter().flatten().map(|x| bits(x)).collect()
}

/// q, k and v of a case as `T`, by themselves and among poison.
struct Both<T> {
    plain: [(Vec<T>, [usize; 4]); 3],
    guarded: [Guarded<T>; 3],
}

impl<T: Element> Both<T> {
    fn new(case: &Case, layouts: [Layout; 3]) -> Self {
        let plain = [(&case.q, case.q_shape), (&case.k, case.k_shape), (&case.v, case.v_shape)]
            .map(|(x, shape)| (stored::<T>(x), shape));
        let guarded = [0, 1, 2].map(|at| Guarded::new(&plain[at].0, plain[at].1, layouts[at]));
        Self { plain, guarded }
    }

    fn plain(&self) -> [View<'_, T>; 3] {
        self.plain.each_ref().map(|(x, shape)| View::new(x, *shape).unwrap())
    }

    fn guarded(&self) -> [View<'_, T>; 3] {
        self.guarded.each_ref().map(Guarded::view)
    }
}

/// That what `run` finds is the same by itself and among poison, on every instruction set.
fn same<T: Element, R: PartialEq + std::fmt::Debug>(
    case: &Case,
    layouts: [Layout; 3],
    run: impl Fn([View<T>; 3], Isa) -> R,
) -> Result<(), TestCaseError> {
    let both = Both::<T>::new(case, layouts);
    for isa in Isa::all() {
        let (plain, guarded) = (run(both.plain(), isa), run(both.guarded(), isa));
        prop_assert!(plain == guarded, "{} on {}: {plain:?}, but {guarded:?} among poison", T::NAME, isa.name());
    }
    Ok(())
}

/// Memory of the caller's that held poison is written whole, with what was found before, rounded to the type of that memory,
/// and nothing beside it.
fn written<T: Element, O: Element>(found: &Forward, [q, k, v]: [View<T>; 3], params: &Params, isa: Isa) {
    let (len, mut out) = (found.out.len(), poison::<O>(found.out.len() + 2 * MARGIN));
    let untouched = stored_bits(&out);
    let mut left = Left::default();
    forward_into(q, k, v, params, isa, Observe::default(), (&mut out[MARGIN..][..len], &mut left)).unwrap();
    let lse = left.lse;
    let (out, inner) = (stored_bits(&out), MARGIN..MARGIN + len);
    let want = (stored_bits(&stored::<O>(&found.out)), wide_bits(&found.lse));
    assert_eq!(want, (out[inner.clone()].to_vec(), wide_bits(&lse)), "{} on {}", O::NAME, isa.name());
    assert_eq!((&out[..inner.start], &out[inner.end..]), (&untouched[..inner.start], &untouched[inner.end..]));
}

fn written_in_every_type<T: Element>(found: &Forward, views: [View<T>; 3], params: &Params, isa: Isa) {
    written::<T, f32>(found, views, params, isa);
    written::<T, f16>(found, views, params, isa);
    written::<T, bf16>(found, views, params, isa);
}

/// Everything that one forward pass and questions to it give.
fn forwards<T: Element>(
    params: &Params,
    [q, k, v]: [View<T>; 3],
    isa: Isa,
) -> impl PartialEq + std::fmt::Debug + use<T> {
    let plain = forward(q, k, v, params, isa).unwrap();
    written_in_every_type(&plain, [q, k, v], params, isa);
    let observe = Observe { rows: true, map: Some(3) };
    let (watched, seen) = forward_observed::<T, f32>(q, k, v, params, isa, observe).unwrap();
    // The log-sum-exps too lie among poison.
    let mut lse = vec![f64::NAN; plain.lse.len() + 2 * MARGIN];
    lse[MARGIN..][..plain.lse.len()].copy_from_slice(&plain.lse);
    let recall = Recall::new(q, k, &lse[MARGIN..][..plain.lse.len()], params, isa).unwrap();
    let (queries, keys, last) = (q.shape()[1], k.shape()[1], q.shape()[2] - 1);
    let tile = recall.tile(0, last, queries / 3..queries, keys / 3..keys).unwrap();
    let column = recall.tile(0, last, 0..queries, keys - 1..keys).unwrap();
    let whole = Rectangle { queries: 0..queries, keys: 0..keys, rows: 3, columns: 5 };
    let pooled = recall.pooled(0, last, &whole).unwrap();
    let asked = [&tile.scores, &tile.weights, &column.weights].map(|x| wide_bits(x));
    (
        (of_forward(&plain), of_forward(&watched)),
        of_observed(&seen),
        (asked, bits(&pooled.mean), bits(&pooled.max), pooled.hidden),
    )
}

/// The gradients, with everything that came back, out in f32 and d_out as `T`, among poison as well where layouts for it are
/// given.
fn gradients<T: Element>(
    case: &Case,
    [q, k, v]: [View<T>; 3],
    layouts: Option<[Layout; 2]>,
    isa: Isa,
) -> Vec<Vec<u32>> {
    let [batch, q_len, q_heads, _] = case.q_shape;
    let shape = [batch, q_len, q_heads, case.v_shape[3]];
    let params = Params { knockouts: Vec::new(), ..case.params.clone() };
    let done = forward(q, k, v, &params, isa).unwrap();
    let d_out = stored::<T>(&normal(77, done.out.len(), 1.0));
    let Some([of_out, of_d_out]) = layouts else {
        let (out, d_out) = (View::new(&done.out, shape).unwrap(), View::new(&d_out, shape).unwrap());
        return of_gradients(&backward(q, k, v, out, &done.lse, d_out, &params, isa).unwrap());
    };
    let (out, d_out) = (Guarded::new(&done.out, shape, of_out), Guarded::new(&d_out, shape, of_d_out));
    let mut lse = vec![f64::NAN; done.lse.len() + 2 * MARGIN];
    lse[MARGIN..][..done.lse.len()].copy_from_slice(&done.lse);
    let lse = &lse[MARGIN..][..done.lse.len()];
    of_gradients(&backward(q, k, v, out.view(), lse, d_out.view(), &params, isa).unwrap())
}

/// The forward pass observed, and the gradients, in memory that held something.
fn into_again(
    case: &Case,
    [q, k, v]: [View<f32>; 3],
    (left, d): (&mut Left, &mut Gradients),
    isa: Isa,
) -> impl PartialEq + std::fmt::Debug + use<> {
    let [batch, q_len, q_heads, _] = case.q_shape;
    let shape = [batch, q_len, q_heads, case.v_shape[3]];
    let params = Params { knockouts: Vec::new(), ..case.params.clone() };
    let observe = Observe { rows: true, map: Some(3) };
    let mut out = poison::<f32>(shape.iter().product());
    forward_into(q, k, v, &params, isa, observe, (&mut out, left)).unwrap();
    let d_out = normal(77, out.len(), 1.0);
    let [of_out, of_d_out] = [&out, &d_out].map(|x| View::new(x, shape).unwrap());
    backward_into(q, k, v, of_out, &left.lse, of_d_out, &params, isa, d).unwrap();
    (bits(&out), wide_bits(&left.lse), of_observed(&left.observed), of_gradients(d))
}

/// What a cache gives that was filled from such views, `piece` positions at a time.
fn appended<T: Element>(mut cache: KvCache<T>, k: View<T>, v: View<T>, piece: usize) -> KvCache<T> {
    let [batch, len, heads, _] = k.shape();
    let rows = |x: View<T>, first: usize, n: usize| {
        // A piece of a view is a view of some of its rows; laid out anew, between poison.
        let mut rows = Vec::new();
        for b in 0..batch {
            for at in first..first + n {
                (0..heads).for_each(|head| rows.extend_from_slice(x.row(b, at, head)));
            }
        }
        Guarded::new(&rows, [batch, n, heads, x.shape()[3]], Layout { by_head: true, gaps: [3, 1, 5] })
    };
    for first in (0..len).step_by(piece) {
        let n = piece.min(len - first);
        cache.append(rows(k, first, n).view(), rows(v, first, n).view()).unwrap();
    }
    cache
}

/// Appends `n` positions that are poison.
fn poisoned<T: Element>(cache: &mut KvCache<T>, n: usize) {
    let [batch, heads, dim, v_dim] = cache.shape();
    let rows = |dim| poison::<T>(batch * n * heads * dim);
    let (k, v) = (rows(dim), rows(v_dim));
    let view = |x, dim| View::new(x, [batch, n, heads, dim]).unwrap();
    cache.append(view(&k, dim), view(&v, v_dim)).unwrap();
}

/// Decoding from a cache whose pages held poison before, and hold it after the last position again.
fn cached<T: Element>(case: &Case, [q, k, v]: [View<T>; 3], piece: usize, isa: Isa) -> [(Vec<u32>, Vec<u64>); 2] {
    let shape = [case.k_shape[0], case.k_shape[2], case.k_shape[3], case.v_shape[3]];
    let clean = appended(KvCache::<T>::new(shape).unwrap(), k, v, piece);
    let mut used = KvCache::<T>::new(shape).unwrap();
    poisoned(&mut used, 300);
    used.truncate(0).unwrap();
    let mut used = appended(used, k, v, piece);
    poisoned(&mut used, 150);
    used.truncate(clean.len()).unwrap();
    [clean, used].map(|cache| of_forward(&cache.decode(q, &case.params, isa).unwrap()))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(48) })]

    #[test]
    fn forward_and_its_questions(case in case_of(1..70, 1..200), layouts in prop::array::uniform3(layout())) {
        same::<f32, _>(&case, layouts, |views, isa| forwards(&case.params, views, isa))?;
        same::<f16, _>(&case, layouts, |views, isa| forwards(&case.params, views, isa))?;
        same::<bf16, _>(&case, layouts, |views, isa| forwards(&case.params, views, isa))?;
    }

    #[test]
    fn few_queries(case in case_of(1..6, 1..700), layouts in prop::array::uniform3(layout())) {
        fn run<T: Element>(case: &Case, views: [View<T>; 3], isa: Isa) -> impl PartialEq + std::fmt::Debug + use<T> {
            let [q, k, v] = views;
            let done = forward(q, k, v, &case.params, isa).unwrap();
            written_in_every_type(&done, views, &case.params, isa);
            of_forward(&done)
        }
        same::<f32, _>(&case, layouts, |views, isa| run(&case, views, isa))?;
        same::<f16, _>(&case, layouts, |views, isa| run(&case, views, isa))?;
        same::<bf16, _>(&case, layouts, |views, isa| run(&case, views, isa))?;
    }

    #[test]
    fn caches(case in case_of(1..20, 1..400), layouts in prop::array::uniform3(layout()), piece in 1..60usize) {
        fn run<T: Element>(case: &Case, layouts: [Layout; 3], piece: usize) -> Result<(), TestCaseError> {
            let both = Both::<T>::new(case, layouts);
            for isa in Isa::all() {
                let [clean, used] = cached(case, both.plain(), piece, isa);
                prop_assert_eq!(&clean, &used, "{} on {}", T::NAME, isa.name());
                prop_assert_eq!([clean, used], cached(case, both.guarded(), piece, isa), "{}", isa.name());
            }
            Ok(())
        }
        run::<f32>(&case, layouts, piece)?;
        run::<f16>(&case, layouts, piece)?;
        run::<bf16>(&case, layouts, piece)?;
    }

    #[test]
    fn gradients_too(
        case in case_of(1..90, 1..330),
        layouts in prop::array::uniform3(layout()),
        back in prop::array::uniform2(layout()),
    ) {
        fn run<T: Element>(case: &Case, layouts: [Layout; 3], back: [Layout; 2]) -> Result<(), TestCaseError> {
            let both = Both::<T>::new(case, layouts);
            for isa in Isa::all() {
                let plain = gradients(case, both.plain(), None, isa);
                prop_assert!(plain == gradients(case, both.guarded(), Some(back), isa), "{}", isa.name());
            }
            Ok(())
        }
        run::<f32>(&case, layouts, back)?;
        run::<f16>(&case, layouts, back)?;
        run::<bf16>(&case, layouts, back)?;
    }

    /// What an operation left is used for the next, whose shapes are others, and nothing of it shows.
    #[test]
    fn memory_that_is_used_again(before in case_of(1..90, 1..330), case in case_of(1..90, 1..330)) {
        let before = Case { q: poison(before.q.len()), k: poison(before.k.len()), v: poison(before.v.len()), ..before };
        let layouts = [Layout { by_head: false, gaps: [0; 3] }; 3];
        let (poisoned, clean) = (Both::<f32>::new(&before, layouts), Both::<f32>::new(&case, layouts));
        for isa in Isa::all() {
            let (mut left, mut d) = (Left::default(), Gradients::default());
            into_again(&before, poisoned.plain(), (&mut left, &mut d), isa);
            let again = into_again(&case, clean.plain(), (&mut left, &mut d), isa);
            let anew = into_again(&case, clean.plain(), (&mut Left::default(), &mut Gradients::default()), isa);
            prop_assert!(again == anew, "{}: {again:?} is not {anew:?}", isa.name());
        }
    }

    #[test]
    fn a_shared_prefix(
        case in case_of(1..12, 12..60),
        layouts in prop::array::uniform3(layout()),
        prefix_len in 1..150usize,
    ) {
        let Params { scale, softcap, causal, ref sinks, ref bias, ref key_padding, .. } = case.params;
        let (sinks, bias, key_padding) = (sinks.clone(), bias.clone(), key_padding.clone());
        let params = Params { scale, softcap, causal, sinks, bias, key_padding, ..Params::for_head_dim(1) };
        let [_, _, heads, dim] = case.k_shape;
        let prefix_case = Case {
            q: Vec::new(),
            q_shape: [0, 0, 1, dim],
            k: normal(5, prefix_len * heads * dim, 1.0),
            v: normal(6, prefix_len * heads * case.v_shape[3], 1.0),
            k_shape: [1, prefix_len, heads, dim],
            v_shape: [1, prefix_len, heads, case.v_shape[3]],
            params: params.clone(),
        };
        let [_, k_layout, v_layout] = layouts;
        let prefix = Both::<f32>::new(&prefix_case, [layouts[0], v_layout, k_layout]);
        let own = Both::<f32>::new(&case, layouts);
        for isa in Isa::all() {
            let run = |[q, k, v]: [View<f32>; 3], [_, pk, pv]: [View<f32>; 3]| {
                of_forward(&forward_shared_prefix(q, (pk, pv), (k, v), &params, isa).unwrap())
            };
            let plain = run(own.plain(), prefix.plain());
            prop_assert!(plain == run(own.guarded(), prefix.guarded()), "{}", isa.name());
        }
    }
}

/// The sizes that the tiles are made for, and their neighbours.
#[test]
fn tuned_sizes_and_their_neighbours() {
    let layouts = [[7, 0, 1], [0, 3, 2], [1, 1, 1]].map(|gaps| Layout { by_head: gaps[0] == 7, gaps });
    for dim in [1usize, 16, 63, 64, 65, 128, 130, 256] {
        for q_len in [1, 3, 33] {
            let (q_shape, k_shape, v_shape) = ([1, q_len, 4, dim], [1, 70, 2, dim], [1, 70, 2, dim.div_ceil(2)]);
            let x = |seed, shape: [usize; 4]| normal(seed, shape.iter().product(), 1.0);
            let params = Params { causal: true, ..Params::for_head_dim(dim) };
            let (q, k, v) = (x(1, q_shape), x(2, k_shape), x(3, v_shape));
            let case = Case { q, k, v, q_shape, k_shape, v_shape, params };
            same::<f32, _>(&case, layouts, |views, isa| forwards(&case.params, views, isa)).unwrap();
            same::<bf16, _>(&case, layouts, |views, isa| forwards(&case.params, views, isa)).unwrap();
            let both = Both::<f32>::new(&case, layouts);
            for isa in Isa::all() {
                let plain = gradients(&case, both.plain(), None, isa);
                assert_eq!(
                    plain,
                    gradients(&case, both.guarded(), Some([layouts[1], layouts[2]]), isa),
                    "{}",
                    isa.name()
                );
            }
        }
    }
}

/// A sliding cache uses pages again: what they held is not read.
#[test]
fn pages_that_slid_out_leave_nothing_behind() {
    let shape = [2, 2, 40, 24];
    let (first, len) = (256, 300);
    let (k, v) = (normal(2, 2 * len * 2 * 40, 1.0), normal(3, 2 * len * 2 * 24, 1.0));
    let q = normal(1, 2 * 2 * 4 * 40, 1.0);
    let (k, v) = (View::new(&k, [2, len, 2, 40]).unwrap(), View::new(&v, [2, len, 2, 24]).unwrap());
    let q = View::new(&q, [2, 2, 4, 40]).unwrap();
    let window = Some(Window { left: 150, right: 0 });
    let params = Params { causal: true, window, ..Params::for_head_dim(40) };
    let mut poison = KvCache::<f32>::sliding(shape, 160).unwrap();
    poisoned(&mut poison, first);
    let zeros = |dim| vec![0.0; 2 * first * 2 * dim];
    let (no_k, no_v) = (zeros(40), zeros(24));
    let mut clean = KvCache::<f32>::sliding(shape, 160).unwrap();
    let view = |x, dim| View::new(x, [2, first, 2, dim]).unwrap();
    clean.append(view(&no_k, 40), view(&no_v, 24)).unwrap();
    let [poison, clean] = [poison, clean].map(|cache| appended(cache, k, v, 7));
    assert!(poison.held().start >= first, "{:?}", poison.held());
    for isa in Isa::all() {
        let [poison, clean] = [&poison, &clean].map(|cache| of_forward(&cache.decode(q, &params, isa).unwrap()));
        assert_eq!(poison, clean, "{}", isa.name());
    }
}

/// A map in memory that counted cells, of queries of which none sees a key.
#[test]
fn cells_that_nobody_sees_are_counted_anew() {
    let numbers = normal(1, 64 * 8, 1.0);
    let x = View::new(&numbers, [1, 64, 1, 8]).unwrap();
    let params = Params::for_head_dim(8);
    let nothing = Params { segments: Some(Segments::new([0, 0, 64], [0, 64, 64]).unwrap()), ..params.clone() };
    let observe = Observe { rows: true, map: Some(4) };
    for isa in Isa::all() {
        let (mut out, mut left) = (vec![0.0f32; 64 * 8], Left::default());
        forward_into(x, x, x, &params, isa, observe, (&mut out, &mut left)).unwrap();
        forward_into(x, x, x, &nothing, isa, observe, (&mut out, &mut left)).unwrap();
        let map = left.observed.map.unwrap();
        assert_eq!((map.visible, map.mean, map.max), (vec![0; 16], vec![0.0; 16], vec![0.0; 16]));
    }
}
