//! What the forward pass can leave beside its output while it has the scores in hand: statistics of every row, and
//! a map of blocks.

use std::ops::Range;

use crate::forward::Shape;
use crate::params::Mask;

/// What to leave.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Observe {
    /// [`RowStats`] of every row.
    pub rows: bool,
    /// A [`BlockMap`] of at most this many blocks a side; 128 shows a whole head.
    pub map: Option<usize>,
}

/// What was left. `None` where it was not asked for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Observed {
    /// (batch, q_heads, q_len).
    pub rows: Option<Vec<RowStats>>,
    /// One map a head.
    pub map: Option<BlockMap>,
}

/// One row of weights in a few numbers. All 0 for a row that sees nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RowStats {
    /// -sum over j of A_ij ln A_ij, in nats.
    pub entropy: f32,
    /// The largest weight.
    pub max: f32,
    /// The first key that has it.
    pub max_key: Option<u32>,
    /// The weight of key 0.
    pub first: f32,
    /// The weight of the key at the query's own position, p = kv_len - q_len + i.
    pub own: f32,
    /// The weight of the key before that.
    pub previous: f32,
    /// The sum over j of A_ij |p - j|: how far the row looks on average.
    pub distance: f32,
}

/// A head seen from afar: square blocks of `side` queries by `side` keys.
#[derive(Clone, Debug, PartialEq)]
pub struct BlockMap {
    /// Queries and keys to a block: a power of two, at least 16.
    pub side: usize,
    /// Blocks down.
    pub rows: usize,
    /// Blocks across.
    pub columns: usize,
    /// (batch, q_heads, rows, columns): the mean of A over the visible cells; 0 where there are none.
    pub mean: Vec<f32>,
    /// (batch, q_heads, rows, columns): the largest A.
    pub max: Vec<f32>,
    /// (batch, q_heads, rows, columns): how many cells are visible.
    pub visible: Vec<u32>,
}

impl BlockMap {
    /// The smallest power of two >= 16 that gives at most `most` x `most` blocks.
    pub(crate) fn side_for(shape: &Shape, most: usize) -> usize {
        shape.q_len.max(shape.kv_len).div_ceil(most.max(1)).next_power_of_two().max(16)
    }

    /// An empty map, its visible cells counted.
    pub(crate) fn new(shape: &Shape, mask: &Mask, side: usize) -> Self {
        let (rows, columns) = (shape.q_len.div_ceil(side), shape.kv_len.div_ceil(side));
        let heads = shape.batch * shape.q_heads;
        let cells = heads * rows * columns;
        let mut map =
            Self { side, rows, columns, mean: vec![0.0; cells], max: vec![0.0; cells], visible: vec![0; cells] };
        let mut first = vec![0; rows * columns];
        for head in 0..heads {
            // Without holes every head sees the same.
            if head == 0 || mask.has_holes() {
                first.fill(0);
                for query in 0..shape.q_len {
                    map.count(mask, (head / shape.q_heads, head % shape.q_heads, query), &mut first);
                }
            }
            map.visible[head * rows * columns..][..rows * columns].copy_from_slice(&first);
        }
        map
    }

    fn count(&self, mask: &Mask, (batch, head, query): (usize, usize, usize), counts: &mut [u32]) {
        let row = &mut counts[query / self.side * self.columns..][..self.columns];
        let span = mask.span(query);
        if mask.has_holes() {
            for key in mask.visible(batch, head, query, span) {
                row[key / self.side] += 1;
            }
            return;
        }
        if span.is_empty() {
            return;
        }
        // As if it saw the first and the last block whole, less what lies outside.
        let (first, last) = (span.start / self.side, (span.end - 1) / self.side);
        row[first..=last].iter_mut().for_each(|count| *count += self.side as u32);
        row[first] -= (span.start - first * self.side) as u32;
        row[last] -= ((last + 1) * self.side - span.end) as u32;
    }

    /// Adds what one panel saw of some map rows.
    pub(crate) fn add(&mut self, shape: &Shape, strips: &[Strip]) {
        for strip in strips {
            let at = ((strip.batch * shape.q_heads + strip.head) * self.rows + strip.row) * self.columns;
            let place = at + strip.columns.start..at + strip.columns.end;
            for (mean, sum) in self.mean[place.clone()].iter_mut().zip(&strip.sum) {
                *mean += sum;
            }
            for (max, new) in self.max[place].iter_mut().zip(&strip.max) {
                *max = if new.is_nan() || *new > *max { *new } else { *max };
            }
        }
    }

    /// Turns sums into means.
    pub(crate) fn finish(mut self) -> Self {
        for (mean, visible) in self.mean.iter_mut().zip(&self.visible) {
            *mean = if *visible == 0 { 0.0 } else { *mean / *visible as f32 };
        }
        self
    }

    /// The map of one head: (mean, max, visible), each (rows, columns).
    ///
    /// # Panics
    /// If there is no such head; `head` counts the q heads of all batches.
    pub fn head(&self, head: usize) -> (&[f32], &[f32], &[u32]) {
        let cells = head * self.rows * self.columns..(head + 1) * self.rows * self.columns;
        (&self.mean[cells.clone()], &self.max[cells.clone()], &self.visible[cells])
    }
}

/// What one panel saw of one map row of one head.
pub(crate) struct Strip {
    pub(crate) batch: usize,
    pub(crate) head: usize,
    pub(crate) row: usize,
    pub(crate) columns: Range<usize>,
    pub(crate) sum: Vec<f32>,
    pub(crate) max: Vec<f32>,
}
