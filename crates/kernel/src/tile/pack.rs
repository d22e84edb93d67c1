//! Queries transposed into panels: dimension after dimension, one lane a query. Scores and outputs are then vertical
//! in the lanes. Keys are laid in fours, so that one stream of memory feeds a tile.

use fearless_simd::{Simd, SimdBase, f32x4};

use crate::Element;
use crate::tile::quads::{across, along};

/// Writes `rows` into `panel` (dim x lanes), each number multiplied by `factor`. Lanes without a row are 0.
#[inline(always)]
pub(crate) fn pack<'a, S: Simd, T: Element>(
    simd: S,
    rows: impl ExactSizeIterator<Item = &'a [T]>,
    factor: f32,
    lanes: usize,
    panel: &mut [f32],
) {
    let dim = panel.len() / lanes;
    if rows.len() < lanes {
        panel.fill(0.0);
    }
    let factor = f32x4::splat(simd, factor);
    fours(
        simd,
        rows,
        dim,
        #[inline(always)]
        |four, first| {
            across(
                simd,
                four,
                dim,
                #[inline(always)]
                |t, quad| (quad * factor).store_slice(&mut panel[t * lanes + first..t * lanes + first + 4]),
            );
        },
    );
}

/// Lays keys in fours, [four][t][key]: as many as `out` has room for, the missing ones 0.
#[inline(always)]
pub(crate) fn pack_keys<'a, S: Simd, T: Element>(
    simd: S,
    rows: impl ExactSizeIterator<Item = &'a [T]>,
    dim: usize,
    out: &mut [[f32; 4]],
) {
    let mut out = out.chunks_exact_mut(dim.max(1));
    fours(
        simd,
        rows,
        dim,
        #[inline(always)]
        |four, _| {
            if let Some(quads) = out.next() {
                across(
                    simd,
                    four,
                    dim,
                    #[inline(always)]
                    |t, quad| quad.store_slice(&mut quads[t]),
                );
            }
        },
    );
    for quads in out {
        quads.fill([0.0; 4]);
    }
}

/// Takes rows of `dim` numbers four at a time, as f32, the missing ones 0; with the number of the first.
#[inline(always)]
fn fours<'a, S: Simd, T: Element>(
    simd: S,
    mut rows: impl ExactSizeIterator<Item = &'a [T]>,
    dim: usize,
    mut take: impl FnMut([&[f32]; 4], usize),
) {
    // Only for rows that are not f32 already, or not there.
    let needed = size_of::<T>() != size_of::<f32>() || !rows.len().is_multiple_of(4);
    let mut places = vec![0.0; if needed { 4 * dim } else { 0 }];
    let each = places.len() / 4;
    let (ab, cd) = places.split_at_mut(2 * each);
    let ((a, b), (c, d)) = (ab.split_at_mut(each), cd.split_at_mut(each));
    let mut first = 0;
    while let Some(row) = rows.next() {
        let four = [
            wide(simd, Some(row), a),
            wide(simd, rows.next(), b),
            wide(simd, rows.next(), c),
            wide(simd, rows.next(), d),
        ];
        take(four, first);
        first += 4;
    }
}

/// A row as f32; 0 where there is none.
#[inline(always)]
fn wide<'a, S: Simd, T: Element>(simd: S, row: Option<&'a [T]>, place: &'a mut [f32]) -> &'a [f32] {
    match row {
        Some(row) => T::wide(simd, row, place),
        None => {
            place.fill(0.0);
            place
        }
    }
}

/// The rows of a panel, (dim x lanes), back out of it: lane `first` to `first + 4` into `rows` (4 x dim), each number
/// multiplied by its lane's `factors`.
#[inline(always)]
pub(crate) fn unpack<S: Simd>(simd: S, panel: &[f32], lanes: usize, first: usize, factors: [f32; 4], rows: &mut [f32]) {
    let dim = rows.len() / 4;
    let factors = f32x4::from_slice(simd, &factors);
    let (ab, cd) = rows.split_at_mut(2 * dim);
    let ((a, b), (c, d)) = (ab.split_at_mut(dim), cd.split_at_mut(dim));
    along(
        [a, b, c, d],
        dim,
        #[inline(always)]
        |t| f32x4::from_slice(simd, &panel[t * lanes + first..t * lanes + first + 4]) * factors,
    );
}

/// The factor folded into the queries: scores come out in base 2, so that exp is exp2 and costs no multiplication.
pub(crate) fn factor(scale: f32) -> f32 {
    (f64::from(scale) * std::f64::consts::LOG2_E) as f32
}
