use std::time::Instant;

use attnscope_kernel::{Isa, Params, View, Window, forward, reference, working_bytes};
use serde::Serialize;

use super::normal;
use crate::{Error, Model, Proof, Site, SiteKind, Tensor, Token, Trace};

/// Length of a query, a key and a value.
const HEAD_DIM: usize = 64;
/// Beyond this, the textbook form would hold more than 64 MiB of weights for one head.
const TEXTBOOK: usize = 4096;
/// How far the window reaches back.
const LEFT: usize = 127;

/// What attention over `n` tokens costs on this machine: one causal head, all cores.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Bill {
    /// Number of tokens.
    pub n: usize,
    /// Length of a query, a key and a value.
    pub head_dim: usize,
    /// The textbook form, which holds all n x n weights; null where n is too large for it.
    pub naive: Option<Cost>,
    /// The blocked form, which holds none.
    pub ours: Cost,
    /// The blocked form with a sliding window.
    pub window: Cost,
    /// How far the window reaches back.
    pub window_left: usize,
    /// The largest difference between the textbook's output and ours.
    pub largest_difference: Option<f64>,
    /// The proof of our head.
    pub proof: Proof,
}

/// Time and memory of one way.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Cost {
    /// Milliseconds, the median of three runs.
    pub ms: f64,
    /// What must be held beside q, k, v and out, in bytes.
    pub bytes: usize,
}

/// Measures attention over `n` random tokens.
///
/// # Errors
/// If the kernel refuses.
pub fn bill(n: usize) -> Result<Bill, Error> {
    let isa = Isa::detect();
    let [q, k, v] = [1, 2, 3].map(|seed| normal(seed, n * HEAD_DIM));
    let view = |data| View::new(data, [1, n, 1, HEAD_DIM]);
    let (q_view, k_view, v_view) = (view(&q)?, view(&k)?, view(&v)?);
    let params = Params { causal: true, ..Params::for_head_dim(HEAD_DIM) };
    let windowed = Params { window: Some(Window { left: LEFT, right: 0 }), ..params.clone() };
    let bytes = n * size_of::<f64>() + working_bytes(rayon::current_num_threads(), (1, n), (HEAD_DIM, HEAD_DIM), isa);

    let (ms, done) = median(|| forward(q_view, k_view, v_view, &params, isa))?;
    let ours = Cost { ms, bytes };
    let (ms, _) = median(|| forward(q_view, k_view, v_view, &windowed, isa))?;
    let window = Cost { ms, bytes };
    let textbook = || reference::textbook(q_view, k_view, v_view, &params);
    let naive = if n <= TEXTBOOK { Some(median(textbook)?) } else { None };
    let difference = |out: &[f32]| {
        let pairs = out.iter().zip(&done.out);
        pairs.map(|(a, b)| f64::from(a - b).abs()).fold(0.0, f64::max)
    };
    let largest_difference = naive.as_ref().map(|(_, out)| difference(out));
    let naive = naive.map(|(ms, _)| Cost { ms, bytes: n * n * size_of::<f32>() });

    let tensor = |data| Tensor::new(data, [n, 1, HEAD_DIM]);
    let site = Site {
        kind: SiteKind::SelfAttention,
        layer: 0,
        params,
        q: tensor(q),
        k: tensor(k),
        v: tensor(v),
        out: tensor(done.out),
        lse: done.lse.into(),
    };
    let tokens = vec![Token::plain(None, ""); n];
    let heads = Trace::new(Model::default(), String::new(), tokens, vec![site])?.heads(None)?;
    let proof = heads.first().map(|head| head.proof).unwrap_or_default();
    Ok(Bill { n, head_dim: HEAD_DIM, naive, ours, window, window_left: LEFT, largest_difference, proof })
}

/// (milliseconds, the answer) of the middle one of three runs.
fn median<T, E>(run: impl Fn() -> Result<T, E>) -> Result<(f64, T), E> {
    let once = || {
        let begun = Instant::now();
        run().map(|answer| (begun.elapsed().as_secs_f64() * 1e3, answer))
    };
    let mut runs = [once()?, once()?, once()?];
    runs.sort_by(|a, b| a.0.total_cmp(&b.0));
    let [_, middle, _] = runs;
    Ok(middle)
}
