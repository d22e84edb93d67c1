//! Reading stored numbers inside of vector code.

use fearless_simd::{Simd, SimdBase};
use half::slice::HalfFloatSliceExt;
use half::{bf16, f16};

use super::halves::{self, Brain, Ieee};
use crate::simd::Lanes;

/// What the crate itself asks of a type that numbers are stored in.
pub trait Sealed: Sized {
    /// Reads a run of numbers, exactly, with the instructions at hand. Both are equally long.
    fn widen_with<S: Simd>(simd: S, from: &[Self], to: &mut [f32]);

    /// Rounds a run of numbers to nearest, ties to even. Both are equally long.
    fn narrow_with<S: Simd>(simd: S, from: &[f32], to: &mut [Self]);

    /// A run of numbers as f32: itself, or widened into `place`, which is at least as long.
    #[inline(always)]
    fn wide<'a, S: Simd>(simd: S, from: &'a [Self], place: &'a mut [f32]) -> &'a [f32] {
        let place = &mut place[..from.len()];
        Self::widen_with(simd, from, place);
        place
    }
}

/// The first numbers of `from`, as many as the vector has lanes.
#[inline(always)]
pub(crate) fn load<S: Simd, F: Lanes<S>, T: Sealed>(simd: S, from: &[T]) -> F {
    let mut place = [0.0; 16];
    F::from_slice(simd, &T::wide(simd, &from[..F::LEN], &mut place)[..F::LEN])
}

/// Copies a row. Rows are short: a call that copies any number of bytes costs more than it copies.
#[inline(always)]
fn copy<S: Simd>(simd: S, from: &[f32], to: &mut [f32]) {
    assert_eq!(from.len(), to.len(), "a row is copied whole");
    let step = 4 * S::f32s::LEN;
    let (mut whole, mut places) = (from.chunks_exact(step), to.chunks_exact_mut(step));
    for (from, to) in whole.by_ref().zip(places.by_ref()) {
        let four: [S::f32s; 4] = crate::simd::load(simd, from);
        for (four, to) in four.iter().zip(to.chunks_exact_mut(S::f32s::LEN)) {
            four.store_slice(to);
        }
    }
    if !whole.remainder().is_empty() {
        places.into_remainder().copy_from_slice(whole.remainder());
    }
}

impl Sealed for f32 {
    #[inline(always)]
    fn widen_with<S: Simd>(simd: S, from: &[Self], to: &mut [f32]) {
        copy(simd, from, to);
    }

    #[inline(always)]
    fn narrow_with<S: Simd>(simd: S, from: &[f32], to: &mut [Self]) {
        copy(simd, from, to);
    }

    #[inline(always)]
    fn wide<'a, S: Simd>(_: S, from: &'a [Self], _: &'a mut [f32]) -> &'a [f32] {
        from
    }
}

impl Sealed for f16 {
    #[inline(always)]
    fn widen_with<S: Simd>(simd: S, from: &[Self], to: &mut [f32]) {
        halves::widen::<S, Ieee>(simd, from.reinterpret_cast(), to);
    }

    fn narrow_with<S: Simd>(_: S, from: &[f32], to: &mut [Self]) {
        to.convert_from_f32_slice(from);
    }
}

impl Sealed for bf16 {
    #[inline(always)]
    fn widen_with<S: Simd>(simd: S, from: &[Self], to: &mut [f32]) {
        halves::widen::<S, Brain>(simd, from.reinterpret_cast(), to);
    }

    fn narrow_with<S: Simd>(_: S, from: &[f32], to: &mut [Self]) {
        to.convert_from_f32_slice(from);
    }
}

#[cfg(test)]
mod tests {
    use fearless_simd::dispatch;
    use half::{bf16, f16};

    use super::Sealed;
    use crate::Isa;

    fn same<T: Sealed + Copy + Into<f32>>(all: &[T]) {
        let want: Vec<f32> = all.iter().map(|x| (*x).into()).collect();
        for isa in Isa::all() {
            let mut got = vec![0.0; all.len()];
            dispatch!(isa.0, simd => T::widen_with(simd, all, &mut got));
            for (got, want) in got.iter().zip(&want) {
                let same = got.to_bits() == want.to_bits() || (got.is_nan() && want.is_nan());
                assert!(same, "{}: {got} for {want}", isa.name());
            }
        }
    }

    #[test]
    fn every_half_is_read_exactly() {
        // An odd number, so that there is a rest.
        same(&(0..=u16::MAX).chain(0..5).map(f16::from_bits).collect::<Vec<_>>());
        same(&(0..=u16::MAX).chain(0..5).map(bf16::from_bits).collect::<Vec<_>>());
    }
}
