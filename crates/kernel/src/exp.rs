//! exp2, the one transcendental of the loop.

use fearless_simd::{Bytes, Select, Simd, SimdBase, SimdFloat};

/// 2^x for x <= 0 in every lane: within 2 ULP, 0 below -126 (no subnormals), NaN stays NaN.
///
/// Range reduction to |f| <= 1/2, then a degree-6 minimax polynomial (relative error 2e-9).
#[inline(always)]
pub(crate) fn exp2<S: Simd>(simd: S, x: S::f32s) -> S::f32s {
    let splat = |c: f32| S::f32s::splat(simd, c);
    let n = x.round_ties_even();
    let f = x - n;
    let p = splat(1.534_581_2e-4);
    let p = p.mul_add(f, splat(1.339_993_1e-3));
    let p = p.mul_add(f, splat(9.618_489e-3));
    let p = p.mul_add(f, splat(5.550_328_8e-2));
    let p = p.mul_add(f, splat(2.402_264_7e-1));
    let p = p.mul_add(f, splat(std::f32::consts::LN_2));
    let p = p.mul_add(f, splat(1.0));
    let exponent = (n.to_int::<S::i32s>() + 127) << 23;
    let scale: S::f32s = exponent.bitcast();
    x.simd_lt(splat(-126.0)).select(splat(0.0), p * scale)
}
