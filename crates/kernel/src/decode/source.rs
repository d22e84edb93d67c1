//! Where decoding reads keys and values from.

use std::ops::Range;

use fearless_simd::Simd;

use crate::element::sealed::Sealed;
use crate::simd::Lanes;

/// Where keys and values are read from.
pub(crate) trait Source: Sync {
    /// (head_dim, v_head_dim).
    fn dims(&self) -> (usize, usize);

    /// Keys that are read together, a divisor of [`super::MAX_BLOCK`] and a multiple of 16; blocks begin at its multiples.
    fn block(&self) -> usize;

    /// Keys of a block that are asked for at once, of one kv head after the other; a divisor of 16, or the block.
    fn part(&self) -> usize;

    /// Base-2 products of a kv head's queries with one part of one block of keys: `out` is (keys x lanes), `panel`
    /// (head_dim x lanes) and how many of the lanes are queries, `at` (batch, kv_head), `room` numbers to work with, as many as are needed. Each product is
    /// summed over head_dim as [`crate::tile::scores`] does.
    fn products<S: Simd, F: Lanes<S>>(
        &self,
        simd: S,
        panel: (&[f32], usize),
        at: (usize, usize),
        keys: Range<usize>,
        room: &mut Vec<f32>,
        out: &mut [f32],
    );

    /// `acc[row] = acc[row] * shrink[row] + sum over keys of probs[key][row] * value[key]`, over one part of one block;
    /// `acc` is (rows x v_head_dim), `probs` (keys x lanes) and the lanes.
    fn mix<S: Simd>(
        &self,
        simd: S,
        at: (usize, usize),
        keys: Range<usize>,
        probs: (&[f32], usize),
        shrink: &[f32],
        acc: &mut [f32],
    );

    /// The key of one head.
    fn key(&self, batch: usize, key: usize, head: usize) -> Vec<f32>;

    /// The value.
    fn value(&self, batch: usize, key: usize, head: usize) -> Vec<f32>;
}

/// Bytes of a page of memory.
const MEMORY_PAGE: usize = 4096;

/// Reads one number of every page of memory that some numbers lie in, long before they are needed. What follows in a
/// page is fetched ahead by the hardware, as long as it is read in order; the step into the next page is not, and costs
/// a look into the page tables besides.
#[inline(always)]
pub(crate) fn touch_pages<T: Sealed + Copy>(numbers: &[T]) {
    for page in numbers.chunks(MEMORY_PAGE / size_of::<T>()) {
        std::hint::black_box(page[0]);
    }
}
