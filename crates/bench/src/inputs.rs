use rayon::prelude::*;

/// `len` numbers that look normal (mean 0, variance 1), the same for the same seed on every machine.
pub(crate) fn normal(seed: u64, len: usize) -> Vec<f32> {
    (0..len as u64).into_par_iter().map(|index| bell(mixed(seed << 48 ^ index))).collect()
}

/// Well mixed bits. (Steele, Lea and Flood 2014, SplitMix)
fn mixed(index: u64) -> u64 {
    let x = index.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ x >> 31
}

/// The sum of four even numbers from 0 to 1 is a bell around 2 with variance 1/3.
fn bell(bits: u64) -> f32 {
    let sum: u64 = (0..4).map(|part| bits >> (16 * part) & 0xffff).sum();
    (sum as f32 / 65_535.0 - 2.0) * 3.0f32.sqrt()
}

#[cfg(test)]
mod tests {
    use super::normal;

    #[test]
    fn numbers_look_normal_and_differ_by_seed() {
        let x = normal(1, 100_000);
        let mean = x.iter().map(|x| f64::from(*x)).sum::<f64>() / x.len() as f64;
        let variance = x.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>() / x.len() as f64;
        assert!(mean.abs() < 0.02 && (variance - 1.0).abs() < 0.02, "{mean} {variance}");
        assert_eq!(x[..100], normal(1, 100));
        assert_ne!(x[..100], normal(2, 100));
    }
}
