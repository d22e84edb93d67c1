//! The scores of a panel of queries against a run of keys. The forward pass and every later query come here, so a
//! recalled score is the number that entered the sum.

use fearless_simd::{Simd, SimdBase, SimdFloat};

use crate::pack::{VECTORS, lanes};

/// `scores[key][lane] = sum over t of panel[t][lane] * keys[key][t]`, one fused multiply-add after another where the
/// instruction set has one.
#[inline(always)]
pub(crate) fn scores<S: Simd>(simd: S, panel: &[f32], keys: &[&[f32]], scores: &mut [f32]) {
    let lanes = lanes::<S>();
    let mut chunks = keys.chunks_exact(4);
    let mut out = scores.chunks_exact_mut(4 * lanes);
    for (keys, out) in chunks.by_ref().zip(out.by_ref()) {
        tile::<S, 4>(simd, panel, [keys[0], keys[1], keys[2], keys[3]], out);
    }
    for (key, out) in chunks.remainder().iter().zip(out.into_remainder().chunks_exact_mut(lanes)) {
        tile::<S, 1>(simd, panel, [key], out);
    }
}

/// One tile of `KEYS` keys by a panel, its sums held in registers.
#[inline(always)]
fn tile<S: Simd, const KEYS: usize>(simd: S, panel: &[f32], keys: [&[f32]; KEYS], out: &mut [f32]) {
    let (lanes, width) = (lanes::<S>(), <S::f32s as SimdBase<S>>::LEN);
    let dim = panel.len() / lanes;
    let keys = keys.map(|key| &key[..dim]);
    let mut sums = [[S::f32s::splat(simd, 0.0); VECTORS]; KEYS];
    for (t, q) in panel.chunks_exact(lanes).enumerate() {
        let q: [S::f32s; VECTORS] = std::array::from_fn(|r| S::f32s::from_slice(simd, &q[r * width..(r + 1) * width]));
        for key in 0..KEYS {
            let k = S::f32s::splat(simd, keys[key][t]);
            for r in 0..VECTORS {
                sums[key][r] = q[r].mul_add(k, sums[key][r]);
            }
        }
    }
    for (sums, out) in sums.iter().zip(out.chunks_exact_mut(lanes)) {
        for r in 0..VECTORS {
            sums[r].store_slice(&mut out[r * width..(r + 1) * width]);
        }
    }
}
