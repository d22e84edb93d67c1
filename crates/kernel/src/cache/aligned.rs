//! Numbers that begin where a line of the cache does: a vector that crosses into the next line costs two reads.

use std::ops::{Deref, DerefMut};

use crate::Element;

/// Bytes of a line.
const LINE: usize = 64;

/// A run of numbers, aligned.
#[derive(Debug)]
pub(super) struct Aligned<T> {
    data: Vec<T>,
    start: usize,
    len: usize,
}

impl<T: Element> Aligned<T> {
    /// Zeros.
    pub(super) fn new(len: usize) -> Self {
        let room = LINE / size_of::<T>();
        let data = vec![T::zero(); len + room];
        // Where the offset is not known, any will do: alignment is speed alone.
        let start = data.as_ptr().align_offset(LINE).min(room);
        Self { data, start, len }
    }
}

impl<T: Element> Clone for Aligned<T> {
    fn clone(&self) -> Self {
        let mut clone = Self::new(self.len);
        clone.copy_from_slice(self);
        clone
    }
}

impl<T> Deref for Aligned<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.data[self.start..self.start + self.len]
    }
}

impl<T> DerefMut for Aligned<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.data[self.start..self.start + self.len]
    }
}
