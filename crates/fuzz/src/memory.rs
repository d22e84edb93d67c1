//! How much memory reading an input takes.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

/// Nothing may take more, in bytes, whatever it reads: the allocation fails, which ends the process.
const LAST: usize = 2 << 30;

/// The system's allocator, counting.
#[derive(Debug)]
pub struct Counting;

// SAFETY: every call is handed to the system's allocator as it came, or answered with null, which means that there is no
// memory.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if !grown(layout.size()) {
            return std::ptr::null_mut();
        }
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if !grown(layout.size()) {
            return std::ptr::null_mut();
        }
        // SAFETY: as the caller promises.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if !grown(size) {
            return std::ptr::null_mut();
        }
        LIVE.fetch_sub(layout.size(), Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.realloc(memory, layout, size) }
    }
}

fn grown(size: usize) -> bool {
    let live = LIVE.fetch_add(size, Relaxed).saturating_add(size);
    if live > LAST {
        LIVE.fetch_sub(size, Relaxed);
        return false;
    }
    PEAK.fetch_max(live, Relaxed);
    true
}

/// The bytes that `work` took at most, beyond those that were taken before it.
pub fn taken<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let before = LIVE.load(Relaxed);
    PEAK.store(before, Relaxed);
    let done = work();
    (done, PEAK.load(Relaxed).saturating_sub(before))
}

/// What an input of this many bytes may take: numbers of a few bits become f32, and a bracket of JSON a value. The rest is
/// for what does not depend on the input, such as buffers of matrix products.
pub fn allowed(input: usize) -> usize {
    (8 << 20) + 64 * input
}
