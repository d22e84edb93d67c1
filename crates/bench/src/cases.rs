//! Every case there is. A new one is one entry: its name, its sizes, its useful work, and what runs it once.

use std::hint::black_box;

use attnscope_kernel::{
    Element, Error, Gradients, Isa, KvCache, Left, Observe, Params, Segments, View, Window, backward_into, bf16, f16,
    forward_into,
};

use crate::inputs::normal;
use crate::{Case, Once, Shape, Work};

/// Twelve heads, each with keys of its own, as in BERT and GPT-2.
const OWN: [usize; 2] = [12, 12];
/// Thirty-two heads that share the keys of eight, as in Llama 3.
const SHARED: [usize; 2] = [32, 8];

/// The cases, in the order in which they are measured.
pub fn cases() -> Vec<Case> {
    let own = |n| Shape::prefill(OWN, 64, n);
    let shared = |n| Shape::prefill(SHARED, 128, n);
    let decode = |kv_len| Shape::decode(SHARED, 128, kv_len);
    let full = |name, shape| Case::new(name, shape, Work::full(shape), run::<f32>(plain));
    let bf16 = |name, shape| Case::new(name, shape, Work::full(shape), run::<bf16>(plain));
    let f16 = |name, shape| Case::new(name, shape, Work::full(shape), run::<f16>(plain));
    let causal = |name, shape| Case::new(name, shape, Work::causal(shape), run::<f32>(causal_params));
    let only = |name, shape, params: fn(Shape) -> Params| {
        Case::new(name, shape, Work::visible(shape, &params(shape)), run::<f32>(params))
    };
    let f32_cache = |name, shape| Case::new(name, shape, Work::cache(shape, 4), decoded::<f32>());
    let f16_cache = |name, shape| Case::new(name, shape, Work::cache(shape, 2), decoded::<f16>());
    let bf16_cache = |name, shape| Case::new(name, shape, Work::cache(shape, 2), decoded::<bf16>());
    vec![
        full("f32 h12 d64 n512 full", own(512)),
        full("f32 h12 d64 n2048 full", own(2048)),
        full("f32 h12 d64 n8192 full", own(8192)),
        causal("f32 h12 d64 n512 causal", own(512)),
        causal("f32 h12 d64 n2048 causal", own(2048)),
        causal("f32 h12 d64 n8192 causal", own(8192)),
        causal("f32 h32/8 d128 n2048 causal", shared(2048)),
        causal("f32 h32/8 d128 n4096 causal", shared(4096)),
        bf16("bf16 h12 d64 n2048 full", own(2048)),
        f16("f16 h12 d64 n2048 full", own(2048)),
        only("f32 h12 d64 n8192 window512", own(8192), window512),
        only("f32 packed64x128 h12 d64 full", own(64 * 128), packed128),
        Case::new("f32 h12 d64 n2048 full stats+map", own(2048), Work::full(own(2048)), observed()),
        Case::new("f32 h12 d64 n2048 causal fwd+bwd", own(2048), Work::causal(own(2048)).with_backward(), trained()),
        f32_cache("f32 decode h32/8 d128 kv4096", decode(4096)),
        f32_cache("f32 decode h32/8 d128 kv16384", decode(16384)),
        f32_cache("f32 decode h32/8 d128 kv65536", decode(65536)),
        f16_cache("f16 decode h32/8 d128 kv4096", decode(4096)),
        f16_cache("f16 decode h32/8 d128 kv16384", decode(16384)),
        f16_cache("f16 decode h32/8 d128 kv65536", decode(65536)),
        bf16_cache("bf16 decode h32/8 d128 kv4096", decode(4096)),
        bf16_cache("bf16 decode h32/8 d128 kv16384", decode(16384)),
        bf16_cache("bf16 decode h32/8 d128 kv65536", decode(65536)),
    ]
}

fn plain(shape: Shape) -> Params {
    Params::for_head_dim(shape.head_dim)
}

fn causal_params(shape: Shape) -> Params {
    Params { causal: true, ..plain(shape) }
}

/// Each token sees itself and the 511 before it.
fn window512(shape: Shape) -> Params {
    Params { window: Some(Window { left: 511, right: 0 }), ..causal_params(shape) }
}

/// Texts of 128 tokens, one after another.
fn packed128(shape: Shape) -> Params {
    let ends: Vec<usize> = (0..shape.q_len).step_by(128).chain([shape.q_len]).collect();
    Params { segments: Segments::new(ends.clone(), ends).ok(), ..plain(shape) }
}

/// The forward pass on numbers stored as `T`.
fn run<T: Element>(params: fn(Shape) -> Params) -> impl Fn(Shape) -> Result<Once, Error> {
    prepared(params, |q: View<T>, k, v, params, found| {
        let Found { out, left, .. } = found;
        forward_into(q, k, v, params, Isa::detect(), Observe::default(), (out, left))
    })
}

