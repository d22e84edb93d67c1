//! Rows laid out for the tile of [`super::spread`]: cut into strips of a few vectors, each strip of all rows by itself, so
//! that a tile reads one stream of memory. The last vector is filled up with 0.

use std::ops::Range;

use fearless_simd::Simd;

use crate::Element;

/// How rows of `dim` numbers are cut.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Strips {
    dim: usize,
    /// Numbers in a vector.
    len: usize,
    /// Vectors in a strip; the last one may have fewer.
    across: usize,
}

impl Strips {
    pub(crate) fn new(dim: usize, len: usize, across: usize) -> Self {
        Self { dim, len, across }
    }

    /// Numbers in a row, filled up.
    pub(crate) fn width(&self) -> usize {
        self.dim.next_multiple_of(self.len)
    }

    /// The numbers of a row in each strip, filled up.
    pub(crate) fn each(&self) -> impl Iterator<Item = Range<usize>> {
        let (width, step) = (self.width(), self.across * self.len);
        (0..width).step_by(step).map(move |start| start..width.min(start + step))
    }

    /// Writes one of `rows` rows into its strips.
    #[inline(always)]
    pub(crate) fn lay<S: Simd, T: Element>(&self, simd: S, row: &[T], at: usize, rows: usize, strips: &mut [f32]) {
        for strip in self.each() {
            let from = &row[strip.start..strip.end.min(self.dim)];
            let place = &mut strips[strip.start * rows + at * strip.len()..][..strip.len()];
            T::widen_with(simd, from, &mut place[..from.len()]);
            place[from.len()..].fill(0.0);
        }
    }

    /// Makes one of `rows` rows 0.
    #[inline(always)]
    pub(crate) fn clear(&self, at: usize, rows: usize, strips: &mut [f32]) {
        for strip in self.each() {
            strips[strip.start * rows + at * strip.len()..][..strip.len()].fill(0.0);
        }
    }

    /// Reads one of `rows` rows back, each number multiplied by `factor`.
    #[inline(always)]
    pub(crate) fn read(&self, strips: &[f32], at: usize, rows: usize, factor: f32, row: &mut [f32]) {
        for strip in self.each() {
            let place = &mut row[strip.start..strip.end.min(self.dim)];
            let from = &strips[strip.start * rows + at * strip.len()..][..place.len()];
            for (to, from) in place.iter_mut().zip(from) {
                *to = from * factor;
            }
        }
    }
}
