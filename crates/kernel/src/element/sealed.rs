//! Reading stored numbers inside of vector code.

use fearless_simd::Simd;
use half::slice::HalfFloatSliceExt;
use half::{bf16, f16};

use crate::simd::Lanes;

/// What the crate itself asks of a type that numbers are stored in.
pub trait Sealed: Sized {
    /// Reads a run of numbers, exactly, with the instructions at hand. Both are equally long.
    fn widen_with<S: Simd>(simd: S, from: &[Self], to: &mut [f32]);

    /// A run of numbers as f32: itself, or widened into `place`, which is at least as long.
    fn wide<'a, S: Simd>(simd: S, from: &'a [Self], place: &'a mut [f32]) -> &'a [f32];
}

/// The first numbers of `from`, as many as the vector has lanes.
#[inline(always)]
pub(crate) fn load<S: Simd, F: Lanes<S>, T: Sealed>(simd: S, from: &[T]) -> F {
    let mut place = [0.0; 16];
    F::from_slice(simd, &T::wide(simd, &from[..F::LEN], &mut place)[..F::LEN])
}

impl Sealed for f32 {
    #[inline(always)]
    fn widen_with<S: Simd>(_: S, from: &[Self], to: &mut [f32]) {
        to.copy_from_slice(from);
    }

    #[inline(always)]
    fn wide<'a, S: Simd>(_: S, from: &'a [Self], _: &'a mut [f32]) -> &'a [f32] {
        from
    }
}

impl Sealed for f16 {
    #[inline(always)]
    fn widen_with<S: Simd>(simd: S, from: &[Self], to: &mut [f32]) {
        let (mut from, mut to) = (from.reinterpret_cast(), to);
        #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
        {
            if let Some(avx512) = simd.level().as_avx512() {
                let (whole, rest) = from.as_chunks::<16>();
                let (places, rest_of_places) = to.as_chunks_mut::<16>();
                for (from, to) in whole.iter().zip(places) {
                    *to = x86::sixteen_f16(avx512, from);
                }
                (from, to) = (rest, rest_of_places);
            }
            if let Some(avx2) = simd.level().as_avx2() {
                let (whole, rest) = from.as_chunks::<8>();
                let (places, rest_of_places) = to.as_chunks_mut::<8>();
                for (from, to) in whole.iter().zip(places) {
                    *to = x86::eight_f16(avx2, from);
                }
                (from, to) = (rest, rest_of_places);
            }
        }
        let _ = simd;
        for (from, to) in from.iter().zip(to) {
            *to = f16_bits(*from);
        }
    }

    #[inline(always)]
    fn wide<'a, S: Simd>(simd: S, from: &'a [Self], place: &'a mut [f32]) -> &'a [f32] {
        Self::widen_with(simd, from, &mut place[..from.len()]);
        &place[..from.len()]
    }
}

impl Sealed for bf16 {
    #[inline(always)]
    fn widen_with<S: Simd>(simd: S, from: &[Self], to: &mut [f32]) {
        let (mut from, mut to) = (from.reinterpret_cast(), to);
        #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
        {
            if let Some(avx512) = simd.level().as_avx512() {
                let (whole, rest) = from.as_chunks::<16>();
                let (places, rest_of_places) = to.as_chunks_mut::<16>();
                for (from, to) in whole.iter().zip(places) {
                    *to = x86::sixteen_bf16(avx512, from);
                }
                (from, to) = (rest, rest_of_places);
            }
            if let Some(avx2) = simd.level().as_avx2() {
                let (whole, rest) = from.as_chunks::<8>();
                let (places, rest_of_places) = to.as_chunks_mut::<8>();
                for (from, to) in whole.iter().zip(places) {
                    *to = x86::eight_bf16(avx2, from);
                }
                (from, to) = (rest, rest_of_places);
            }
        }
        let _ = simd;
        for (from, to) in from.iter().zip(to) {
            *to = f32::from_bits(u32::from(*from) << 16);
        }
    }

    #[inline(always)]
    fn wide<'a, S: Simd>(simd: S, from: &'a [Self], place: &'a mut [f32]) -> &'a [f32] {
        Self::widen_with(simd, from, &mut place[..from.len()]);
        &place[..from.len()]
    }
}

/// An f16 without branches, so that a loop over it becomes vector code where there is no instruction for it.
///
/// Its bits, moved to where an f32 has them, are the number times 2^-112, subnormals included; infinity and NaN keep
/// the highest exponent.
#[inline(always)]
fn f16_bits(half: u16) -> f32 {
    const REBIAS: f32 = f32::from_bits((127 + 112) << 23);
    let (sign, size) = (u32::from(half & 0x8000) << 16, u32::from(half & 0x7fff) << 13);
    let finite = (f32::from_bits(size) * REBIAS).to_bits();
    let bits = if size >= 0x7c00 << 13 { size | 0x7f80_0000 } else { finite };
    f32::from_bits(bits | sign)
}

/// Instructions that the portable vectors do not have.
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
mod x86 {
    #[cfg(target_arch = "x86")]
    use std::arch::x86::*;
    #[cfg(target_arch = "x86_64")]
    use std::arch::x86_64::*;

    use fearless_simd::{f32x8, f32x16, prelude::*, u16x8, u16x16};

    fearless_simd::kernel!(
        #[inline(always)]
        pub(super) fn sixteen_f16(avx512: Avx512, from: &[u16; 16]) -> [f32; 16] {
            let wide: f32x16<_> = _mm512_cvtph_ps(u16x16::from_slice(avx512, from).into()).simd_into(avx512);
            wide.to_array()
        }
    );

    fearless_simd::kernel!(
        #[inline(always)]
        pub(super) fn eight_f16(avx2: Avx2, from: &[u16; 8]) -> [f32; 8] {
            let wide: f32x8<_> = _mm256_cvtph_ps(u16x8::from_slice(avx2, from).into()).simd_into(avx2);
            wide.to_array()
        }
    );

    fearless_simd::kernel!(
        #[inline(always)]
        pub(super) fn sixteen_bf16(avx512: Avx512, from: &[u16; 16]) -> [f32; 16] {
            let bits = _mm512_slli_epi32::<16>(_mm512_cvtepu16_epi32(u16x16::from_slice(avx512, from).into()));
            let wide: f32x16<_> = _mm512_castsi512_ps(bits).simd_into(avx512);
            wide.to_array()
        }
    );

    fearless_simd::kernel!(
        #[inline(always)]
        pub(super) fn eight_bf16(avx2: Avx2, from: &[u16; 8]) -> [f32; 8] {
            let bits = _mm256_slli_epi32::<16>(_mm256_cvtepu16_epi32(u16x8::from_slice(avx2, from).into()));
            let wide: f32x8<_> = _mm256_castsi256_ps(bits).simd_into(avx2);
            wide.to_array()
        }
    );
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