/// The forward pass that leaves statistics of every row and a map of every head.
fn observed() -> impl Fn(Shape) -> Result<Once, Error> {
    let observe = Observe { rows: true, map: Some(128) };
    prepared(plain, move |q: View<f32>, k, v, params, found| {
        let Found { out, left, .. } = found;
        forward_into(q, k, v, params, Isa::detect(), observe, (out, left))
    })
}

/// The forward pass and then the gradients, causal.
fn trained() -> impl Fn(Shape) -> Result<Once, Error> {
    prepared(causal_params, |q: View<f32>, k, v, params, found| {
        let Found { out, left, gradients } = found;
        forward_into(q, k, v, params, Isa::detect(), Observe::default(), (out, left))?;
        let [batch, q_len, q_heads, _] = q.shape();
        let out = View::new(out, [batch, q_len, q_heads, v.shape()[3]])?;
        // Any numbers do for the gradient of the output; those of the output are at hand.
        backward_into(q, k, v, out, &left.lse, out, params, Isa::detect(), gradients)
    })
}

/// One token against a cache of numbers stored as `T`.
fn decoded<T: Element>() -> impl Fn(Shape) -> Result<Once, Error> {
    |shape| {
        let Shape { batch, q_len, kv_len, q_heads, kv_heads, head_dim } = shape;
        let mut cache = KvCache::<T>::new([batch, kv_heads, head_dim, head_dim])?;
        let [k, v] = [2, 3].map(|seed| normal(seed, batch * kv_len * kv_heads * head_dim));
        let kv_shape = [batch, kv_len, kv_heads, head_dim];
        cache.append(View::new(&k, kv_shape)?, View::new(&v, kv_shape)?)?;
        let q = normal(1, batch * q_len * q_heads * head_dim);
        let params = causal_params(shape);
        Ok(Box::new(move || {
            let q = View::new(&q, [batch, q_len, q_heads, head_dim])?;
            cache.decode(q, &params, Isa::detect()).map(|done| drop(black_box(done)))
        }))
    }
}

/// What is found, again and again in the same memory.
#[derive(Default)]
struct Found {
    out: Vec<f32>,
    left: Left,
    gradients: Gradients,
}

/// Makes q, k, v and memory for the output, and hands them to `once` each time.
fn prepared<T: Element>(
    params: fn(Shape) -> Params,
    once: impl Fn(View<T>, View<T>, View<T>, &Params, &mut Found) -> Result<(), Error> + Copy + 'static,
) -> impl Fn(Shape) -> Result<Once, Error> {
    move |shape| {
        let Shape { batch, q_len, kv_len, q_heads, kv_heads, head_dim } = shape;
        let stored = |seed, len| {
            let mut numbers = vec![T::zero(); len];
            T::narrow(&normal(seed, len), &mut numbers);
            numbers
        };
        let q = stored(1, batch * q_len * q_heads * head_dim);
        let [k, v] = [2, 3].map(|seed| stored(seed, batch * kv_len * kv_heads * head_dim));
        let mut found = Found { out: vec![0.0; batch * q_len * q_heads * head_dim], ..Found::default() };
        let params = params(shape);
        Ok(Box::new(move || {
            let q = View::new(&q, [batch, q_len, q_heads, head_dim])?;
            let [k, v] = [
                View::new(&k, [batch, kv_len, kv_heads, head_dim])?,
                View::new(&v, [batch, kv_len, kv_heads, head_dim])?,
            ];
            once(q, k, v, &params, &mut found)?;
            black_box(&found);
            Ok(())
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::cases;
    use crate::{Shape, Work};

    #[test]
    fn names_say_what_the_sizes_are() {
        for case in cases() {
            let Shape { q_len, kv_len, q_heads, kv_heads, head_dim, .. } = case.shape;
            let heads = if q_heads == kv_heads { format!("h{q_heads}") } else { format!("h{q_heads}/{kv_heads}") };
            let length = if q_len == 1 { format!("kv{kv_len}") } else { format!("n{q_len}") };
            let says = |word: String| case.name.split(' ').any(|found| found == word);
            assert!(says(heads) && says(format!("d{head_dim}")), "{}", case.name);
            assert!(says(length) || case.name.contains("packed"), "{}", case.name);
            assert_eq!(matches!(case.work, Work::Bytes(_)), case.name.contains("decode"), "{}", case.name);
        }
        let mut names: Vec<&str> = cases().iter().map(|case| case.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), cases().len(), "a name is one case's");
    }

    /// At sizes that take no time.
    #[test]
    fn every_case_runs() {
        for case in cases() {
            let Shape { q_len, kv_len, .. } = case.shape;
            let small = Shape { q_len: q_len.min(40), kv_len: kv_len.min(40), ..case.shape };
            let mut once = (case.prepare)(small).unwrap();
            once().unwrap_or_else(|error| panic!("{}: {error}", case.name));
        }
    }
}
