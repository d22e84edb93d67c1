//! The exponentials: exp2 in f32 for the tile loop, exp in f64 for recalled weights.

use fearless_simd::{Select, Simd};

use super::Lanes;

/// 2^x for x <= 0 in every lane: within 2 ULP, 0 below -126 (no subnormals), NaN stays NaN.
///
/// Range reduction to |f| <= 1/2, then a degree-6 minimax polynomial (relative error 2e-9).
#[inline(always)]
pub fn exp2<S: Simd, F: Lanes<S>>(simd: S, x: F) -> F {
    /// Adding it leaves the nearest whole number in the lowest bits.
    const ROUND: f32 = 12_582_912.0; // 1.5 * 2^23
    let splat = |c: f32| F::splat(simd, c);
    let shifted = x + splat(ROUND);
    let f = x - (shifted - splat(ROUND));
    let p = splat(1.534_581_2e-4);
    let p = p.mul_add(f, splat(1.339_993_1e-3));
    let p = p.mul_add(f, splat(9.618_489e-3));
    let p = p.mul_add(f, splat(5.550_328_8e-2));
    let p = p.mul_add(f, splat(2.402_264_7e-1));
    let p = p.mul_add(f, splat(std::f32::consts::LN_2));
    let p = p.mul_add(f, splat(1.0));
    let scale = F::from_bits((shifted.to_bits() << 23) + (127 << 23));
    x.simd_lt(splat(-126.0)).select(splat(0.0), p * scale)
}

/// e^x in f64: within 2 ULP, 0 below -708 (no subnormals), infinity above 709, NaN stays NaN.
///
/// Plain arithmetic without branches or calls, so that a loop over it becomes vector code on every instruction set.
#[inline(always)]
pub(crate) fn exp(x: f64) -> f64 {
    /// Adding it leaves the nearest whole number in the lowest bits.
    const ROUND: f64 = 6_755_399_441_055_744.0; // 1.5 * 2^52
    /// ln 2 in two parts; the first has so few bits that any multiple in range is exact. (Cody and Waite 1980)
    const LN2_HIGH: f64 = 0.693_147_180_369_123_8;
    const LN2_LOW: f64 = 1.908_214_929_270_587_7e-10;
    let shifted = x * std::f64::consts::LOG2_E + ROUND;
    let n = shifted - ROUND;
    let r = (x - n * LN2_HIGH) - n * LN2_LOW;
    // Taylor to the 13th power: |r| <= ln 2 / 2 leaves 4e-18.
    let mut p = 1.0 / 6_227_020_800.0;
    for c in [479_001_600.0, 39_916_800.0, 3_628_800.0, 362_880.0, 40_320.0, 5_040.0, 720.0, 120.0, 24.0, 6.0, 2.0] {
        p = p * r + 1.0 / c;
    }
    let p = 1.0 + (r + r * r * p);
    let scale = f64::from_bits((shifted.to_bits() << 52).wrapping_add(1023 << 52));
    if x < -708.0 {
        0.0
    } else if x > 709.0 {
        f64::INFINITY
    } else {
        p * scale
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::{exp, exp2};
    use crate::Isa;
    use fearless_simd::{Simd, SimdBase, dispatch};

    /// `f` of every number.
    #[inline(always)]
    pub(crate) fn mapped<S: Simd>(simd: S, x: &[f32], f: impl Fn(S::f32s) -> S::f32s) -> Vec<f32> {
        let width = <S::f32s as SimdBase<S>>::LEN;
        let mut y = x.to_vec();
        y.resize(x.len().next_multiple_of(width), 0.0);
        for chunk in y.chunks_exact_mut(width) {
            f(S::f32s::from_slice(simd, chunk)).store_slice(chunk);
        }
        y.truncate(x.len());
        y
    }

    #[test]
    fn exp2_is_within_2_ulp_over_its_domain() {
        // Every exponent and many mantissas, negative: from -126 to the smallest number there is.
        let x: Vec<f32> = (0..=(126.0f32).to_bits()).step_by(997).map(|bits| -f32::from_bits(bits)).collect();
        for isa in Isa::all() {
            for (x, y) in x.iter().zip(dispatch!(isa.0, simd => mapped(simd, &x, |x| exp2(simd, x)))) {
                let want = f64::from(*x).exp2();
                let ulp = f64::from((want as f32).next_up() - want as f32);
                assert!((f64::from(y) - want).abs() <= 2.0 * ulp, "{}: exp2({x}) = {y}, not {want}", isa.name());
            }
            let edges = [0.0, -126.1, -1e30, f32::NEG_INFINITY, f32::NAN, f32::from_bits(0x7f80_0001)];
            let edge = dispatch!(isa.0, simd => mapped(simd, &edges, |x| exp2(simd, x)));
            assert_eq!(edge[..4], [1.0, 0.0, 0.0, 0.0], "{}", isa.name());
            assert!(edge[4].is_nan() && edge[5].is_nan(), "{}", isa.name());
        }
    }

    #[test]
    fn exp_is_within_2_ulp_over_its_domain() {
        for step in 0..2_000_000 {
            let x = -708.0 + f64::from(step) * 7.08e-4;
            let (got, want) = (exp(x), x.exp());
            assert!((got - want).abs() <= 2.0 * (want.next_up() - want), "exp({x}) = {got}, not {want}");
        }
        assert_eq!([exp(0.0), exp(-709.0), exp(f64::NEG_INFINITY)], [1.0, 0.0, 0.0]);
        assert_eq!([exp(710.0), exp(1e6), exp(f64::INFINITY)], [f64::INFINITY; 3]);
        assert!(exp(f64::NAN).is_nan());
    }
}
