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
        let cells: usize = (0..shape.q_len).map(|query| mask.span(query).len()).sum();
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

#[cfg(test)]
mod tests {
    use attnscope_kernel::{Params, Window};

    use super::Work;
    use crate::Shape;

    const SHAPE: Shape = Shape { batch: 1, q_len: 2048, kv_len: 2048, q_heads: 12, kv_heads: 12, head_dim: 64 };

    #[test]
    fn full_and_causal_are_as_the_formulas_say() {
        let full = 4.0 * 2048.0 * 2048.0 * 64.0 * 12.0;
        assert_eq!(Work::full(SHAPE), Work::Flops(full));
        assert_eq!(Work::causal(SHAPE), Work::Flops(full / 2.0));
        assert_eq!(Work::causal(SHAPE).with_backward(), Work::Flops(full * 1.75));
        let packed = Shape { batch: 64, q_len: 128, kv_len: 128, ..SHAPE };
        assert_eq!(Work::full(packed), Work::Flops(64.0 * 4.0 * 128.0 * 128.0 * 64.0 * 12.0));
    }

    #[test]
    fn a_window_s_cells_are_those_that_are_counted_one_by_one() {
        for (causal, left, right) in [(true, 511, 0), (true, 0, 0), (false, 30, 10), (false, 5000, 5000), (true, 7, 9)]
        {
            let shape = Shape { q_len: 700, kv_len: 700, ..SHAPE };
            let params = Params { causal, window: Some(Window { left, right }), ..Params::for_head_dim(64) };
            let sees = |query: i64, key: i64| {
                key >= query - left as i64 && key <= query + right as i64 && !(causal && key > query)
            };
            let counted = (0..700).map(|query| (0..700).filter(|key| sees(query, *key)).count()).sum::<usize>();
            assert_eq!(Work::visible(shape, &params), Work::Flops(4.0 * (counted * 64 * 12) as f64));
        }
    }

    #[test]
    fn a_decode_reads_keys_and_values_once() {
        let shape = Shape { q_len: 1, kv_len: 4096, q_heads: 32, kv_heads: 8, head_dim: 128, ..SHAPE };
        assert_eq!(Work::cache(shape, 4), Work::Bytes(33_554_432.0));
        assert_eq!(Work::cache(shape, 2), Work::Bytes(16_777_216.0));
    }
}
