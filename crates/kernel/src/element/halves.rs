//! Numbers of 16 bits, made f32 as many at a time as the instruction set can.

use fearless_simd::Simd;
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
use fearless_simd::{Avx2, Avx512};

/// One format of 16 bits.
pub(super) trait Format {
    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    fn sixteen(avx512: Avx512, from: &[u16; 16]) -> [f32; 16];

    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    fn eight(avx2: Avx2, from: &[u16; 8]) -> [f32; 8];

    /// Without branches, so that a loop over it becomes vector code where there is no instruction for it.
    fn one(from: u16) -> f32;
}

/// f16.
pub(super) struct Ieee;

/// bf16.
pub(super) struct Brain;

/// Reads a run of numbers, exactly. Both are equally long.
#[inline(always)]
pub(super) fn widen<S: Simd, H: Format>(simd: S, from: &[u16], to: &mut [f32]) {
    let (mut from, mut to) = (from, to);
    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    {
        if let Some(avx512) = simd.level().as_avx512() {
            (from, to) = whole(
                from,
                to,
                #[inline(always)]
                |from| H::sixteen(avx512, from),
            );
        }
        if let Some(avx2) = simd.level().as_avx2() {
            (from, to) = whole(
                from,
                to,
                #[inline(always)]
                |from| H::eight(avx2, from),
            );
        }
    }
    let _ = simd;
    for (from, to) in from.iter().zip(to) {
        *to = H::one(*from);
    }
}

/// Reads `N` at a time; gives what is left of both.
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
#[inline(always)]
fn whole<'a, 'b, const N: usize>(
    from: &'a [u16],
    to: &'b mut [f32],
    read: impl Fn(&[u16; N]) -> [f32; N],
) -> (&'a [u16], &'b mut [f32]) {
    let (whole, rest) = from.as_chunks::<N>();
    let (places, rest_of_places) = to.as_chunks_mut::<N>();
    for (from, to) in whole.iter().zip(places) {
        *to = read(from);
    }
    (rest, rest_of_places)
}

impl Format for Ieee {
    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    #[inline(always)]
    fn sixteen(avx512: Avx512, from: &[u16; 16]) -> [f32; 16] {
        x86::sixteen_f16(avx512, from)
    }

    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    #[inline(always)]
    fn eight(avx2: Avx2, from: &[u16; 8]) -> [f32; 8] {
        x86::eight_f16(avx2, from)
    }

    /// Its bits, moved to where an f32 has them, are the number times 2^-112, subnormals included; infinity and NaN keep
    /// the highest exponent.
    #[inline(always)]
    fn one(from: u16) -> f32 {
        const REBIAS: f32 = f32::from_bits((127 + 112) << 23);
        let (sign, size) = (u32::from(from & 0x8000) << 16, u32::from(from & 0x7fff) << 13);
        let finite = (f32::from_bits(size) * REBIAS).to_bits();
        let bits = if size >= 0x7c00 << 13 { size | 0x7f80_0000 } else { finite };
        f32::from_bits(bits | sign)
    }
}

impl Format for Brain {
    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    #[inline(always)]
    fn sixteen(avx512: Avx512, from: &[u16; 16]) -> [f32; 16] {
        x86::sixteen_bf16(avx512, from)
    }

    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    #[inline(always)]
    fn eight(avx2: Avx2, from: &[u16; 8]) -> [f32; 8] {
        x86::eight_bf16(avx2, from)
    }

    /// The upper half of an f32.
    #[inline(always)]
    fn one(from: u16) -> f32 {
        f32::from_bits(u32::from(from) << 16)
    }
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
