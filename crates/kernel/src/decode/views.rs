//! Keys and values as callers hold them: (batch, len, heads, head_dim), in any strides.

use std::ops::Range;

use fearless_simd::{Simd, SimdBase};

use super::{MAX_BLOCK, Source, accumulate};
use crate::alone::widened;
use crate::simd::Lanes;
use crate::{Element, View};

/// Bytes of keys and values in a block, more or less: this block and the next stay in the second-level cache.
const BLOCK_BYTES: usize = 128 << 10;

/// Keys of a part: so many pages of memory are read side by side, each in order.
const PART: usize = 8;

/// Keys and values in two views.
pub(crate) struct Views<'a, T> {
    pub(crate) k: View<'a, T>,
    pub(crate) v: View<'a, T>,
}

impl<T: Element> Source for Views<'_, T> {
    fn dims(&self) -> (usize, usize) {
        (self.k.dim(), self.v.dim())
    }

    fn block(&self) -> usize {
        let key = (self.k.heads() * (self.k.dim() + self.v.dim()) * size_of::<T>()).max(1);
        let keys = (BLOCK_BYTES / key).clamp(16, MAX_BLOCK);
        if keys.is_power_of_two() { keys } else { keys.next_power_of_two() / 2 }
    }

    fn part(&self) -> usize {
        PART
    }

    #[inline(always)]
    fn products<S: Simd, F: Lanes<S>>(
        &self,
        simd: S,
        (panel, _): (&[f32], usize),
        at: (usize, usize),
        keys: Range<usize>,
        out: &mut [f32],
    ) {
        // Eight sums in registers, however many of them one row of lanes takes.
        match F::LEN / <S::f32s as SimdBase<S>>::LEN {
            0 | 1 => self.tiles::<S, F, 8>(simd, panel, at, keys, out),
            2 => self.tiles::<S, F, 4>(simd, panel, at, keys, out),
            _ => self.tiles::<S, F, 2>(simd, panel, at, keys, out),
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
        let mut values: [&[T]; PART] = [&[]; PART];
        let values = &mut values[..keys.len()];
        for (value, key) in values.iter_mut().zip(keys) {
            *value = self.v.row(batch, key, head);
        }
        accumulate(simd, values, probs, shrink, self.v.dim(), acc);
    }

    fn key(&self, batch: usize, key: usize, head: usize) -> Vec<f32> {
        widened(self.k.row(batch, key, head))
    }

    fn value(&self, batch: usize, key: usize, head: usize) -> Vec<f32> {
        widened(self.v.row(batch, key, head))
    }
}

impl<T: Element> Views<'_, T> {
    /// `K` keys at a time; the last ones with the very last standing in for those that are missing.
    #[inline(always)]
    fn tiles<S: Simd, F: Lanes<S>, const K: usize>(
        &self,
        simd: S,
        panel: &[f32],
        (batch, head): (usize, usize),
        keys: Range<usize>,
        out: &mut [f32],
    ) {
        let dim = self.k.dim();
        if dim == 0 {
            return out.fill(0.0);
        }
        let mut first = keys.start;
        for out in out.chunks_mut(K * F::LEN) {
            let mut rows: [&[T]; K] = [&[]; K];
            for (row, key) in rows.iter_mut().zip(first..) {
                *row = self.k.row(batch, key.min(keys.end - 1), head);
            }
            tile::<S, T, F, K>(simd, panel, rows, out);
            first += K;
        }
    }
}

/// Dimensions of a few keys that are made f32 at a time, between products: so memory is never waited for all at once.
const RUN: usize = 16;

/// Products of the lanes with `K` keys, their sums held in registers.
#[inline(always)]
fn tile<S: Simd, T: Element, F: Lanes<S>, const K: usize>(simd: S, panel: &[f32], keys: [&[T]; K], out: &mut [f32]) {
    let dim = keys[0].len();
    let mut place = [[0.0; RUN]; K];
    let mut sums = [F::splat(simd, 0.0); K];
    for (panel, first) in panel.chunks(RUN * F::LEN).zip((0..dim).step_by(RUN)) {
        let mut wide: [&[f32]; K] = [&[]; K];
        for ((wide, key), place) in wide.iter_mut().zip(keys).zip(&mut place) {
            *wide = T::wide(simd, &key[first..dim.min(first + RUN)], place);
        }
        let run = wide[0].len();
        for wide in &mut wide {
            *wide = &wide[..run];
        }
        for ((q, of_first), t) in panel.chunks_exact(F::LEN).zip(wide[0]).zip(0..) {
            let q = F::from_slice(simd, q);
            sums[0] = q.mul_add(F::splat(simd, *of_first), sums[0]);
            for key in 1..K {
                sums[key] = q.mul_add(F::splat(simd, wide[key][t]), sums[key]);
            }
        }
    }
    for (sum, out) in sums.iter().zip(out.chunks_exact_mut(F::LEN)) {
        sum.store_slice(out);
    }
}
