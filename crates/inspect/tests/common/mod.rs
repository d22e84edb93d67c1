//! Traces of random numbers, the same in every run.
#![allow(dead_code, reason = "every test that includes this uses a part of it")]

use attnscope_inspect::{Model, Site, SiteKind, Tensor, Token, Trace};
use attnscope_kernel::{Isa, Params, View, forward};

/// Sizes of a random trace.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    pub(crate) len: usize,
    pub(crate) layers: usize,
    pub(crate) q_heads: usize,
    pub(crate) kv_heads: usize,
    pub(crate) head_dim: usize,
    pub(crate) v_head_dim: usize,
}

pub(crate) const SMALL: Sizes = Sizes { len: 11, layers: 2, q_heads: 4, kv_heads: 2, head_dim: 5, v_head_dim: 3 };

/// Numbers around 0, up to 2 away. (splitmix64, Steele 2014)
pub(crate) fn numbers(seed: u64, count: usize) -> Vec<f32> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 40) as f32 / (1 << 24) as f32
    };
    (0..count).map(|_| 4.0 * next() - 2.0).collect()
}

/// One site of a run, `q_len` queries at the end of `kv_len` keys.
pub(crate) fn site(kind: SiteKind, layer: usize, q_len: usize, kv_len: usize, sizes: Sizes, params: &Params) -> Site {
    let Sizes { q_heads, kv_heads, head_dim, v_head_dim, .. } = sizes;
    let seed = 1000 + 10 * layer as u64;
    let q = numbers(seed, q_len * q_heads * head_dim);
    let k = numbers(seed + 1, kv_len * kv_heads * head_dim);
    let v = numbers(seed + 2, kv_len * kv_heads * v_head_dim);
    let view = |data, shape| View::new(data, shape).unwrap();
    let done = forward(
        view(&q, [1, q_len, q_heads, head_dim]),
        view(&k, [1, kv_len, kv_heads, head_dim]),
        view(&v, [1, kv_len, kv_heads, v_head_dim]),
        params,
        Isa::detect(),
    );
    let done = done.unwrap();
    Site {
        kind,
        layer,
        params: params.clone(),
        q: Tensor::new(q, [q_len, q_heads, head_dim]),
        k: Tensor::new(k, [kv_len, kv_heads, head_dim]),
        v: Tensor::new(v, [kv_len, kv_heads, v_head_dim]),
        out: Tensor::new(done.out, [q_len, q_heads, v_head_dim]),
        lse: done.lse.into(),
    }
}

/// A run of one text.
pub(crate) fn trace(sizes: Sizes, params: &Params) -> Trace {
    let sites = (0..sizes.layers)
        .map(|layer| site(SiteKind::SelfAttention, layer, sizes.len, sizes.len, sizes, params))
        .collect();
    Trace::new(model(), "some text".to_owned(), tokens(sizes.len), sites).unwrap()
}

/// Tokens `t0`, `t1` and so on, with one of every kind among them.
pub(crate) fn tokens(len: usize) -> Vec<Token> {
    let mut tokens: Vec<Token> = (0..len).map(|i| Token::plain(Some(i as u32 * 3), format!(" t{i}"))).collect();
    if len > 4 {
        tokens[0] = Token { id: None, text: "[CLS]".to_owned(), special: true, part: None };
        tokens[3] = Token { part: Some((0, 2)), ..Token::plain(Some(7), "é\n\"\\\u{0}") };
        tokens[4] = Token { part: Some((1, 2)), ..Token::plain(Some(8), "é\n\"\\\u{0}") };
    }
    tokens
}

fn model() -> Model {
    Model {
        name: "a \"model\"".to_owned(),
        family: "llama".to_owned(),
        sha256: Some("00ff".to_owned()),
        note: "made of random numbers".to_owned(),
    }
}
