//! Which queries share a panel. The heads of a group read the same keys and values, so their queries stand side by
//! side: row r of a kv head is query r / group of its r % group-th head.

use std::ops::Range;

/// The query rows of one kv head.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rows {
    pub(crate) group: usize,
    pub(crate) kv_head: usize,
}

impl Rows {
    /// (query, q_head) of a row.
    pub(crate) fn at(&self, row: usize) -> (usize, usize) {
        (row / self.group, self.kv_head * self.group + row % self.group)
    }

    /// The queries that a run of rows (not empty) spans.
    pub(crate) fn queries(&self, rows: Range<usize>) -> Range<usize> {
        rows.start / self.group..(rows.end - 1) / self.group + 1
    }

    /// The query heads of the group.
    pub(crate) fn heads(&self) -> Range<usize> {
        self.kv_head * self.group..(self.kv_head + 1) * self.group
    }
}
