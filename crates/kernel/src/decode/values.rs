//! Values by probabilities, along v_head_dim.

use fearless_simd::{Simd, SimdBase, f32x4};

use super::FEW;
use crate::element::sealed::{Sealed, load};
use crate::simd::Lanes;

/// Keys at a time: few, so that all sums of further rows find them in the first-level cache, and the next ones are
/// fetched meanwhile.
const SOME: usize = 64;

/// `acc[row] = acc[row] * shrink[row] + sum over keys of probs[key][row] * values[key]`; `acc` is (rows x v_dim), `probs`
/// (keys x lanes), and `values` are some columns, from `first` on. Four rows at a time share what is read.
#[inline(never)] // one copy, whatever reads the keys
pub(crate) fn accumulate<S: Simd, T: Sealed>(
    simd: S,
    values: &[&[T]],
    (probs, lanes): (&[f32], usize),
    shrink: &[f32],
    (first, v_dim): (usize, usize),
    acc: &mut [f32],
) {
    let columns = values.first().map_or(0, |value| value.len());
    simd.vectorize(
        #[inline(always)]
        || {
            let mut begun = false;
            for (values, probs) in values.chunks(SOME).zip(probs.chunks(SOME * lanes)) {
                let of = |row| Of { values, probs, lanes, row, columns, v_dim };
                let shrink = if !begun { shrink } else { &[1.0; FEW][..shrink.len()] };
                let mut row = 0;
                while row < shrink.len() {
                    let (shrink, acc) = (&shrink[row..], &mut acc[row * v_dim + first..]);
                    row += match shrink.len() {
                        1 => rows::<S, T, 1>(simd, of(row), shrink, acc),
                        2 | 3 => rows::<S, T, 2>(simd, of(row), shrink, acc),
                        _ => rows::<S, T, 4>(simd, of(row), shrink, acc),
                    };
                }
                begun = true;
            }
        },
    );
}

/// Which values, and which rows of which probabilities.
struct Of<'a, T> {
    values: &'a [&'a [T]],
    probs: &'a [f32],
    lanes: usize,
    row: usize,
    columns: usize,
    v_dim: usize,
}

impl<T> Clone for Of<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Of<'_, T> {}

/// `R` rows; gives their number.
#[inline(always)]
fn rows<S: Simd, T: Sealed, const R: usize>(simd: S, of: Of<T>, shrink: &[f32], acc: &mut [f32]) -> usize {
    let wide = <S::f32s as SimdBase<S>>::LEN == 16;
    let mut t = 0;
    // As many sums as hide the latency of the additions and have registers: 32 wide ones, or 16.
    if R == 1 || (R == 2 && wide) {
        t = run::<S, T, S::f32s, R, 8>(simd, of, shrink, t, acc);
    }
    if R == 2 || wide {
        t = run::<S, T, S::f32s, R, 4>(simd, of, shrink, t, acc);
    }
    if R == 4 {
        t = run::<S, T, S::f32s, R, 2>(simd, of, shrink, t, acc);
    }
    t = run::<S, T, S::f32s, R, 1>(simd, of, shrink, t, acc);
    t = run::<S, T, f32x4<S>, R, 1>(simd, of, shrink, t, acc);
    for t in t..of.columns {
        for row in 0..R {
            let mut sum = 0.0;
            for (value, probs) in of.values.iter().zip(of.probs.chunks_exact(of.lanes)) {
                let mut wide = [0.0];
                T::widen_with(simd, &value[t..t + 1], &mut wide);
                sum += probs[of.row + row] * wide[0];
            }
            let acc = &mut acc[row * of.v_dim + t];
            *acc = *acc * shrink[row] + sum;
        }
    }
    R
}

/// From column `t` on, `C` vectors at a time; gives the first column that is left.
#[inline(always)]
fn run<S: Simd, T: Sealed, F: Lanes<S>, const R: usize, const C: usize>(
    simd: S,
    of: Of<T>,
    shrink: &[f32],
    mut t: usize,
    acc: &mut [f32],
) -> usize {
    let width = F::LEN;
    while t + C * width <= of.columns {
        // A block is summed by itself and then added, so that rounding grows with keys / block, not with keys.
        let mut sums = [[F::splat(simd, 0.0); C]; R];
        for (value, probs) in of.values.iter().zip(of.probs.chunks_exact(of.lanes)) {
            let value = &value[t..t + C * width];
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
