use std::hint::black_box;

use fearless_simd::{Level, Simd, SimdBase, SimdFloat, dispatch};

use super::Limit;

/// Multiply-adds of one thread in one run: tens of milliseconds.
const FMAS: usize = 1 << 30;

/// Multiply-adds on registers alone, f32, on the best instruction set: nothing on this machine can be faster.
pub(crate) struct Peak {
    level: Level,
    threads: usize,
}

impl Peak {
    pub(crate) fn new() -> Self {
        Self { level: Level::new(), threads: rayon::current_num_threads() }
    }
}

impl Limit for Peak {
    fn work(&self) -> f64 {
        let (rounds, fmas) = dispatch!(self.level, simd => rounds(simd));
        2.0 * (rounds * fmas * self.threads) as f64
    }

    fn once(&mut self) {
        let level = self.level;
        rayon::broadcast(|_| black_box(dispatch!(level, simd => spin(simd))));
    }
}

/// Sums that are independent of one another: enough to hide the latency of a multiply-add, few enough for the
/// registers (sixteen on x86 before AVX-512, else thirty-two) beside the two factors.
#[inline(always)]
const fn sums<S: Simd>() -> usize {
    if cfg!(target_arch = "aarch64") || S::f32s::LEN >= 16 { 24 } else { 12 }
}

/// How often a thread goes round in one run, and multiply-adds of one round.
#[inline(always)]
fn rounds<S: Simd>(_: S) -> (usize, usize) {
    let fmas = sums::<S>() * S::f32s::LEN;
    (FMAS / fmas, fmas)
}

#[inline(always)]
fn spin<S: Simd>(simd: S) -> f32 {
    match sums::<S>() {
        24 => chains::<S, 24>(simd),
        _ => chains::<S, 12>(simd),
    }
}

#[inline(always)]
fn chains<S: Simd, const SUMS: usize>(simd: S) -> f32 {
    let (factor, more) = (S::f32s::splat(simd, black_box(0.999_999)), S::f32s::splat(simd, black_box(1e-9)));
    let mut sums = [S::f32s::splat(simd, black_box(1.0)); SUMS];
    for _ in 0..rounds(simd).0 {
        for sum in &mut sums {
            *sum = sum.mul_add(factor, more);
        }
    }
    let total = sums.into_iter().reduce(|a, b| a + b);
    total.map_or(0.0, |total| total.as_slice().iter().sum())
}
