//! The types that numbers may be stored in. All arithmetic is f32.

use half::slice::HalfFloatSliceExt;
use half::{bf16, f16};

pub(crate) mod sealed;

/// f32, f16 or bf16: what tensors may be stored in.
pub trait Element: sealed::Sealed + Copy + Send + Sync + 'static {
    /// `f32`, `f16` or `bf16`.
    const NAME: &'static str;

    /// Reads a run of numbers, exactly. Both are equally long.
    fn widen(from: &[Self], to: &mut [f32]);

    /// Rounds a run of numbers to nearest, ties to even. Both are equally long.
    fn narrow(from: &[f32], to: &mut [Self]);

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

    #[inline(always)]
    fn widen(from: &[Self], to: &mut [f32]) {
        from.convert_to_f32_slice(to);
    }

    #[inline(always)]
    fn narrow(from: &[f32], to: &mut [Self]) {
        to.convert_from_f32_slice(from);
    }

    fn zero() -> Self {
        Self::ZERO
    }
}

impl Element for bf16 {
    const NAME: &'static str = "bf16";

    /// A bf16 is the upper half of an f32: a shift, which becomes vector code wherever it is called from.
    #[inline(always)]
    fn widen(from: &[Self], to: &mut [f32]) {
        for (to, from) in to.iter_mut().zip(from) {
            *to = f32::from_bits(u32::from(from.to_bits()) << 16);
        }
    }

    #[inline(always)]
    fn narrow(from: &[f32], to: &mut [Self]) {
        to.convert_from_f32_slice(from);
    }

    fn zero() -> Self {
        Self::ZERO
    }
}
