//! Where the two vectors of a panel see different keys: at the end of what a causal mask shows, and where a window begins.

use std::ops::Range;

use crate::params::Mask;
use crate::tile::rows::Rows;

/// The keys of a block, in whole fours, that both vectors of a panel compute. What lies before is for the first alone, what
/// lies after for the second: the other sees nothing there.
pub(crate) fn shared(
    mask: &Mask,
    (rows, range): (Rows, Range<usize>),
    width: usize,
    block: Range<usize>,
) -> Range<usize> {
    let second = range.start + width;
    if second >= range.end {
        return block;
    }
    let [first, second] = [range.start..second, second..range.end].map(|range| mask.reach(rows.queries(range)));
    let start = (second.start / 4 * 4).clamp(block.start, block.end);
    start..first.end.next_multiple_of(4).clamp(start, block.end)
}
