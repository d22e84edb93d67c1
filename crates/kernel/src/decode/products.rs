//! Products of a few queries with keys that lie in tiles: the lanes of a vector are keys.

use fearless_simd::{Simd, SimdBase, SimdFloat, f32x16};

use crate::Element;
use crate::element::sealed::load;

/// Keys in a tile: they lie side by side, dimension after dimension.
pub(crate) const TILE: usize = 16;

/// Products of the first `rows` of some lanes with a run of tiles; `out` is (keys x lanes).
#[inline(never)] // one copy, however many lanes
pub(crate) fn products<S: Simd, T: Element>(
    simd: S,
    (panel, lanes): (&[f32], usize),
    rows: usize,
    tiles: &[T],
    out: &mut [f32],
) {
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
        // Lanes are keys; they become rows of lanes.
        let mut by_row = [f32x16::splat(simd, 0.0); 4];
        by_row[..R].copy_from_slice(&sums);
        let mut by_key = [[0.0; TILE]; 4];
        for (four, place) in interleave(by_row).iter().zip(&mut by_key) {
            four.store_slice(place);
        }
        let (by_key, _) = by_key.as_flattened().as_chunks::<4>();
        for (quad, out) in by_key.iter().zip(out.chunks_exact_mut(lanes)) {
            out[row..row + 4].copy_from_slice(quad);
        }
    }
}

/// Lays keys that lie each by itself as a tile, (head_dim x [`TILE`]).
#[inline(always)]
pub(super) fn lay<S: Simd, T: Element>(simd: S, keys: [&[T]; TILE], tile: &mut [f32]) {
    let dim = keys[0].len();
    let (squares, rest) = tile.as_chunks_mut::<{ TILE * TILE }>();
    for (square, at) in squares.iter_mut().zip((0..dim).step_by(TILE)) {
        // Every fourth key interleaved, and then the four results again: a whole square is turned.
        let mut turned = [[f32x16::splat(simd, 0.0); 4]; 4];
        for (first, turned) in turned.iter_mut().enumerate() {
            for (row, key) in turned.iter_mut().zip(keys[first..].iter().step_by(4)) {
                *row = load(simd, &key[at..at + TILE]);
            }
            *turned = interleave(*turned);
        }
        let (rows, _) = square.as_chunks_mut::<{ 4 * TILE }>();
        for (four, rows) in rows.iter_mut().enumerate() {
            for (row, place) in interleave(turned.map(|turned| turned[four])).iter().zip(rows.chunks_exact_mut(TILE)) {
                row.store_slice(place);
            }
        }
    }
    let done = dim / TILE * TILE;
    for (lane, key) in keys.iter().enumerate() {
        let mut wide = [0.0; TILE];
        let wide = T::wide(simd, &key[done..], &mut wide);
        for (wide, places) in wide.iter().zip(rest.chunks_exact_mut(TILE)) {
            places[lane] = *wide;
        }
    }
}

/// a0 b0 c0 d0 a1 b1 c1 d1 and so on, in four vectors.
#[inline(always)]
fn interleave<S: Simd>([a, b, c, d]: [f32x16<S>; 4]) -> [f32x16<S>; 4] {
    let (ac, bd) = ([a.zip_low(c), a.zip_high(c)], [b.zip_low(d), b.zip_high(d)]);
    [ac[0].zip_low(bd[0]), ac[0].zip_high(bd[0]), ac[1].zip_low(bd[1]), ac[1].zip_high(bd[1])]
}
