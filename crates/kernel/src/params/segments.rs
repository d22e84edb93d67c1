//! Texts packed one after another.

use std::ops::Range;
use std::sync::Arc;

use crate::error::{Error, argument};
use crate::forward::Shape;

/// Where packed texts begin: `cu_seqlens` of queries and keys. Queries see keys of their own segment only, and each
/// segment is aligned by itself: its last query stands at its last key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segments {
    /// (segments + 1): from 0 to q_len, never falling.
    q: Arc<[usize]>,
    /// The same for keys.
    kv: Arc<[usize]>,
}

impl Segments {
    /// Cumulative lengths of queries and keys, each from 0 to the whole length.
    ///
    /// # Errors
    /// If they do not begin with 0, fall, or differ in how many segments they name.
    pub fn new(q: impl Into<Arc<[usize]>>, kv: impl Into<Arc<[usize]>>) -> Result<Self, Error> {
        let (q, kv) = (q.into(), kv.into());
        for (name, ends) in [("segments of q", &q), ("segments of k", &kv)] {
            if ends.first() != Some(&0) || !ends.is_sorted() {
                return argument(name, format!("{ends:?}"), "from 0 and never falling");
            }
        }
        if q.len() != kv.len() {
            return argument(
                "segments of k",
                format!("{} segments", kv.len() - 1),
                format!("{}, as in q", q.len() - 1),
            );
        }
        Ok(Self { q, kv })
    }

    /// Segments of self-attention, whose queries and keys are the same texts.
    ///
    /// # Errors
    /// As [`Segments::new`].
    pub fn of_lens(lens: &[usize]) -> Result<Self, Error> {
        let mut end = 0usize;
        let ends: Arc<[usize]> = std::iter::once(0)
            .chain(lens.iter().map(|len| {
                end = end.saturating_add(*len);
                end
            }))
            .collect();
        Self::new(ends.clone(), ends)
    }

    /// Cumulative lengths (of queries, of keys).
    pub fn ends(&self) -> (&[usize], &[usize]) {
        (&self.q, &self.kv)
    }

    pub(crate) fn check(&self, shape: &Shape) -> Result<(), Error> {
        for (name, ends, len) in [("segments of q", &self.q, shape.q_len), ("segments of k", &self.kv, shape.kv_len)] {
            let end = ends[ends.len() - 1];
            if end != len {
                return argument(name, format!("{end} long together"), format!("{len}, the whole length"));
            }
        }
        Ok(())
    }

    /// (queries, keys) of the segment in which a query stands.
    pub(crate) fn around(&self, query: usize) -> (Range<usize>, Range<usize>) {
        let segment = self.q.partition_point(|start| *start <= query).clamp(1, self.q.len() - 1) - 1;
        (self.q[segment]..self.q[segment + 1], self.kv[segment]..self.kv[segment + 1])
    }
}
