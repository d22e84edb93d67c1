//! The scores of a panel of queries against a run of keys. The forward pass, decoding and every later query come
//! here, so a recalled score is the number that entered the sum.

use fearless_simd::Simd;

use crate::simd::{Lanes, load};

/// `out[key][lane] = sum over t of panel[t][lane] * keys[key][t]`, one fused multiply-add after another where the
/// instruction set has one, from t = 0 up. Keys lie in fours ([`super::pack::pack_keys`]); `Q` fours at a time.
/// `out` has room for the last four whole.
#[inline(always)]
pub(crate) fn scores<S: Simd, F: Lanes<S>, const N: usize, const Q: usize>(
    simd: S,
    panel: &[f32],
    keys: &[[f32; 4]],
    out: &mut [f32],
    between: impl FnMut(),
) {
    some_scores::<S, F, N, N, Q>(simd, panel, 0, keys, out, between);
}

/// [`scores`] of `M` vectors of the panel from one on; the lanes of the others are left as they are.
#[inline(always)]
pub(crate) fn some_scores<S: Simd, F: Lanes<S>, const N: usize, const M: usize, const Q: usize>(
    simd: S,
    panel: &[f32],
    from: usize,
    keys: &[[f32; 4]],
    out: &mut [f32],
    mut between: impl FnMut(),
) {
    let lanes = N * F::LEN;
    let dim = panel.len() / lanes;
    if dim == 0 {
        return out.fill(0.0);
    }
    let out = &mut out[..keys.len() / dim * 4 * lanes];
    let mut fours = keys.chunks_exact(Q * dim);
    let mut places = out.chunks_exact_mut(Q * 4 * lanes);
    for (keys, out) in fours.by_ref().zip(places.by_ref()) {
        tile::<S, F, N, M, Q>(simd, panel, from, keys, out);
        between();
    }
    let rest = fours.remainder().chunks_exact(dim).zip(places.into_remainder().chunks_exact_mut(4 * lanes));
    for (keys, out) in rest {
        tile::<S, F, N, M, 1>(simd, panel, from, keys, out);
    }
}

/// One tile of `Q` fours of keys by a panel, its sums held in registers.
#[inline(always)]
fn tile<S: Simd, F: Lanes<S>, const N: usize, const M: usize, const Q: usize>(
    simd: S,
    panel: &[f32],
    from: usize,
    keys: &[[f32; 4]],
    out: &mut [f32],
) {
    let lanes = N * F::LEN;
    let dim = keys.len() / Q;
    let keys: [&[[f32; 4]]; Q] = std::array::from_fn(|four| &keys[four * dim..(four + 1) * dim]);
    let mut sums = [[[F::splat(simd, 0.0); M]; 4]; Q];
    for ((q, first), t) in panel.chunks_exact(lanes).zip(keys[0]).zip(0..) {
        let q: [F; M] = load(simd, &q[from * F::LEN..]);
        for four in 0..Q {
            let keys = if four == 0 { first } else { &keys[four][t] };
            for key in 0..4 {
                let k = F::splat(simd, keys[key]);
                for r in 0..M {
                    sums[four][key][r] = q[r].mul_add(k, sums[four][key][r]);
                }
            }
        }
    }
    for (sums, out) in sums.as_flattened().iter().zip(out.chunks_exact_mut(lanes)) {
        let out = &mut out[from * F::LEN..];
        for r in 0..M {
            sums[r].store_slice(&mut out[r * F::LEN..(r + 1) * F::LEN]);
        }
    }
}
