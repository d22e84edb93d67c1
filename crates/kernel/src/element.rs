//! The types that numbers may be stored in. All arithmetic is f32.

use fearless_simd::{Level, dispatch};
use half::{bf16, f16};

mod halves;
pub(crate) mod sealed;

/// f32, f16 or bf16: what tensors may be stored in.
pub trait Element: sealed::Sealed + Copy + Send + Sync + 'static {
    /// `f32`, `f16` or `bf16`.
    const NAME: &'static str;

    /// Reads a run of numbers, exactly. Both are equally long. (Vector code, which knows its instruction set, calls
    /// `widen_with`.)
    fn widen(from: &[Self], to: &mut [f32]) {
        dispatch!(Level::new(), simd => Self::widen_with(simd, from, to));
    }

    /// Rounds a run of numbers to nearest, ties to even. Both are equally long.
    fn narrow(from: &[f32], to: &mut [Self]) {
        dispatch!(Level::new(), simd => Self::narrow_with(simd, from, to));
    }

    /// Zero.
    fn zero() -> Self;
}

impl Element for f32 {
    const NAME: &'static str = "f32";

    #[inline(always)]
    fn widen(from: &[Self], to: &mut [f32]) {
        to.copy_from_slice(from);
    }

    #[inline(always)]
    fn narrow(from: &[f32], to: &mut [Self]) {
        to.copy_from_slice(from);
    }

    fn zero() -> Self {
        0.0
    }
}

impl Element for f16 {
    const NAME: &'static str = "f16";

    fn zero() -> Self {
        Self::ZERO
    }
}

impl Element for bf16 {
    const NAME: &'static str = "bf16";

    fn zero() -> Self {
        Self::ZERO
    }
}
