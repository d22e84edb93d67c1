//! The cache as decoding reads it: keys in tiles, whose lanes are keys, and values in rows of a few columns, whose sums
//! fit the registers: so that both are read as they lie.

use std::ops::Range;

use fearless_simd::Simd;

use super::{KvCache, PAGE};
use crate::Element;
use crate::decode::{Source, TILE, accumulate, products, touch_pages};
use crate::simd::Lanes;

/// Bytes that lie between what is read and what is touched.
const AHEAD: usize = 128 << 10;
/// Columns of the values that lie together: four wide vectors.
pub(super) const COLUMNS: usize = 64;

/// Where the pieces of one value lie among those of its head in a page.
pub(super) fn columns(v_dim: usize, slot: usize) -> impl Iterator<Item = Range<usize>> {
    (0..v_dim).step_by(COLUMNS).map(move |first| {
        let width = COLUMNS.min(v_dim - first);
        let start = first * PAGE + slot * width;
        start..start + width
    })
}

impl<T: Element> Source for KvCache<T> {
    fn dims(&self) -> (usize, usize) {
        (self.shape[2], self.shape[3])
    }

    fn block(&self) -> usize {
        PAGE
    }

    fn part(&self) -> usize {
        PAGE
    }

    #[inline(always)]
    fn products<S: Simd, F: Lanes<S>>(
        &self,
        simd: S,
        (panel, rows): (&[f32], usize),
        at: (usize, usize),
        keys: Range<usize>,
        _: &mut Vec<f32>,
        out: &mut [f32],
    ) {
        let dim = self.shape[2];
        if dim == 0 {
            return out.fill(0.0);
        }
        let tiles = keys.start % PAGE / TILE..(keys.start % PAGE + keys.len()).div_ceil(TILE);
        let tiles = &self.head_keys(keys.start, at)[tiles.start * TILE * dim..tiles.end * TILE * dim];
        self.touch_ahead(at.0, at.1, keys);
        products(simd, (panel, F::LEN), rows, tiles, out);
    }

    #[inline(always)]
    fn mix<S: Simd>(
        &self,
        simd: S,
        (batch, head): (usize, usize),
        keys: Range<usize>,
        probs: (&[f32], usize),
        shrink: &[f32],
        acc: &mut [f32],
    ) {
        let v_dim = self.shape[3];
        self.touch_ahead(batch, self.shape[1] + head, keys.clone());
        let values = self.head_values(keys.start, (batch, head));
        let mut rows: [&[T]; PAGE] = [&[]; PAGE];
        for (run, first) in values.chunks(PAGE * COLUMNS).zip((0..).step_by(COLUMNS)) {
            let values = run.chunks_exact(run.len() / PAGE).skip(keys.start % PAGE);
            rows.iter_mut().zip(values).for_each(|(row, value)| *row = value);
            accumulate(simd, &rows[..keys.len()], probs, shrink, (first, v_dim), acc);
        }
    }

    fn key(&self, batch: usize, key: usize, head: usize) -> Vec<f32> {
        let dim = self.shape[2];
        let tile = &self.head_keys(key, (batch, head))[key % PAGE / TILE * TILE * dim..][..TILE * dim];
        let stored: Vec<T> = tile.iter().skip(key % TILE).step_by(TILE).copied().collect();
        crate::alone::widened(&stored)
    }

    fn value(&self, batch: usize, key: usize, head: usize) -> Vec<f32> {
        let values = self.head_values(key, (batch, head));
        columns(self.shape[3], key % PAGE).flat_map(|place| crate::alone::widened(&values[place])).collect()
    }
}

impl<T: Element> KvCache<T> {
    /// All tiles of one head in the page of a position.
    fn head_keys(&self, position: usize, (batch, head): (usize, usize)) -> &[T] {
        let run = PAGE * self.shape[2];
        let at = batch * self.shape[1] + head;
        &self.pages[position / PAGE - self.dropped].keys[at * run..(at + 1) * run]
    }

    /// Touches what is read some time after the `at`-th run of a page: the keys of its heads are the first runs, their
    /// values the next ones.
    fn touch_ahead(&self, batch: usize, at: usize, keys: Range<usize>) {
        let heads = self.shape[1];
        let run = (PAGE * self.shape[2].max(self.shape[3]) * size_of::<T>()).max(1);
        let ahead = at + AHEAD.div_ceil(run);
        let (page, at) = (ahead / (2 * heads), ahead % (2 * heads));
        let position = (keys.start / PAGE + page) * PAGE;
        if position >= self.len {
            return;
        }
        match at < heads {
            true => touch_pages(self.head_keys(position, (batch, at))),
            false => touch_pages(self.head_values(position, (batch, at - heads))),
        }
    }

    /// All values.
    fn head_values(&self, position: usize, (batch, head): (usize, usize)) -> &[T] {
        let run = PAGE * self.shape[3];
        let at = batch * self.shape[1] + head;
        &self.pages[position / PAGE - self.dropped].values[at * run..(at + 1) * run]
    }
}
