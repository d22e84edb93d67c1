use std::ops::Range;

use crate::error::{Error, argument};
use crate::tile::soon::Soon;

/// A strided (batch, len, heads, dim) window on a slice of numbers. The innermost stride is 1.
#[derive(Debug)]
pub struct View<'a, T = f32> {
    data: &'a [T],
    shape: [usize; 4],
    strides: [usize; 3],
}

impl<T> Clone for View<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for View<'_, T> {}

impl<'a, T> View<'a, T> {
    /// A contiguous view.
    ///
    /// # Errors
    /// If `data` is not exactly as long as the shape says.
    pub fn new(data: &'a [T], shape: [usize; 4]) -> Result<Self, Error> {
        let [batch, len, heads, dim] = shape;
        match size(&[batch, len, heads, dim]) {
            Some(want) if want == data.len() => {}
            Some(want) => return argument("data", data.len(), format!("{want} numbers for shape {shape:?}")),
            None => return argument("shape", format!("{shape:?}"), "small enough to index"),
        }
        // Where there is nothing, no stride is ever taken; sizes beside a 0 may be absurd.
        let stride = |sizes: &[usize]| size(sizes).unwrap_or(0);
        Self::strided(data, shape, [stride(&[len, heads, dim]), stride(&[heads, dim]), dim])
    }

    /// A view with the strides of batch, len and heads given in elements.
    ///
    /// # Errors
    /// If the last element would lie outside of `data`.
    pub fn strided(data: &'a [T], shape: [usize; 4], strides: [usize; 3]) -> Result<Self, Error> {
        if shape.iter().all(|&n| n > 0) {
            let last = (0..3).try_fold(shape[3] - 1, |sum: usize, axis| {
                sum.checked_add((shape[axis] - 1).checked_mul(strides[axis])?)
            });
            if last.is_none_or(|last| last >= data.len()) {
                let got = format!("{shape:?} with strides {strides:?}");
                return argument("shape", got, format!("within the {} numbers given", data.len()));
            }
        }
        Ok(Self { data, shape, strides })
    }

    /// (batch, len, heads, dim).
    pub fn shape(&self) -> [usize; 4] {
        self.shape
    }

    pub(crate) fn batch(&self) -> usize {
        self.shape[0]
    }

    pub(crate) fn len(&self) -> usize {
        self.shape[1]
    }

    pub(crate) fn heads(&self) -> usize {
        self.shape[2]
    }

    pub(crate) fn dim(&self) -> usize {
        self.shape[3]
    }

    /// The vector at one position of one head.
    ///
    /// # Panics
    /// If an index lies outside of the shape.
    pub fn row(&self, batch: usize, position: usize, head: usize) -> &'a [T] {
        let [batches, len, heads, dim] = self.shape;
        assert!(batch < batches && position < len && head < heads, "row outside of the view");
        if dim == 0 {
            return &[];
        }
        let start = batch * self.strides[0] + position * self.strides[1] + head * self.strides[2];
        &self.data[start..start + dim]
    }

    /// Says that rows of one head will be read.
    pub(crate) fn soon(&self, soon: &mut Soon, batch: usize, positions: Range<usize>, head: usize) {
        soon.rows(self.place(batch, positions.start, head), self.strides[1], positions.len(), self.dim());
    }

    /// Where a row begins, for asking memory for it; nothing is read there.
    #[inline(always)]
    pub(crate) fn place(&self, batch: usize, position: usize, head: usize) -> *const T {
        let [of_batch, of_position, of_head] = self.strides;
        let at = (batch.wrapping_mul(of_batch)).wrapping_add(position.wrapping_mul(of_position));
        self.data.as_ptr().wrapping_add(at.wrapping_add(head.wrapping_mul(of_head)))
    }
}

/// The product of sizes, unless it overflows.
pub(crate) fn size(sizes: &[usize]) -> Option<usize> {
    sizes.iter().try_fold(1usize, |product, &n| product.checked_mul(n))
}
