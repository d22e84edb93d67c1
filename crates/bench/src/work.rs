//! What a case has to do, however it is done: what an implementation adds to it earns nothing.

use attnscope_kernel::{Mask, Params};

use crate::Shape;

/// The useful work of one run, and the limit that it is held against.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Work {
    /// Floating-point operations; a multiply-add is two. Held against the peak.
    Flops(f64),
    /// Bytes that must be read. Held against the bandwidth of memory.
    Bytes(f64),
}

impl Work {
    /// Attention of every query to every key: q . k and weight * v are 2 d operations a cell each.
    pub fn full(shape: Shape) -> Self {
        Self::Flops(cell(shape) * shape.q_len as f64 * shape.kv_len as f64)
    }

    /// Causal attention: half of it.
    pub fn causal(shape: Shape) -> Self {
        Self::Flops(cell(shape) * shape.q_len as f64 * shape.kv_len as f64 / 2.0)
    }

    /// The cells alone that `params` leaves visible.
    pub fn visible(shape: Shape, params: &Params) -> Self {
        let mask = Mask::new(params, shape.q_len, shape.kv_len);
        let cells: usize = (0..shape.q_len).map(|query| mask.visible(query).len()).sum();
        Self::Flops(cell(shape) * cells as f64)
    }

    /// K and V, each once, in numbers of `bytes` bytes.
    pub fn cache(shape: Shape, bytes: usize) -> Self {
        Self::Bytes(2.0 * (shape.batch * shape.kv_len * shape.kv_heads * shape.head_dim * bytes) as f64)
    }

    /// Forward and backward: two products of matrices forward, five backward, are 3.5 times as much.
    pub fn with_backward(self) -> Self {
        match self {
            Self::Flops(flops) => Self::Flops(3.5 * flops),
            Self::Bytes(bytes) => Self::Bytes(3.5 * bytes),
        }
    }
}

/// Operations of one (query, key) pair in all heads.
fn cell(shape: Shape) -> f64 {
    4.0 * (shape.batch * shape.q_heads * shape.head_dim) as f64
}
