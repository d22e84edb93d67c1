//! Keys and values as callers hold them: (batch, len, heads, head_dim), in any strides.

use std::ops::Range;

use fearless_simd::Simd;

use super::products::{TILE, lay, products};
use super::{MAX_BLOCK, Source, accumulate};
use crate::alone::widened;
use crate::simd::Lanes;
use crate::{Element, View};

/// Bytes of keys and values in a block, more or less: this block and the next stay in the second-level cache.
const BLOCK_BYTES: usize = 128 << 10;

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
        TILE
    }

    #[inline(always)]
    fn products<S: Simd, F: Lanes<S>>(
        &self,
        simd: S,
        (panel, rows): (&[f32], usize),
        (batch, head): (usize, usize),
        keys: Range<usize>,
        room: &mut Vec<f32>,
        out: &mut [f32],
    ) {
        if self.k.dim() == 0 {
            return out.fill(0.0);
        }
        // The last key stands in for those that are missing.
        let mut tile: [&[T]; TILE] = [&[]; TILE];
        for (key, at) in tile.iter_mut().zip(keys.start..) {
            *key = self.k.row(batch, at.min(keys.end - 1), head);
        }
        room.resize(self.k.dim() * TILE, 0.0);
        lay(simd, tile, room);
        products(simd, (panel, F::LEN), rows, room, out);
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
        let mut values: [&[T]; TILE] = [&[]; TILE];
        let values = &mut values[..keys.len()];
        for (value, key) in values.iter_mut().zip(keys) {
            *value = self.v.row(batch, key, head);
        }
        accumulate(simd, values, probs, shrink, (0, self.v.dim()), acc);
    }

    fn key(&self, batch: usize, key: usize, head: usize) -> Vec<f32> {
        widened(self.k.row(batch, key, head))
    }

    fn value(&self, batch: usize, key: usize, head: usize) -> Vec<f32> {
        widened(self.v.row(batch, key, head))
    }
}
