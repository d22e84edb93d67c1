//! Buffers that an operation is done with, kept for the next: memory that is made anew costs time for its pages.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// What can be used again.
pub(crate) trait Buffer: Default {
    /// What it holds, in bytes.
    fn bytes(&self) -> usize;
}

impl Buffer for Vec<f32> {
    fn bytes(&self) -> usize {
        self.capacity() * size_of::<f32>()
    }
}

pub(crate) struct Spare<B> {
    buffers: Mutex<Vec<B>>,
    /// Bytes that are kept from one operation to the next.
    most: usize,
}

impl<B: Buffer> Spare<B> {
    pub(crate) const fn new(most: usize) -> Self {
        Self { buffers: Mutex::new(Vec::new()), most }
    }

    /// One with whatever it held before, or a new one.
    pub(crate) fn take(&self) -> B {
        self.lock().pop().unwrap_or_default()
    }

    pub(crate) fn give(&self, buffer: B) {
        self.lock().push(buffer);
    }

    /// At the end of an operation: lets go of what is too much to keep.
    pub(crate) fn trim(&self) {
        let mut kept = 0;
        self.lock().retain(|buffer| {
            let fits = kept + buffer.bytes() <= self.most;
            kept += if fits { buffer.bytes() } else { 0 };
            fits
        });
    }

    /// A panic elsewhere leaves a buffer that is as good as any.
    fn lock(&self) -> MutexGuard<'_, Vec<B>> {
        self.buffers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::{Buffer, Spare};

    #[derive(Default)]
    struct Bytes(usize);

    impl Buffer for Bytes {
        fn bytes(&self) -> usize {
            self.0
        }
    }

    #[test]
    fn no_more_is_kept_than_was_said() {
        let spare = Spare::new(100);
        for bytes in [60, 50, 30, 20] {
            spare.give(Bytes(bytes));
        }
        spare.trim();
        let kept: Vec<_> = (0..3).map(|_| spare.take().0).collect();
        assert_eq!(kept, [30, 60, 0], "the first that fit, and then new ones");
    }
}
