//! Memory asked for a little before it is needed.

use fearless_simd::Simd;

/// Bytes that memory gives at a time.
const LINE: usize = 64;

/// Rows of memory that will be needed, asked for a few lines at a time: memory takes only so many wishes at once, and who
/// makes more waits.
#[derive(Default)]
pub(crate) struct Soon {
    stretches: Vec<Stretch>,
    /// The line to ask for next: (stretch, row of it, byte of that).
    stretch: usize,
    row: usize,
    byte: usize,
}

/// Rows of so many bytes, so many bytes apart.
struct Stretch {
    first: *const i8,
    apart: usize,
    rows: usize,
    bytes: usize,
}

impl Soon {
    /// Forgets all that was not asked for.
    pub(crate) fn clear(&mut self) {
        self.stretches.clear();
        (self.stretch, self.row, self.byte) = (0, 0, 0);
    }

    /// Rows of `dim` numbers, the first at a place, so many numbers apart.
    pub(crate) fn rows<T>(&mut self, first: *const T, apart: usize, rows: usize, dim: usize) {
        if rows == 0 || dim == 0 {
            return;
        }
        let within = first.addr() % LINE;
        self.stretches.push(Stretch {
            first: first.cast::<i8>().wrapping_sub(within),
            apart: apart.wrapping_mul(size_of::<T>()),
            rows,
            bytes: dim * size_of::<T>() + within,
        });
    }

    /// How many lines there are.
    pub(crate) fn lines(&self) -> usize {
        self.stretches.iter().map(|stretch| stretch.rows * stretch.bytes.div_ceil(LINE)).sum()
    }

    /// Asks for so many of them, and waits for none.
    #[inline(always)]
    pub(crate) fn some<S: Simd>(&mut self, simd: S, lines: usize) {
        let Some(mut stretch) = self.stretches.get(self.stretch) else { return };
        for _ in 0..lines {
            line2(simd, stretch.first.wrapping_add(self.row.wrapping_mul(stretch.apart)).wrapping_add(self.byte));
            self.byte += LINE;
            if self.byte >= stretch.bytes {
                (self.row, self.byte) = (self.row + 1, 0);
                if self.row == stretch.rows {
                    (self.stretch, self.row) = (self.stretch + 1, 0);
                    let Some(next) = self.stretches.get(self.stretch) else { return };
                    stretch = next;
                }
            }
        }
    }
}

/// Asks memory for the cache lines of a row of `dim` numbers, and waits for none. Where that cannot be said, nothing
/// happens.
#[inline(always)]
pub(crate) fn soon<S: Simd, T>(simd: S, row: *const T, dim: usize) {
    let within = row.addr() % LINE;
    for at in (0..dim * size_of::<T>() + within).step_by(LINE) {
        line(simd, row.cast::<i8>().wrapping_sub(within).wrapping_add(at));
    }
}

#[inline(always)]
fn line2<S: Simd>(simd: S, line: *const i8) {
    if let Some(sse2) = simd.level().as_sse2() {
        prefetch2(sse2, line);
    }
}
fearless_simd::kernel!(
    #[inline]
    fn prefetch2(sse2: Sse2, line: *const i8) {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T1 }>(line);
    }
);
/// Asks for one line.
#[inline(always)]
fn line<S: Simd>(simd: S, line: *const i8) {
    #[cfg(target_arch = "x86_64")]
    if let Some(sse2) = simd.level().as_sse2() {
        prefetch(sse2, line);
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (simd, line);
}

#[cfg(target_arch = "x86_64")]
fearless_simd::kernel!(
    #[inline]
    fn prefetch(sse2: Sse2, line: *const i8) {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(line);
    }
);
