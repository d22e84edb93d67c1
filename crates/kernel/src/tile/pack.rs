//! Queries transposed into panels: dimension after dimension, one lane a query. Scores and outputs are then vertical
//! in the lanes. Keys are laid in fours, so that one stream of memory feeds a tile.

use fearless_simd::{Simd, SimdBase, f32x4};

use crate::Element;
use crate::tile::quads::{interleave, separate};

/// Writes `rows` into `panel` (dim x lanes), each number multiplied by `factor`. Lanes without a row are 0.
#[inline(always)]
pub(crate) fn pack<'a, S: Simd, T: Element>(
    simd: S,
    rows: impl Iterator<Item = &'a [T]>,
    factor: f32,
    lanes: usize,
    panel: &mut [f32],
) {
    let dim = panel.len() / lanes;
    let mut buffer = vec![0.0; 4 * dim];
    let mut quads = vec![[0.0; 4]; dim];
    panel.fill(0.0);
    let factor = f32x4::splat(simd, factor);
    fours(
        rows,
        &mut buffer,
        #[inline(always)]
        |four, first| {
            interleave(simd, four, &mut quads);
            for (quad, to) in quads.iter().zip(panel.chunks_exact_mut(lanes)) {
                (f32x4::from_slice(simd, quad) * factor).store_slice(&mut to[first..first + 4]);
            }
        },
    );
}

/// Lays keys in fours, [four][t][key]: as many as `out` has room for, the missing ones 0.
#[inline(always)]
pub(crate) fn pack_keys<'a, S: Simd, T: Element>(
    simd: S,
    rows: impl Iterator<Item = &'a [T]>,
    dim: usize,
    out: &mut [[f32; 4]],
) {
    let mut buffer = vec![0.0; 4 * dim];
    let mut out = out.chunks_exact_mut(dim.max(1));
    fours(
        rows,
        &mut buffer,
        #[inline(always)]
        |four, _| {
            if let Some(quads) = out.next() {
                interleave(simd, four, quads);
            }
        },
    );
    for quads in out {
        quads.fill([0.0; 4]);
    }
}

/// Takes rows four at a time, widened into `buffer` (4 x dim), the missing ones 0; with the number of the first.
#[inline(always)]
fn fours<'a, T: Element>(
    mut rows: impl Iterator<Item = &'a [T]>,
    buffer: &mut [f32],
    mut take: impl FnMut([&[f32]; 4], usize),
) {
    let dim = buffer.len() / 4;
    if dim == 0 {
        return;
    }
    for first in (0..).step_by(4) {
        for (lane, place) in buffer.chunks_exact_mut(dim).enumerate() {
            match rows.next() {
                Some(row) => T::widen(row, place),
                None if lane == 0 => return,
                None => place.fill(0.0),
            }
        }
        let (ab, cd) = buffer.split_at(2 * dim);
        let ((a, b), (c, d)) = (ab.split_at(dim), cd.split_at(dim));
        take([a, b, c, d], first);
    }
}

/// The rows of a panel, (dim x lanes), back out of it: lane `first` to `first + 4` into `rows` (4 x dim), each number
/// multiplied by its lane's `factors`.
#[inline(always)]
pub(crate) fn unpack<S: Simd>(
    simd: S,
    panel: &[f32],
    lanes: usize,
    first: usize,
    factors: [f32; 4],
    quads: &mut [[f32; 4]],
    rows: &mut [f32],
) {
    let dim = quads.len();
    let factors = f32x4::from_slice(simd, &factors);
    for (quad, from) in quads.iter_mut().zip(panel.chunks_exact(lanes)) {
        (f32x4::from_slice(simd, &from[first..first + 4]) * factors).store_slice(quad);
    }
    let (ab, cd) = rows.split_at_mut(2 * dim);
    let ((a, b), (c, d)) = (ab.split_at_mut(dim), cd.split_at_mut(dim));
    separate(simd, quads, [a, b, c, d]);
}

/// Reads a number of every cache line of some rows that lie apart. None waits for another, so that memory is asked for all
/// of them at once; what copies the rows next finds them near.
#[inline(always)]
pub(crate) fn touch<'a, T: Element>(rows: impl Iterator<Item = &'a [T]>) {
    let line = 64 / size_of::<T>();
    for row in rows {
        for x in row.iter().step_by(line) {
            std::hint::black_box(*x);
        }
    }
}

/// The factor folded into the queries: scores come out in base 2, so that exp is exp2 and costs no multiplication.
pub(crate) fn factor(scale: f32) -> f32 {
    (f64::from(scale) * std::f64::consts::LOG2_E) as f32
}
