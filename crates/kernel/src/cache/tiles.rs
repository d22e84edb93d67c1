//! The cache as decoding reads it: keys in tiles, whose lanes are keys, and values in rows.

use std::ops::Range;

use fearless_simd::{Simd, SimdBase, SimdFloat, SimdInterleaved, f32x4, f32x16};

use super::{KvCache, PAGE, TILE};
use crate::Element;
use crate::decode::{Source, accumulate, touch_pages};
use crate::element::sealed::load;
use crate::simd::Lanes;

/// Bytes that lie between what is read and what is touched.
const AHEAD: usize = 128 << 10;

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
        let values = &self.head_values(keys.start, (batch, head))[keys.start % PAGE * v_dim..];
        let mut rows: [&[T]; PAGE] = [&[]; PAGE];
        for (row, value) in rows.iter_mut().zip(values.chunks_exact(v_dim.max(1))) {
            *row = value;
        }
        accumulate(simd, &rows[..keys.len()], probs, shrink, v_dim, acc);
    }

    fn key(&self, batch: usize, key: usize, head: usize) -> Vec<f32> {
        let dim = self.shape[2];
        let tile = &self.head_keys(key, (batch, head))[key % PAGE / TILE * TILE * dim..][..TILE * dim];
        let stored: Vec<T> = tile.iter().skip(key % TILE).step_by(TILE).copied().collect();
        crate::alone::widened(&stored)
    }

    fn value(&self, batch: usize, key: usize, head: usize) -> Vec<f32> {
        let v_dim = self.shape[3];
        crate::alone::widened(&self.head_values(key, (batch, head))[key % PAGE * v_dim..][..v_dim])
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

/// Products of the first `rows` of some lanes with a run of tiles; `out` is (keys x lanes).
#[inline(never)] // one copy, however many lanes
fn products<S: Simd, T: Element>(simd: S, (panel, lanes): (&[f32], usize), rows: usize, tiles: &[T], out: &mut [f32]) {
    simd.vectorize(
        #[inline(always)]
        || {
            for row in (0..rows).step_by(4) {
                let at = (row, lanes);
                match rows - row {
                    1 => walk::<S, T, 1>(simd, panel, at, tiles, out),
                    2 => walk::<S, T, 2>(simd, panel, at, tiles, out),
                    3 => walk::<S, T, 3>(simd, panel, at, tiles, out),
                    _ => walk::<S, T, 4>(simd, panel, at, tiles, out),
                }
            }
        },
    );
}

/// Products of `R` lanes of the panel, from `row` on, with tiles of keys, one after another: several abreast would be
/// several streams of memory, which is slower than one. `out` is (keys x lanes) and may end within the last tile.
#[inline(always)]
fn walk<S: Simd, T: Element, const R: usize>(
    simd: S,
    panel: &[f32],
    (row, lanes): (usize, usize),
    tiles: &[T],
    out: &mut [f32],
) {
    let dim = panel.len() / lanes;
    let (tiles, _) = tiles.as_chunks::<TILE>();
    for (tile, out) in tiles.chunks_exact(dim).zip(out.chunks_mut(TILE * lanes)) {
        let mut sums = [f32x16::splat(simd, 0.0); R];
        for (panel, keys) in panel.chunks_exact(lanes).zip(tile) {
            let queries = &panel[row..row + R];
            let keys = load::<S, f32x16<S>, T>(simd, keys);
            for r in 0..R {
                sums[r] = f32x16::splat(simd, queries[r]).mul_add(keys, sums[r]);
            }
        }
        // Lanes are keys; they become rows of lanes, four by four.
        let mut by_row = [[0.0; TILE]; 4];
        for r in 0..R {
            sums[r].store_slice(&mut by_row[r]);
        }
        for (four, out) in out.chunks_mut(4 * lanes).enumerate() {
            let mut vectors = [f32x4::splat(simd, 0.0); 4];
            for r in 0..4 {
                vectors[r] = f32x4::from_slice(simd, &by_row[r][four * 4..four * 4 + 4]);
            }
            let mut quads = [0.0; 16];
            f32x4::store_four_interleaved(vectors, &mut quads);
            for (quad, out) in quads.chunks_exact(4).zip(out.chunks_exact_mut(lanes)) {
                out[row..row + 4].copy_from_slice(quad);
            }
        }
    }
}
