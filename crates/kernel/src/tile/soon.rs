//! Memory asked for a little before it is needed.

use fearless_simd::Simd;

/// Asks memory for the cache lines of a row of `dim` numbers, and waits for none. Where that cannot be said, nothing
/// happens.
#[inline(always)]
pub(crate) fn soon<S: Simd, T>(simd: S, row: *const T, dim: usize) {
    #[cfg(target_arch = "x86_64")]
    if let Some(sse2) = simd.level().as_sse2() {
        let line = 64 / size_of::<T>();
        for at in (0..dim).step_by(line) {
            prefetch(sse2, row.wrapping_add(at).cast());
        }
        // A row that does not begin with a line ends in one more.
        prefetch(sse2, row.wrapping_add(dim.saturating_sub(1)).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (simd, row, dim);
}

#[cfg(target_arch = "x86_64")]
fearless_simd::kernel!(
    #[inline]
    fn prefetch(sse2: Sse2, line: *const i8) {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(line);
    }
);
