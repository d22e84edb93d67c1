use attnscope_kernel::Error;

use crate::Work;

/// Sizes of one operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Texts side by side.
    pub batch: usize,
    /// Queries of a text.
    pub q_len: usize,
    /// Keys of a text.
    pub kv_len: usize,
    /// Heads that ask.
    pub q_heads: usize,
    /// Heads that are asked.
    pub kv_heads: usize,
    /// Length of a query, a key and a value.
    pub head_dim: usize,
}

impl Shape {
    /// One text of `n` tokens that attends to itself.
    pub(crate) const fn prefill([q_heads, kv_heads]: [usize; 2], head_dim: usize, n: usize) -> Self {
        Self { batch: 1, q_len: n, kv_len: n, q_heads, kv_heads, head_dim }
    }

    /// One new token after `kv_len` - 1 others.
    pub(crate) const fn decode([q_heads, kv_heads]: [usize; 2], head_dim: usize, kv_len: usize) -> Self {
        Self { batch: 1, q_len: 1, kv_len, q_heads, kv_heads, head_dim }
    }
}

/// What runs a case once, its inputs inside.
pub type Once = Box<dyn FnMut() -> Result<(), Error>>;

/// One thing to measure.
pub struct Case {
    /// Its name in tables and JSON.
    pub name: &'static str,
    /// Its sizes.
    pub shape: Shape,
    /// What one run has to do.
    pub work: Work,
    /// Makes its inputs and gives what runs it.
    pub prepare: Box<dyn Fn(Shape) -> Result<Once, Error>>,
}

impl Case {
    pub(crate) fn new(
        name: &'static str,
        shape: Shape,
        work: Work,
        prepare: impl Fn(Shape) -> Result<Once, Error> + 'static,
    ) -> Self {
        Self { name, shape, work, prepare: Box::new(prepare) }
    }
}
