//! The cache as decoding reads it: keys in tiles, whose lanes are keys, and values in rows.

use std::ops::Range;

use fearless_simd::{Simd, SimdBase, SimdFloat, SimdInterleaved, f32x4, f32x16};

use super::{KvCache, PAGE, TILE};
use crate::Element;
use crate::decode::{Source, accumulate};
use crate::element::sealed::load;
use crate::simd::Lanes;

impl<T: Element> Source for KvCache<T> {
    fn dims(&self) -> (usize, usize) {
        (self.shape[2], self.shape[3])
    }

    fn block(&self) -> usize {
        PAGE
    }

    #[inline(always)]
    fn products<S: Simd, F: Lanes<S>>(
        &self,
        simd: S,
        panel: &[f32],
        rows: usize,
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
        // A vector of 16 keys is one register, two or four; eight of them hold sums.
        for row in (0..rows).step_by(4) {
            let lanes = (row, F::LEN);
            match (rows - row, <S::f32s as SimdBase<S>>::LEN) {
                (1, 8..) => walk::<S, T, 1, 4>(simd, panel, lanes, tiles, out),
                (1, _) => walk::<S, T, 1, 2>(simd, panel, lanes, tiles, out),
                (2, 16) => walk::<S, T, 2, 4>(simd, panel, lanes, tiles, out),
                (2, 8) => walk::<S, T, 2, 2>(simd, panel, lanes, tiles, out),
                (2, _) => walk::<S, T, 2, 1>(simd, panel, lanes, tiles, out),
                (3, 16) => walk::<S, T, 3, 2>(simd, panel, lanes, tiles, out),
                (3, _) => walk::<S, T, 3, 1>(simd, panel, lanes, tiles, out),
                (_, 16) => walk::<S, T, 4, 2>(simd, panel, lanes, tiles, out),
                (_, _) => walk::<S, T, 4, 1>(simd, panel, lanes, tiles, out),
            }
        }
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
        let page = &self.pages[keys.start / PAGE - self.dropped];
        let first = (batch * self.shape[1] + head) * PAGE + keys.start % PAGE;
        let values = &page.values[first * v_dim..(first + keys.len()) * v_dim];
        accumulate(
            simd,
            #[inline(always)]
            |key| &values[key * v_dim..(key + 1) * v_dim],
            probs,
            shrink,
            v_dim,
            acc,
        );
    }

    fn key(&self, batch: usize, key: usize, head: usize) -> Vec<f32> {
        let dim = self.shape[2];
        let tile = &self.head_keys(key, (batch, head))[key % PAGE / TILE * TILE * dim..][..TILE * dim];
        let stored: Vec<T> = tile.iter().skip(key % TILE).step_by(TILE).copied().collect();
        crate::alone::widened(&stored)
    }

    fn value(&self, batch: usize, key: usize, head: usize) -> Vec<f32> {
        let v_dim = self.shape[3];
        let first = (batch * self.shape[1] + head) * PAGE + key % PAGE;
        crate::alone::widened(&self.pages[key / PAGE - self.dropped].values[first * v_dim..(first + 1) * v_dim])
    }
}

impl<T: Element> KvCache<T> {
    /// All tiles of one head in the page of a position.
    fn head_keys(&self, position: usize, (batch, head): (usize, usize)) -> &[T] {
        let run = PAGE * self.shape[2];
        let at = batch * self.shape[1] + head;
        &self.pages[position / PAGE - self.dropped].keys[at * run..(at + 1) * run]
    }
}

/// Products of `R` lanes of the panel, from `row` on, with tiles of keys, `Q` at a time; `out` is (keys x lanes).
#[inline(always)]
fn walk<S: Simd, T: Element, const R: usize, const Q: usize>(
    simd: S,
    panel: &[f32],
    (row, lanes): (usize, usize),
    tiles: &[T],
    out: &mut [f32],
) {
    let dim = panel.len() / lanes;
    let mut several = tiles.chunks_exact(Q * TILE * dim);
    let mut places = out.chunks_mut(Q * TILE * lanes);
    for (tiles, out) in several.by_ref().zip(places.by_ref()) {
        products::<S, T, R, Q>(simd, panel, (row, lanes), tiles, out);
    }
    if Q > 1 {
        let rest = several.remainder().chunks_exact(TILE * dim);
        for (tile, out) in rest.zip(places.flat_map(|out| out.chunks_mut(TILE * lanes))) {
            products::<S, T, R, 1>(simd, panel, (row, lanes), tile, out);
        }
    }
}

/// Of `Q` tiles, the sums held in registers. `out` may end within the last.
#[inline(always)]
fn products<S: Simd, T: Element, const R: usize, const Q: usize>(
    simd: S,
    panel: &[f32],
    (row, lanes): (usize, usize),
    tiles: &[T],
    out: &mut [f32],
) {
    let (rows, _) = tiles.as_chunks::<TILE>();
    let dim = rows.len() / Q;
    let mut tiles: [&[[T; TILE]]; Q] = [&[]; Q];
    for q in 0..Q {
        tiles[q] = &rows[q * dim..(q + 1) * dim];
    }
    let mut sums = [[f32x16::splat(simd, 0.0); R]; Q];
    for ((panel, first), t) in panel.chunks_exact(lanes).zip(tiles[0]).zip(0..) {
        let queries = &panel[row..row + R];
        let mut keys = [f32x16::splat(simd, 0.0); Q];
        for q in 0..Q {
            keys[q] = load(simd, if q == 0 { first } else { &tiles[q][t] });
        }
        for r in 0..R {
            let query = f32x16::splat(simd, queries[r]);
            for q in 0..Q {
                sums[q][r] = query.mul_add(keys[q], sums[q][r]);
            }
        }
    }
    // Lanes are keys; they become rows of lanes, four by four.
    for (sums, out) in sums.iter().zip(out.chunks_mut(TILE * lanes)) {
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
