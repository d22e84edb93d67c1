//! Four rows side by side: [t][row]. Keys lie so, and queries and outputs pass through it on their way into a panel and back.

use fearless_simd::{Simd, SimdBase, f32x4};

/// Gives `put` the numbers of four rows, each of `dim`, at one t after another.
#[inline(always)]
pub(crate) fn across<S: Simd>(simd: S, rows: [&[f32]; 4], dim: usize, mut put: impl FnMut(usize, f32x4<S>)) {
    let [a, b, c, d] = [&rows[0][..dim], &rows[1][..dim], &rows[2][..dim], &rows[3][..dim]];
    for t in (0..dim / 4 * 4).step_by(4) {
        let (a, b) = (f32x4::from_slice(simd, &a[t..t + 4]), f32x4::from_slice(simd, &b[t..t + 4]));
        let (c, d) = (f32x4::from_slice(simd, &c[t..t + 4]), f32x4::from_slice(simd, &d[t..t + 4]));
        let turned = turn([a, b, c, d]);
        put(t, turned[0]);
        put(t + 1, turned[1]);
        put(t + 2, turned[2]);
        put(t + 3, turned[3]);
    }
    for t in dim / 4 * 4..dim {
        put(t, f32x4::from_slice(simd, &[a[t], b[t], c[t], d[t]]));
    }
}

/// The inverse: writes four rows of `dim` numbers, of which `take` gives those at one t.
#[inline(always)]
pub(crate) fn along<S: Simd>(rows: [&mut [f32]; 4], dim: usize, mut take: impl FnMut(usize) -> f32x4<S>) {
    let [a, b, c, d] = rows;
    let (a, b, c, d) = (&mut a[..dim], &mut b[..dim], &mut c[..dim], &mut d[..dim]);
    for t in (0..dim / 4 * 4).step_by(4) {
        let turned = turn([take(t), take(t + 1), take(t + 2), take(t + 3)]);
        turned[0].store_slice(&mut a[t..t + 4]);
        turned[1].store_slice(&mut b[t..t + 4]);
        turned[2].store_slice(&mut c[t..t + 4]);
        turned[3].store_slice(&mut d[t..t + 4]);
    }
    for t in dim / 4 * 4..dim {
        [a[t], b[t], c[t], d[t]] = take(t).to_array();
    }
}

/// A square of four by four, turned about its diagonal.
#[inline(always)]
fn turn<S: Simd>([a, b, c, d]: [f32x4<S>; 4]) -> [f32x4<S>; 4] {
    let (ac, bd) = ([a.zip_low(c), a.zip_high(c)], [b.zip_low(d), b.zip_high(d)]);
    [ac[0].zip_low(bd[0]), ac[0].zip_high(bd[0]), ac[1].zip_low(bd[1]), ac[1].zip_high(bd[1])]
}
