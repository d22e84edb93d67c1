//! Products of a matrix with a few vectors, as when a text goes on token by token. What costs time is reading the matrix, so
//! it is read once, by all threads, each a run of rows, in several streams at once. A general product packs it first.

use attnscope_kernel::{Isa, share};
use candle_core::{CpuStorage, Result, Storage, Tensor};
use fearless_simd::{Simd, SimdBase, SimdFloat, dispatch};

/// Vectors that are few.
pub(crate) const FEW: usize = 4;
/// Streams that a run of rows is read in. Each goes on from row to row through its own part of the run: what is fetched
/// ahead at the end of a row is the next that is needed.
const STREAMS: usize = 4;
/// Numbers of the matrix that are worth a task.
const TASK: usize = 1 << 16;

/// `x` (n, inp) times the transpose of `weight` (out, inp): (n, out).
///
/// # Errors
/// If the shapes do not fit each other.
pub(crate) fn times(x: &Tensor, weight: &Tensor) -> Result<Tensor> {
    times_on(Isa::detect(), x, weight)
}

/// The same on an instruction set that this machine has.
fn times_on(isa: Isa, x: &Tensor, weight: &Tensor) -> Result<Tensor> {
    let ((n, inp), (out, width)) = (x.dims2()?, weight.dims2()?);
    let (matrix, layout) = weight.storage_and_layout();
    let (Storage::Cpu(CpuStorage::F32(matrix)), true) = (&*matrix, layout.is_contiguous()) else {
        return x.matmul(&weight.t()?);
    };
    if n > FEW || n == 0 || inp != width || inp == 0 || out == 0 {
        return x.matmul(&weight.t()?);
    }
    let matrix = &matrix[layout.start_offset()..][..out * inp];
    let vectors = x.flatten_all()?.to_vec1::<f32>()?;
    // (out, n): each task its own run.
    let mut products = vec![0.0; out * n];
    let rows = (TASK / inp).next_multiple_of(STREAMS).max(STREAMS);
    let runs = products.chunks_mut(rows * n).zip(matrix.chunks(rows * inp)).collect();
    share(
        vec![runs],
        || (),
        |(), (products, matrix)| {
            dispatch!(isa.level(), simd => match n {
                1 => run::<_, 1>(simd, matrix, &vectors, inp, products),
                2 => run::<_, 2>(simd, matrix, &vectors, inp, products),
                3 => run::<_, 3>(simd, matrix, &vectors, inp, products),
                _ => run::<_, FEW>(simd, matrix, &vectors, inp, products),
            });
        },
    );
    if n == 1 {
        return Tensor::from_vec(products, (1, out), x.device());
    }
    Tensor::from_vec(products, (out, n), x.device())?.t()?.contiguous()
}

/// A run of rows, each with every one of `N` vectors.
#[inline(always)]
fn run<S: Simd, const N: usize>(simd: S, matrix: &[f32], vectors: &[f32], inp: usize, products: &mut [f32]) {
    simd.vectorize(
        #[inline(always)]
        || {
            let vectors: [&[f32]; N] = std::array::from_fn(|n| &vectors[n * inp..(n + 1) * inp]);
            let row = |row: usize| &matrix[row * inp..(row + 1) * inp];
            let each = products.len() / N / STREAMS;
            for at in 0..each {
                let found = sums(simd, std::array::from_fn::<_, STREAMS, _>(|stream| row(stream * each + at)), vectors);
                for (stream, found) in found.iter().enumerate() {
                    products[(stream * each + at) * N..][..N].copy_from_slice(found);
                }
            }
            for at in STREAMS * each..products.len() / N {
                products[at * N..][..N].copy_from_slice(&sums(simd, [row(at)], vectors)[0]);
            }
        },
    );
}

/// `R` rows in step, each with every one of `N` vectors.
#[inline(always)]
fn sums<S: Simd, const N: usize, const R: usize>(simd: S, rows: [&[f32]; R], vectors: [&[f32]; N]) -> [[f32; N]; R] {
    let (inp, lanes) = (rows[0].len(), S::f32s::LEN);
    let mut sums = [[S::f32s::splat(simd, 0.0); N]; R];
    let whole = inp / lanes * lanes;
    for first in (0..whole).step_by(lanes) {
        let vectors: [S::f32s; N] =
            std::array::from_fn(|n| S::f32s::from_slice(simd, &vectors[n][first..first + lanes]));
        for (row, sums) in rows.iter().zip(&mut sums) {
            let row = S::f32s::from_slice(simd, &row[first..first + lanes]);
            for (sum, vector) in sums.iter_mut().zip(vectors) {
                *sum = row.mul_add(vector, *sum);
            }
        }
    }
    std::array::from_fn(|r| {
        std::array::from_fn(|n| {
            let rest = rows[r][whole..].iter().zip(&vectors[n][whole..]).map(|(a, b)| a * b);
            sums[r][n].as_slice().iter().copied().chain(rest).sum()
        })
    })
}

#[cfg(test)]
mod tests {
    use attnscope_kernel::Isa;
    use candle_core::{Device, Tensor};

    use super::{times, times_on};

    /// Numbers that look random.
    fn tensor(shape: (usize, usize), seed: usize) -> Tensor {
        let number = |i: usize| (((i + seed) * 2_654_435_761 % 1_000_003) as f32 / 500_000.0) - 1.0;
        Tensor::from_vec((0..shape.0 * shape.1).map(number).collect::<Vec<f32>>(), shape, &Device::Cpu).unwrap()
    }

    #[test]
    fn a_few_vectors_give_what_a_product_gives() {
        for (inp, out) in [(1, 1), (3, 7), (64, 4), (65, 5), (576, 1000), (1003, 130)] {
            let weight = tensor((out, inp), 1);
            for n in 1..=6 {
                let x = tensor((n, inp), 77);
                let want = x.matmul(&weight.t().unwrap()).unwrap();
                for isa in Isa::all() {
                    let got = times_on(isa, &x, &weight).unwrap();
                    assert_eq!(got.dims(), [n, out]);
                    assert!(got.is_contiguous());
                    let apart = (got - &want).unwrap().abs().unwrap().max_all().unwrap().to_scalar::<f32>().unwrap();
                    assert!(apart <= 2e-6 * inp as f32, "{isa:?}: ({n}, {inp}) x {out}: {apart}");
                }
            }
        }
    }

    /// Of some rows of a matrix, and of vectors that lie in others.
    #[test]
    fn parts_of_tensors_serve_too() {
        let (all, wide) = (tensor((30, 40), 3), tensor((2, 80), 9));
        let (weight, x) = (all.narrow(0, 7, 11).unwrap(), wide.narrow(1, 20, 40).unwrap());
        let want = x.contiguous().unwrap().matmul(&weight.contiguous().unwrap().t().unwrap()).unwrap();
        for isa in Isa::all() {
            let got = times_on(isa, &x, &weight).unwrap();
            let apart = (got - &want).unwrap().abs().unwrap().max_all().unwrap().to_scalar::<f32>().unwrap();
            assert!(apart < 1e-5, "{isa:?}: {apart}");
        }
        assert!(times(&tensor((1, 3), 0), &tensor((2, 4), 0)).is_err());
    }
}
