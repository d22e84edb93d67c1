use std::ops::Range;

use attnscope_inspect::Rectangle;

use super::{Blocks, Place, Source};
use crate::Error;

/// What a map shows: a weight for each of its cells, or a negative code where it is hidden. A map with more tokens than
/// it has room for is pooled: each cell then is the largest or the mean weight of a block.
pub(super) struct Field {
    pub(super) queries: Range<usize>,
    pub(super) keys: Range<usize>,
    /// Cells down.
    pub(super) rows: usize,
    /// Cells across.
    pub(super) columns: usize,
    /// (rows x columns).
    pub(super) cells: Vec<f32>,
    /// What a cell is of its block, where that is more than one weight.
    pub(super) blocks: Blocks,
}

impl Field {
    /// The weights of a rectangle, pooled to at most `most` cells a side.
    pub(super) fn read(
        Source { trace, place, wanted, .. }: Source,
        queries: Range<usize>,
        keys: Range<usize>,
        (most, blocks): (usize, Blocks),
    ) -> Result<Self, Error> {
        let parts = |len: usize| len.div_ceil(len.div_ceil(most.max(1)).max(1));
        let (rows, columns) = (parts(queries.len()), parts(keys.len()));
        let Place { site, layer, head } = place;
        let cells = if (rows, columns) == (queries.len(), keys.len()) {
            trace.picked_tile(site, layer, head, queries.clone(), keys.clone())?.cells
        } else {
            let rectangle = Rectangle { queries: queries.clone(), keys: keys.clone(), rows, columns };
            blocks.of(trace.picked_pooled(site, layer, head, &rectangle, wanted)?)
        };
        Ok(Self { queries, keys, rows, columns, cells, blocks })
    }

    /// What one cell stands for, where that is more than one weight.
    pub(super) fn pooling(&self) -> Option<String> {
        let (down, across) = (self.queries.len().div_ceil(self.rows), self.keys.len().div_ceil(self.columns));
        let which = self.blocks.name();
        (down * across > 1).then(|| format!("each cell shows the {which} weight of a block of {down} x {across}"))
    }

    /// The kinds of hidden cells there are, by their codes.
    pub(super) fn hidden_codes(&self) -> Vec<f32> {
        let mut codes = Vec::new();
        for cell in &self.cells {
            // NaN is a hidden cell of a kind without a code.
            let visible = *cell >= 0.0;
            if !visible && !codes.iter().any(|code: &f32| code.to_bits() == cell.to_bits()) {
                codes.push(*cell);
            }
        }
        codes.sort_by(|a, b| b.total_cmp(a));
        codes
    }
}

/// The part-th of `parts` nearly equal parts of a range.
pub(super) fn share(range: &Range<usize>, part: usize, parts: usize) -> Range<usize> {
    let at = |part: usize| range.start + part * range.len() / parts;
    at(part)..at(part + 1)
}

#[cfg(test)]
mod tests {
    use super::{Field, share};
    use crate::picture::Source;
    use crate::{Blocks, Place};
    use attnscope_inspect::{Pick, SiteKind, Wanted, example::Example};

    #[test]
    fn a_pooled_cell_is_the_largest_of_its_block() {
        let trace = Example::load().trace(true).unwrap();
        for head in [Pick::Head(0), Pick::Mean] {
            let place = Place { site: SiteKind::SelfAttention, layer: 0, head };
            let from = Source { trace: &trace, place, wanted: Wanted::ALWAYS, left_out: &[] };
            let exact = Field::read(from, 0..10, 1..10, (900, Blocks::Largest)).unwrap();
            assert_eq!((exact.rows, exact.columns, exact.pooling()), (10, 9, None));
            let pooled = Field::read(from, 0..10, 1..10, (4, Blocks::Largest)).unwrap();
            assert_eq!((pooled.rows, pooled.columns), (4, 3));
            assert_eq!(pooled.pooling().unwrap(), "each cell shows the largest weight of a block of 3 x 3");
            for (at, cell) in pooled.cells.iter().enumerate() {
                let (queries, keys) = (share(&(0..10), at / 3, 4), share(&(0..9), at % 3, 3));
                let block = queries.flat_map(|query| exact.cells[query * 9..][keys.clone()].iter());
                assert_eq!(*cell, block.copied().fold(f32::NEG_INFINITY, f32::max), "{at}");
            }
            assert_eq!(pooled.hidden_codes(), [-1.0]);
        }
    }
}
