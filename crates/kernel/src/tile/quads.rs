//! Four rows side by side: [t][row]. Keys lie so, and queries pass through it on their way into a panel.

use fearless_simd::{Simd, SimdBase, SimdInterleaved, f32x4};

/// Writes four rows, each `quads.len()` long, side by side.
#[inline(always)]
pub(crate) fn interleave<S: Simd>(simd: S, rows: [&[f32]; 4], quads: &mut [[f32; 4]]) {
    let dim = quads.len();
    let rows = rows.map(|row| &row[..dim]);
    let (blocks, rest) = quads.as_chunks_mut::<4>();
    let done = blocks.len() * 4;
    for (at, block) in blocks.iter_mut().enumerate() {
        let at = at * 4..at * 4 + 4;
        let (a, b) = (f32x4::from_slice(simd, &rows[0][at.clone()]), f32x4::from_slice(simd, &rows[1][at.clone()]));
        let (c, d) = (f32x4::from_slice(simd, &rows[2][at.clone()]), f32x4::from_slice(simd, &rows[3][at]));
        f32x4::store_four_interleaved([a, b, c, d], block.as_flattened_mut());
    }
    for (t, quad) in (done..).zip(rest) {
        *quad = rows.map(|row| row[t]);
    }
}

/// The inverse: `quads` of four rows into the rows.
#[inline(always)]
pub(crate) fn separate<S: Simd>(simd: S, quads: &[[f32; 4]], rows: [&mut [f32]; 4]) {
    let dim = quads.len();
    let rows = rows.map(|row| &mut row[..dim]);
    let (blocks, rest) = quads.as_chunks::<4>();
    let done = blocks.len() * 4;
    let [a, b, c, d] = rows;
    for (at, block) in blocks.iter().enumerate() {
        let four = f32x4::load_four_interleaved(simd, block.as_flattened());
        let at = at * 4..at * 4 + 4;
        four[0].store_slice(&mut a[at.clone()]);
        four[1].store_slice(&mut b[at.clone()]);
        four[2].store_slice(&mut c[at.clone()]);
        four[3].store_slice(&mut d[at]);
    }
    for (t, quad) in (done..).zip(rest) {
        [a[t], b[t], c[t], d[t]] = *quad;
    }
}
