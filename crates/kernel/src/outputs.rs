//! Where outputs go. Rows of one panel lie apart, because heads lie side by side, so panels of several heads write
//! into the same stretch of memory.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use fearless_simd::Simd;

use crate::Element;
use crate::forward::Shape;
use crate::tile::soon::Soon;

/// (batch, q_len, q_heads, v_head_dim) in runs of queries, each for one panel at a time.
pub(crate) struct Outputs<'a, O> {
    runs: Vec<Mutex<&'a mut [O]>>,
    /// The address of the first number, for asking memory for it.
    first: usize,
    /// Queries in a run.
    queries: usize,
    q_len: usize,
    q_heads: usize,
    v_dim: usize,
}

impl<'a, O: Element> Outputs<'a, O> {
    /// In runs of as many queries as a panel of `lanes` rows has.
    pub(crate) fn new(out: &'a mut [O], shape: &Shape, v_dim: usize, lanes: usize) -> Self {
        let first = out.as_ptr().addr();
        let queries = lanes.div_ceil(shape.group().max(1));
        let query = shape.q_heads * v_dim;
        let batches = out.chunks_exact_mut((shape.q_len * query).max(1));
        let runs = batches.flat_map(|batch| batch.chunks_mut((queries * query).max(1))).map(Mutex::new).collect();
        Self { runs, first, queries, q_len: shape.q_len, q_heads: shape.q_heads, v_dim }
    }

    /// Says that these queries of a head will be written.
    pub(crate) fn soon(&self, soon: &mut Soon, batch: usize, queries: Range<usize>, head: usize) {
        let at = ((batch * self.q_len + queries.start) * self.q_heads + head) * self.v_dim * size_of::<O>();
        let first = std::ptr::without_provenance::<O>(self.first.wrapping_add(at));
        soon.rows(first, self.q_heads * self.v_dim, queries.len(), self.v_dim);
    }

    /// Writes the finished rows of a panel (rows x v_head_dim), whose (query, q_head) `at` names.
    #[inline(always)]
    pub(crate) fn write<S: Simd>(&self, simd: S, batch: usize, at: impl Iterator<Item = (usize, usize)>, rows: &[f32]) {
        let mut held = None;
        for ((query, head), row) in at.zip(rows.chunks_exact(self.v_dim.max(1))) {
            let run = batch * self.q_len.div_ceil(self.queries) + query / self.queries;
            if held.as_ref().is_none_or(|(held, _)| *held != run) {
                // The one before is let go of first, so that nobody waits in a circle.
                drop(held.take());
                held = Some((run, self.runs[run].lock().unwrap_or_else(PoisonError::into_inner)));
            }
            if let Some((_, out)) = &mut held {
                let first = (query % self.queries * self.q_heads + head) * self.v_dim;
                O::narrow_with(simd, row, &mut out[first..first + self.v_dim]);
            }
        }
    }
}
