//! What the forward pass can leave beside its output while it has the scores in hand: statistics of every row, and
//! a map of blocks.

use std::ops::Range;

use crate::forward::Shape;
use crate::params::Mask;
use crate::share::share;
use crate::tile::BLOCK_KV;

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
#[derive(Clone, Debug, Default, PartialEq)]
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

    /// Fills it with what panels saw their `parts` of, put together by all threads, a kv head at a time; in the order of the
    /// panels, so that no digit depends on which was first.
    pub(crate) fn fill(&mut self, shape: &Shape, mask: &Mask, side: usize, (parts, seen): (&Parts, &[f32])) {
        let (rows, columns) = (shape.q_len.div_ceil(side), shape.kv_len.div_ceil(side));
        let cells = shape.batch * shape.q_heads * rows * columns;
        (self.side, self.rows, self.columns) = (side, rows, columns);
        self.visible.resize(cells, 0);
        for numbers in [&mut self.mean, &mut self.max] {
            numbers.clear();
            numbers.resize(cells, 0.0);
        }
        // Where there is no cell, there may be no heads to share it.
        if cells == 0 {
            return;
        }
        // Without holes every head sees the same.
        let all = (!mask.has_holes()).then(|| counts(shape, mask, side, (0, 0)));
        let head = rows * columns;
        let of_group = head * shape.group();
        let places = self.mean.chunks_exact_mut(of_group).zip(self.max.chunks_exact_mut(of_group));
        let places = places.zip(self.visible.chunks_exact_mut(of_group));
        // Panels that see nothing leave no numbers, but their cells are counted all the same.
        let len = parts.len();
        share(
            vec![places.enumerate().collect()],
            || (),
            |(), (at, ((mean, max), visible))| {
                parts.each(&seen[at * len..(at + 1) * len], |head, row, columns_of, [sums, maxima]| {
                    let first = (head * rows + row) * columns;
                    let place = first + columns_of.start..first + columns_of.end;
                    mean[place.clone()].iter_mut().zip(sums).for_each(|(mean, sum)| *mean += sum);
                    max[place].iter_mut().zip(maxima).for_each(|(max, new)| *max = larger(*max, *new));
                });
                for (of_group, visible) in visible.chunks_exact_mut(head).enumerate() {
                    let head = at * shape.group() + of_group;
                    match &all {
                        Some(all) => visible.copy_from_slice(all),
                        None => visible.copy_from_slice(&counts(
                            shape,
                            mask,
                            side,
                            (head / shape.q_heads, head % shape.q_heads),
                        )),
                    }
                }
                for (mean, visible) in mean.iter_mut().zip(visible) {
                    *mean = if *visible == 0 { 0.0 } else { *mean / *visible as f32 };
                }
            },
        );
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

/// How many cells of each block a head sees, (rows, columns).
fn counts(shape: &Shape, mask: &Mask, side: usize, (batch, head): (usize, usize)) -> Vec<u32> {
    let columns = shape.kv_len.div_ceil(side);
    let mut counts = vec![0; shape.q_len.div_ceil(side) * columns];
    for query in 0..shape.q_len {
        let row = &mut counts[query / side * columns..][..columns];
        let span = mask.span(query);
        if mask.has_holes() {
            for key in mask.visible(batch, head, query, span) {
                row[key / side] += 1;
            }
        } else if !span.is_empty() {
            // As if it saw the first and the last block whole, less what lies outside.
            let (first, last) = (span.start / side, (span.end - 1) / side);
            row[first..=last].iter_mut().for_each(|count| *count += side as u32);
            row[first] -= (span.start - first * side) as u32;
            row[last] -= ((last + 1) * side - span.end) as u32;
        }
    }
    counts
}

/// The larger of two weights. None is below 0, so their bits are ordered as they are; those of a NaN are the largest, so it
/// stays.
#[inline(always)]
pub(crate) fn larger(a: f32, b: f32) -> f32 {
    f32::from_bits(a.to_bits().max(b.to_bits()))
}

/// The parts of a map that panels see, the same for all kv heads: where each leaves what it sees.
#[derive(Default)]
pub(crate) struct Parts {
    group: usize,
    parts: Vec<Part>,
}

/// Some rows and columns of blocks. What is seen of them is (heads of the group, rows, 2, columns): the sums of weights and
/// the largest.
#[derive(Clone)]
pub(crate) struct Part {
    pub(crate) side: usize,
    pub(crate) rows: Range<usize>,
    pub(crate) columns: Range<usize>,
}

impl Parts {
    /// For the (queries, reach) of each panel.
    pub(crate) fn new(group: usize, panels: impl Iterator<Item = (Range<usize>, Range<usize>)>, side: usize) -> Self {
        let part = |(queries, reach): (Range<usize>, Range<usize>)| {
            // From where the first block of keys begins; none where the panel has no block, because nobody would fill it.
            let first = reach.start / BLOCK_KV * BLOCK_KV / side;
            let columns = if reach.is_empty() { first..first } else { first..reach.end.div_ceil(side) };
            Part { side, rows: queries.start / side..queries.end.div_ceil(side), columns }
        };
        Self { group, parts: panels.map(part).collect() }
    }

    /// How many numbers all panels of a kv head leave.
    pub(crate) fn len(&self) -> usize {
        self.parts.iter().map(|part| part.len(self.group)).sum()
    }

    /// Each panel's part, and its own of the numbers of a kv head.
    pub(crate) fn split<'a>(&'a self, mut seen: &'a mut [f32]) -> impl Iterator<Item = (&'a Part, &'a mut [f32])> {
        self.parts.iter().map(move |part| {
            let (own, others) = std::mem::take(&mut seen).split_at_mut(part.len(self.group));
            seen = others;
            (part, own)
        })
    }

    /// Gives `take` all that the panels of a kv head saw: (head of the group, row, columns, [sums, maxima]).
    fn each(&self, mut seen: &[f32], mut take: impl FnMut(usize, usize, Range<usize>, [&[f32]; 2])) {
        for part in &self.parts {
            for head in 0..self.group {
                for row in part.rows.clone() {
                    let (both, others) = seen.split_at(2 * part.columns.len());
                    seen = others;
                    let (sums, maxima) = both.split_at(part.columns.len());
                    take(head, row, part.columns.clone(), [sums, maxima]);
                }
            }
        }
    }
}

impl Part {
    fn len(&self, group: usize) -> usize {
        group * self.rows.len() * 2 * self.columns.len()
    }

    /// What is seen of one row of one head: its sums and maxima.
    pub(crate) fn row<'a>(&self, seen: &'a mut [f32], head: usize, row: usize) -> (&'a mut [f32], &'a mut [f32]) {
        let columns = self.columns.len();
        let at = (head * self.rows.len() + row - self.rows.start) * 2 * columns;
        seen[at..at + 2 * columns].split_at_mut(columns)
    }
}
