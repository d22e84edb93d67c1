//! Values by probabilities, along v_head_dim.

use fearless_simd::{Simd, SimdBase, f32x4};

use crate::element::sealed::{Sealed, load};
use crate::simd::Lanes;

/// `acc[row] = acc[row] * shrink[row] + sum over keys of probs[key][row] * value(key)`; `acc` is (rows x v_dim), `probs`
/// (keys x lanes). Four rows at a time share what is read.
#[inline(always)]
pub(crate) fn accumulate<'a, S: Simd, T: Sealed + 'a>(
    simd: S,
    value: impl Fn(usize) -> &'a [T],
    (probs, lanes): (&[f32], usize),
    shrink: &[f32],
    v_dim: usize,
    acc: &mut [f32],
) {
    let mut row = 0;
    for (shrink, acc) in shrink.chunks(4).zip(acc.chunks_mut((4 * v_dim).max(1))) {
        let of = Of { probs, lanes, row, v_dim };
        match shrink.len() {
            1 => rows::<S, T, 1>(simd, &value, of, shrink, acc),
            2 => rows::<S, T, 2>(simd, &value, of, shrink, acc),
            3 => rows::<S, T, 3>(simd, &value, of, shrink, acc),
            _ => rows::<S, T, 4>(simd, &value, of, shrink, acc),
        }
        row += 4;
    }
}

/// Which rows of which probabilities.
#[derive(Clone, Copy)]
struct Of<'a> {
    probs: &'a [f32],
    lanes: usize,
    row: usize,
    v_dim: usize,
}

#[inline(always)]
fn rows<'a, S: Simd, T: Sealed + 'a, const R: usize>(
    simd: S,
    value: &impl Fn(usize) -> &'a [T],
    of: Of,
    shrink: &[f32],
    acc: &mut [f32],
) {
    let width = <S::f32s as SimdBase<S>>::LEN;
    let mut t = 0;
    // As many sums as hide the latency of the additions and have registers: 32 wide ones, or 16.
    match (R, width) {
        (1, _) => t = run::<S, T, S::f32s, R, 8>(simd, value, of, shrink, t, acc),
        (_, 16) => t = run::<S, T, S::f32s, R, 4>(simd, value, of, shrink, t, acc),
        _ => {}
    }
    t = run::<S, T, S::f32s, R, 2>(simd, value, of, shrink, t, acc);
    t = run::<S, T, S::f32s, R, 1>(simd, value, of, shrink, t, acc);
    t = run::<S, T, f32x4<S>, R, 1>(simd, value, of, shrink, t, acc);
    for t in t..of.v_dim {
        for row in 0..R {
            let mut sum = 0.0;
            for (key, probs) in of.probs.chunks_exact(of.lanes).enumerate() {
                let mut wide = [0.0];
                T::widen_with(simd, &value(key)[t..t + 1], &mut wide);
                sum += probs[of.row + row] * wide[0];
            }
            let acc = &mut acc[row * of.v_dim + t];
            *acc = *acc * shrink[row] + sum;
        }
    }
}

/// From dimension `t` on, `C` vectors at a time; gives the first dimension that is left.
#[inline(always)]
fn run<'a, S: Simd, T: Sealed + 'a, F: Lanes<S>, const R: usize, const C: usize>(
    simd: S,
    value: &impl Fn(usize) -> &'a [T],
    of: Of,
    shrink: &[f32],
    mut t: usize,
    acc: &mut [f32],
) -> usize {
    let width = F::LEN;
    while t + C * width <= of.v_dim {
        // A block is summed by itself and then added, so that rounding grows with keys / block, not with keys.
        let mut sums = [[F::splat(simd, 0.0); C]; R];
        for (key, probs) in of.probs.chunks_exact(of.lanes).enumerate() {
            let value = &value(key)[t..t + C * width];
            let probs = &probs[of.row..of.row + R];
            let mut v = [F::splat(simd, 0.0); C];
            for c in 0..C {
                v[c] = load(simd, &value[c * width..(c + 1) * width]);
            }
            for row in 0..R {
                let p = F::splat(simd, probs[row]);
                for c in 0..C {
                    sums[row][c] = p.mul_add(v[c], sums[row][c]);
                }
            }
        }
        for row in 0..R {
            let shrink = F::splat(simd, shrink[row]);
            let acc = &mut acc[row * of.v_dim + t..row * of.v_dim + t + C * width];
            for c in 0..C {
                let acc = &mut acc[c * width..(c + 1) * width];
                F::from_slice(simd, acc).mul_add(shrink, sums[row][c]).store_slice(acc);
            }
        }
        t += C * width;
    }
    t
}
