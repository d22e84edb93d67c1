//! tanh in every lane, for softcap.

use fearless_simd::{Select, Simd};

use super::Lanes;
use super::exp::exp2;

/// tanh(x) within 4 ULP; NaN stays NaN.
///
/// Near 0 an odd polynomial (x + x^3 P(x^2), minimax on |x| <= 0.625, relative error 4e-9), elsewhere
/// 1 - 2 / (e^2|x| + 1), where nothing cancels.
#[inline(always)]
pub(crate) fn tanh<S: Simd, F: Lanes<S>>(simd: S, x: F) -> F {
    let splat = |c: f32| F::splat(simd, c);
    let size = x.abs();
    let square = x * x;
    let p = splat(-5.704_987e-3);
    let p = p.mul_add(square, splat(2.063_908_7e-2));
    let p = p.mul_add(square, splat(-5.373_971_5e-2));
    let p = p.mul_add(square, splat(1.333_144_2e-1));
    let p = p.mul_add(square, splat(-3.333_328e-1));
    let near = (p * square).mul_add(x, x);
    // e^-2|x|, which cannot overflow: (1 - e) / (1 + e).
    let e = exp2(simd, size * splat(-2.0 * std::f32::consts::LOG2_E));
    let far = ((splat(1.0) - e) / (splat(1.0) + e)).copysign(x);
    size.simd_lt(splat(0.625)).select(near, far)
}

#[cfg(test)]
mod tests {
    use super::tanh;
    use crate::Isa;
    use crate::simd::exp::tests::mapped;
    use fearless_simd::dispatch;

    #[test]
    fn tanh_is_within_4_ulp() {
        let mut x: Vec<f32> = (0..=(20.0f32).to_bits()).step_by(1009).map(f32::from_bits).collect();
        x.extend(x.clone().iter().map(|x| -x));
        for isa in Isa::all() {
            for (x, y) in x.iter().zip(dispatch!(isa.0, simd => mapped(simd, &x, |x| tanh(simd, x)))) {
                let want = f64::from(*x).tanh();
                let ulp = f64::from((want.abs() as f32).next_up() - want.abs() as f32);
                assert!((f64::from(y) - want).abs() <= 4.0 * ulp, "{}: tanh({x}) = {y}, not {want}", isa.name());
            }
            let edges = [f32::INFINITY, f32::NEG_INFINITY, 1e30, f32::NAN];
            let edge = dispatch!(isa.0, simd => mapped(simd, &edges, |x| tanh(simd, x)));
            assert_eq!(edge[..3], [1.0, -1.0, 1.0], "{}", isa.name());
            assert!(edge[3].is_nan(), "{}", isa.name());
        }
    }
}
