//! What is added to scores.

use std::sync::Arc;

use crate::error::{Error, argument};
use crate::forward::Shape;

/// A number added to each score, (batch, q_heads, q_len, kv_len); batch and heads may be 1 and then serve all.
///
/// It is no mask: -inf is refused here. What is hidden is hidden by structure, padding or a knockout.
#[derive(Clone, Debug, PartialEq)]
pub struct Bias {
    data: Arc<[f32]>,
    shape: [usize; 4],
}

impl Bias {
    /// Contiguous numbers of that shape.
    ///
    /// # Errors
    /// If `data` is not as long as the shape says, or a number is not finite.
    pub fn new(data: impl Into<Arc<[f32]>>, shape: [usize; 4]) -> Result<Self, Error> {
        let data = data.into();
        match crate::view::size(&shape) {
            Some(want) if want == data.len() => {}
            _ => return argument("bias", format!("{} numbers", data.len()), format!("as many as shape {shape:?} has")),
        }
        match data.iter().find(|x| !x.is_finite()) {
            Some(x) => argument("bias", x, "finite numbers: hide cells by padding or knockouts"),
            None => Ok(Self { data, shape }),
        }
    }

    /// (batch, q_heads, q_len, kv_len).
    pub fn shape(&self) -> [usize; 4] {
        self.shape
    }

    /// The numbers, one row of keys after another.
    pub fn data(&self) -> &[f32] {
        &self.data
    }

    pub(crate) fn check(&self, shape: &Shape) -> Result<(), Error> {
        let want = [shape.batch, shape.q_heads, shape.q_len, shape.kv_len];
        let fits = |axis: usize| self.shape[axis] == want[axis] || (axis < 2 && self.shape[axis] == 1);
        if (0..4).all(fits) {
            return Ok(());
        }
        argument("bias shape", format!("{:?}", self.shape), format!("{want:?} (batch and heads may be 1)"))
    }

    /// The numbers of one query row.
    pub(crate) fn row(&self, batch: usize, head: usize, query: usize) -> &[f32] {
        let [batches, heads, q_len, kv_len] = self.shape;
        let (batch, head) = (if batches == 1 { 0 } else { batch }, if heads == 1 { 0 } else { head });
        let start = ((batch * heads + head) * q_len + query) * kv_len;
        &self.data[start..start + kv_len]
    }
}

/// T5's relative position bias: a table of (buckets, q_heads), and how distances fall into buckets.
///
/// The first half of the buckets of one direction hold one distance each, the rest grow logarithmically up to
/// `max_distance`; beyond it all share the last. Bidirectional tables have half of their buckets for keys that come after.
#[derive(Clone, Debug, PartialEq)]
pub struct RelativeBias {
    table: Arc<[f32]>,
    buckets: usize,
    max_distance: usize,
    bidirectional: bool,
}

impl RelativeBias {
    /// A (buckets, q_heads) table.
    ///
    /// # Errors
    /// If there are too few buckets, the table does not divide into them or has a number that is not finite, or
    /// `max_distance` is not above the distances that have buckets of their own.
    pub fn new(
        table: impl Into<Arc<[f32]>>,
        buckets: usize,
        max_distance: usize,
        bidirectional: bool,
    ) -> Result<Self, Error> {
        let table = table.into();
        let least = if bidirectional { 4 } else { 2 };
        if buckets < least || !buckets.is_multiple_of(least) {
            return argument("relative_bias buckets", buckets, format!("a multiple of {least}"));
        }
        if table.is_empty() || !table.len().is_multiple_of(buckets) {
            return argument("relative_bias", format!("{} numbers", table.len()), format!("{buckets} a head"));
        }
        if max_distance <= buckets / least {
            return argument("relative_bias max_distance", max_distance, format!("above {}", buckets / least));
        }
        match table.iter().find(|x| !x.is_finite()) {
            Some(x) => argument("relative_bias", x, "finite numbers"),
            None => Ok(Self { table, buckets, max_distance, bidirectional }),
        }
    }

    /// (buckets, q_heads).
    pub fn table(&self) -> &[f32] {
        &self.table
    }

    /// (buckets, max_distance, bidirectional).
    pub fn buckets(&self) -> (usize, usize, bool) {
        (self.buckets, self.max_distance, self.bidirectional)
    }

    fn heads(&self) -> usize {
        self.table.len() / self.buckets
    }

    pub(crate) fn check(&self, shape: &Shape) -> Result<(), Error> {
        if self.heads() == shape.q_heads {
            return Ok(());
        }
        argument("relative_bias heads", self.heads(), format!("{}, as in q", shape.q_heads))
    }

    /// What a head adds for a key that lies `ahead` of the query's position (negative: behind it).
    pub(crate) fn at(&self, head: usize, ahead: i64) -> f32 {
        self.table[self.bucket(ahead) * self.heads() + head]
    }

    /// The bucket of a distance, as T5 computes it, in f32 like the checkpoints' own code.
    pub fn bucket(&self, ahead: i64) -> usize {
        let (mut buckets, mut first) = (self.buckets, 0);
        if self.bidirectional {
            buckets /= 2;
            first = if ahead > 0 { buckets } else { 0 };
        }
        let distance = if self.bidirectional { ahead.unsigned_abs() } else { (-ahead).max(0) as u64 } as usize;
        let exact = buckets / 2;
        if distance < exact {
            return first + distance;
        }
        let grown = (distance as f32 / exact as f32).ln() / (self.max_distance as f32 / exact as f32).ln();
        first + (exact + (grown * (buckets - exact) as f32) as usize).min(buckets - 1)
    }
}
