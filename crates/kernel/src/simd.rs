//! What the tile loop asks of a vector, and the functions that no instruction set has: for whoever computes beside the
//! kernel too.

pub(crate) mod exp;
pub(crate) mod ln;
pub(crate) mod tanh;

use fearless_simd::{Simd, SimdFloat};

pub use exp::exp2;

/// A vector of f32 on the instruction set `S`: the native one for long runs of queries, a narrower one for a few.
pub trait Lanes<S: Simd>: SimdFloat<S, Element = f32> {}

impl<S: Simd, F: SimdFloat<S, Element = f32>> Lanes<S> for F {}

/// `N` vectors that lie one after another.
#[inline(always)]
pub(crate) fn load<S: Simd, F: Lanes<S>, const N: usize>(simd: S, from: &[f32]) -> [F; N] {
    let mut vectors = [F::splat(simd, 0.0); N];
    for r in 0..N {
        vectors[r] = F::from_slice(simd, &from[r * F::LEN..(r + 1) * F::LEN]);
    }
    vectors
}
