//! The textbook form, which holds every weight, against ours, by length: one head of 64, bidirectional.

use attnscope_kernel::{Isa, Params, View, forward, reference, working_bytes};
use serde::Serialize;

use crate::Error;
use crate::inputs::normal;
use crate::measure::{Effort, measure};

/// Length of a query, a key and a value.
const HEAD_DIM: usize = 64;

/// What it is called among the cases.
pub(crate) const NAME: &str = "naive against ours";

/// Both at one length.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Point {
    /// Tokens.
    pub n: usize,
    /// The textbook form, milliseconds.
    pub naive_ms: f64,
    /// Ours.
    pub ours_ms: f64,
    /// What the textbook form holds beside q, k, v and out: the n x n weights.
    pub naive_bytes: usize,
    /// What ours holds: lse, and the working memory of each thread.
    pub ours_bytes: usize,
    /// Whether other processes were in the way too often for the times to be trusted.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub noisy: bool,
}

/// The lengths of the curve.
pub(crate) fn lengths(quick: bool) -> &'static [usize] {
    if quick { &[256, 512, 1024, 2048, 4096] } else { &[256, 512, 1024, 2048, 4096, 8192] }
}

/// Measures both at one length.
pub(crate) fn point(n: usize, effort: Effort) -> Result<Point, Error> {
    let [q, k, v] = [1, 2, 3].map(|seed| normal(seed, n * HEAD_DIM));
    let view = |data| View::new(data, [1, n, 1, HEAD_DIM]);
    let (q, k, v) = (view(&q)?, view(&k)?, view(&v)?);
    let (params, isa) = (Params::for_head_dim(HEAD_DIM), Isa::detect());
    let ours = measure(effort, &mut || Ok(forward(q, k, v, &params, isa).map(std::hint::black_box).map(drop)?))?;
    let naive =
        measure(effort, &mut || Ok(reference::textbook(q, k, v, &params).map(std::hint::black_box).map(drop)?))?;
    Ok(Point {
        n,
        naive_ms: naive.median_s * 1e3,
        ours_ms: ours.median_s * 1e3,
        naive_bytes: n * n * size_of::<f32>(),
        ours_bytes: n * size_of::<f64>()
            + working_bytes(rayon::current_num_threads(), (1, n), (HEAD_DIM, HEAD_DIM), isa),
        noisy: naive.noisy || ours.noisy,
    })
}
