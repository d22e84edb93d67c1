//! Memory asked for a little before it is needed.

use fearless_simd::Simd;

/// Bytes that memory gives at a time.
const LINE: usize = 64;

/// Rows of memory that will be needed, asked for a few lines at a time between tiles: memory takes only so many wishes at
/// once, and who makes more waits.
#[derive(Default)]
pub(crate) struct Soon {
    stretches: Vec<Stretch>,
    /// The line to ask for next: (stretch, row of it, byte of that).
    at: (usize, usize, usize),
    /// Blocks before the end at which to begin, and the lines after each of their tiles.
    pace: (usize, usize),
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
        self.at = (0, 0, 0);
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

    /// Spreads all of it over the last of so many `blocks` of so many `tiles`, as late as that can be: what comes early
    /// may be gone again.
    pub(crate) fn spread(&mut self, blocks: usize, tiles: usize) {
        /// Lines that memory brings in less time than a tile takes.
        const AT_EASE: usize = 6;
        let lines: usize = self.stretches.iter().map(|stretch| stretch.rows * stretch.bytes.div_ceil(LINE)).sum();
        let blocks = lines.div_ceil(AT_EASE * tiles.max(1)).min(blocks).max(1);
        self.pace = (blocks, lines.div_ceil(blocks * tiles.max(1)));
    }

    /// The lines to ask for after each tile of a block that has so many to come, with itself.
    pub(crate) fn lines(&self, blocks: usize) -> usize {
        if blocks <= self.pace.0 { self.pace.1 } else { 0 }
    }

    /// Asks for so many lines, and waits for none.
    #[inline(always)]
    pub(crate) fn some<S: Simd>(&mut self, simd: S, lines: usize) {
        let (mut at, mut row, mut byte) = self.at;
        let Some(mut stretch) = self.stretches.get(at) else { return };
        for _ in 0..lines {
            ask(simd, stretch.first.wrapping_add(row.wrapping_mul(stretch.apart)).wrapping_add(byte));
            byte += LINE;
            if byte >= stretch.bytes {
                (row, byte) = (row + 1, 0);
                if row == stretch.rows {
                    (at, row) = (at + 1, 0);
                    let Some(next) = self.stretches.get(at) else { break };
                    stretch = next;
                }
            }
        }
        self.at = (at, row, byte);
    }
}

/// Asks memory for the cache lines of a row of `dim` numbers at once, and waits for none.
#[inline(always)]
pub(crate) fn soon<S: Simd, T>(simd: S, row: *const T, dim: usize) {
    let within = row.addr() % LINE;
    for at in (0..dim * size_of::<T>() + within).step_by(LINE) {
        ask(simd, row.cast::<i8>().wrapping_sub(within).wrapping_add(at));
    }
}

/// Asks for one line, into the second-level cache: the first is full of what is at work. Where that cannot be said,
/// nothing happens.
#[inline(always)]
fn ask<S: Simd>(simd: S, line: *const i8) {
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
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T1 }>(line);
    }
);
