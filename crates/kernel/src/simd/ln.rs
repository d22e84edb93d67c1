//! The natural logarithm in f64, for lse.

/// ln x of a normal number above 0: within 2 ULP. Infinity and NaN stay what they are.
///
/// Plain arithmetic without branches or calls, so that a loop over it becomes vector code on every instruction set.
#[inline(always)]
pub(crate) fn ln(x: f64) -> f64 {
    /// The bits of the square root of 1/2.
    const ROOT: u64 = std::f64::consts::FRAC_1_SQRT_2.to_bits();
    /// ln 2 in two parts; the first has so few bits that any multiple in range is exact. (Cody and Waite 1980)
    const LN2_HIGH: f64 = 0.693_147_180_369_123_8;
    const LN2_LOW: f64 = 1.908_214_929_270_587_7e-10;
    /// Adding it leaves a small whole number in the lowest bits.
    const WHOLE: u64 = 0x4330_0000_0000_0000; // 2^52
    // x = 2^n m with m between the roots of 1/2 and 2, so that m - 1 is exact.
    let above = x.to_bits().wrapping_sub(ROOT);
    let biased = (above >> 52).wrapping_add(1023) & 2047;
    let n = f64::from_bits(WHOLE | biased) - f64::from_bits(WHOLE | 1023);
    let m = f64::from_bits((above & ((1 << 52) - 1)).wrapping_add(ROOT));
    // ln m = 2 atanh(s) = 2 s + 2 s^3 / 3 + 2 s^5 / 5 + ..., and |s| < 0.172 leaves 7e-19.
    let f = m - 1.0;
    let s = f / (2.0 + f);
    let z = s * s;
    let mut p = 2.0 / 21.0;
    for c in [19.0, 17.0, 15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0] {
        p = p * z + 2.0 / c;
    }
    // 2 s = f - s f, which is rounded once.
    let ln = n * LN2_HIGH + (f - (s * (f - z * p) - n * LN2_LOW));
    if x < f64::INFINITY { ln } else { x }
}

#[cfg(test)]
mod tests {
    use super::ln;

    #[test]
    fn ln_is_within_2_ulp_over_its_domain() {
        let near = (-1_000_000..1_000_000).map(|step| 1.0 + f64::from(step) * 3e-7);
        let all = (1..2047u64).flat_map(|exponent| {
            (0..1000u64).map(move |step| f64::from_bits((exponent << 52) | (step * 4_503_599_627_370 + exponent)))
        });
        for x in near.chain(all) {
            let (got, want) = (ln(x), x.ln());
            assert!((got - want).abs() <= 2.0 * (want.abs().next_up() - want.abs()), "ln({x}) = {got}, not {want}");
        }
        assert_eq!([ln(1.0), ln(f64::INFINITY)], [0.0, f64::INFINITY]);
        assert!(ln(f64::NAN).is_nan());
    }
}
