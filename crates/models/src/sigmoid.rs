//! Activations that are x times a sigmoid, on whole vectors and all threads: a feed-forward net has more of them than of
//! anything but products, and one call of the mathematics library for each takes longer than its share of a product. Where
//! a net is gated, what they are multiplied by is read in the same pass.

use attnscope_kernel::Isa;
use attnscope_kernel::simd::{Lanes, exp2};
use candle_core::{CpuStorage, CustomOp1, CustomOp2, Layout, Result, Shape, Tensor, bail};
use fearless_simd::{Select, Simd, SimdBase, dispatch};
use rayon::prelude::*;

/// Numbers that are worth a task.
const TASK: usize = 1 << 14;

/// x times the sigmoid of some number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Of {
    /// Of x itself: SiLU, within 2e-7 |x|.
    X,
    /// Of 2 sqrt(2 / pi) (x + 0.044715 x^3): x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2, since (1 + tanh(y)) / 2 is the
    /// sigmoid of 2 y. GELU's approximation, within 2e-7 |x|.
    Cubic,
}

impl Of {
    /// Of every number.
    pub(crate) fn each(self, x: &Tensor) -> Result<Tensor> {
        x.contiguous()?.apply_op1_no_bwd(&self)
    }

    /// Of every number, times the one of the same place in `by`.
    pub(crate) fn gated(self, x: &Tensor, by: &Tensor) -> Result<Tensor> {
        x.contiguous()?.apply_op2_no_bwd(&by.contiguous()?, &self)
    }

    /// Of all numbers, on an instruction set that this machine has; times as many others, where there are such.
    fn numbers(self, isa: Isa, x: &[f32], by: Option<&[f32]>) -> Vec<f32> {
        let mut y = vec![0.0; x.len()];
        let tasks = y.par_chunks_mut(TASK).zip(x.par_chunks(TASK));
        match by {
            None => tasks.for_each(|(y, x)| dispatch!(isa.level(), simd => all::<_, false>(simd, self, x, x, y))),
            Some(by) => tasks
                .zip(by.par_chunks(TASK))
                .for_each(|((y, x), by)| dispatch!(isa.level(), simd => all::<_, true>(simd, self, x, by, y))),
        }
        y
    }
}

impl CustomOp1 for Of {
    fn name(&self) -> &'static str {
        "x-sigmoid"
    }

    fn cpu_fwd(&self, storage: &CpuStorage, layout: &Layout) -> Result<(CpuStorage, Shape)> {
        let y = self.numbers(Isa::detect(), numbers(storage, layout)?, None);
        Ok((CpuStorage::F32(y), layout.shape().clone()))
    }
}

impl CustomOp2 for Of {
    fn name(&self) -> &'static str {
        "x-sigmoid-gated"
    }

    fn cpu_fwd(&self, x: &CpuStorage, xs: &Layout, by: &CpuStorage, bys: &Layout) -> Result<(CpuStorage, Shape)> {
        if xs.shape() != bys.shape() {
            bail!("{:?} numbers cannot be gated by {:?}", xs.shape(), bys.shape());
        }
        let y = self.numbers(Isa::detect(), numbers(x, xs)?, Some(numbers(by, bys)?));
        Ok((CpuStorage::F32(y), xs.shape().clone()))
    }
}

/// Those of a contiguous tensor.
fn numbers<'a>(storage: &'a CpuStorage, layout: &Layout) -> Result<&'a [f32]> {
    let CpuStorage::F32(numbers) = storage else { bail!("activations are computed in f32") };
    Ok(&numbers[layout.start_offset()..][..layout.shape().elem_count()])
}

/// `y` of every `x`, times `by` where it is gated.
#[inline(always)]
fn all<S: Simd, const GATED: bool>(simd: S, of: Of, x: &[f32], by: &[f32], y: &mut [f32]) {
    simd.vectorize(
        #[inline(always)]
        || {
            let width = <S::f32s as SimdBase<S>>::LEN;
            let whole = x.len() / width * width;
            let places = y[..whole].chunks_exact_mut(width);
            for ((x, by), y) in x.chunks_exact(width).zip(by.chunks_exact(width)).zip(places) {
                few::<S, GATED>(simd, of, x, by).store_slice(y);
            }
            // What does not fill a vector, filled up.
            let (mut last, mut last_by) = ([0.0; 64], [0.0; 64]);
            let left = x.len() - whole;
            last[..left].copy_from_slice(&x[whole..]);
            last_by[..left].copy_from_slice(&by[whole..]);
            let vector = few::<S, GATED>(simd, of, &last[..width], &last_by[..width]);
            y[whole..].copy_from_slice(&vector.as_slice()[..left]);
        },
    );
}

/// A vector of them.
#[inline(always)]
fn few<S: Simd, const GATED: bool>(simd: S, of: Of, x: &[f32], by: &[f32]) -> S::f32s {
    let x = one(simd, of, S::f32s::from_slice(simd, x));
    if GATED { x * S::f32s::from_slice(simd, by) } else { x }
}

#[inline(always)]
fn one<S: Simd, F: Lanes<S>>(simd: S, of: Of, x: F) -> F {
    let splat = |c: f32| F::splat(simd, c);
    let t = match of {
        Of::X => x,
        Of::Cubic => {
            let scaled = x * splat(2.0 * std::f32::consts::FRAC_2_SQRT_PI * std::f32::consts::FRAC_1_SQRT_2);
            (x * x).mul_add(splat(0.044_715), splat(1.0)) * scaled
        }
    };
    // e^-|t|, which cannot overflow: the sigmoid is 1 / (1 + e) above 0 and e / (1 + e) below.
    let e = exp2(simd, t.abs() * splat(-std::f32::consts::LOG2_E));
    let share = t.simd_lt(splat(0.0)).select(e, splat(1.0));
    x * (share / (splat(1.0) + e))
}

#[cfg(test)]
mod tests {
    use attnscope_kernel::Isa;
    use candle_core::{Device, Tensor};

    use super::{Of, TASK};

    /// From far below to far above 0, and so many that neither vectors nor tasks are full.
    fn numbers() -> Vec<f32> {
        (0..TASK + 7).map(|at| (at as f32 - TASK as f32 / 2.0) / 300.0).collect()
    }

    /// How far off they are at most, relative to x; and so when gated, relative to x times what gates it. That is of other
    /// signs and sizes than x, with no two alike that are near each other.
    fn worst(isa: Isa, of: Of, want: fn(f64) -> f64) -> [f64; 2] {
        let x = numbers();
        let by: Vec<f32> =
            (0..x.len()).map(|at| (at as f32 * 0.37).sin() * 3.0 + 4.0 * (-1f32).powi(at as i32)).collect();
        let off = |y: Vec<f32>, by: &[f32]| {
            let off = |((x, by), y): ((&f32, &f32), &f32)| {
                let (x, by, y) = (f64::from(*x), f64::from(*by), f64::from(*y));
                (y - want(x) * by).abs() / (x * by).abs().max(1e-6)
            };
            x.iter().zip(by).zip(&y).map(off).fold(0.0, f64::max)
        };
        [off(of.numbers(isa, &x, None), &vec![1.0; x.len()]), off(of.numbers(isa, &x, Some(&by)), &by)]
    }

    #[test]
    fn they_are_what_their_formulas_say() {
        let gelu =
            |x: f64| 0.5 * x * (1.0 + ((2.0 / std::f64::consts::PI).sqrt() * (x + 0.044_715 * x.powi(3))).tanh());
        for isa in Isa::all() {
            for (of, want) in [(Of::X, (|x| x / (1.0 + (-x).exp())) as fn(f64) -> f64), (Of::Cubic, gelu)] {
                let [each, gated] = worst(isa, of, want);
                assert!(each < 2e-7, "{isa:?}, {of:?}: {each}");
                // The product is rounded once more, by 6e-8 at most.
                assert!(gated < 2.6e-7, "{isa:?}, {of:?} gated: {gated}");
            }
        }
    }

    /// A part of a wider tensor is gated by another part of it, row by row.
    #[test]
    fn what_lies_in_rows_of_both_is_gated_by_its_own() {
        let both = Tensor::arange(0f32, 24.0, &Device::Cpu).unwrap().reshape((3, 8)).unwrap();
        let parts = [both.narrow(1, 0, 4).unwrap(), both.narrow(1, 4, 4).unwrap()];
        let got = Of::X.gated(&parts[0], &parts[1]).unwrap().to_vec2::<f32>().unwrap();
        for (row, got) in got.iter().enumerate() {
            for (column, got) in got.iter().enumerate() {
                let x = (row * 8 + column) as f32;
                let want = x / (1.0 + (-x).exp()) * (x + 4.0);
                assert!((got - want).abs() <= 1e-6 * want, "({row}, {column}): {got}, not {want}");
            }
        }
    }

    #[test]
    fn numbers_that_are_none_stay_so_on_every_instruction_set() {
        let (x, by) = ([f32::NAN, f32::INFINITY, 0.0, -200.0], [1.0, 2.0, 3.0, f32::NAN]);
        for isa in Isa::all() {
            for of in [Of::X, Of::Cubic] {
                let y = of.numbers(isa, &x, None);
                assert!(y[0].is_nan() && y[1..] == [f32::INFINITY, 0.0, 0.0], "{isa:?}: {y:?}");
                let y = of.numbers(isa, &x, Some(&by));
                assert!(y[0].is_nan() && y[1..3] == [f32::INFINITY, 0.0] && y[3].is_nan(), "{isa:?}: {y:?}");
            }
        }
    }

    #[test]
    fn tensors_are_read_as_they_lie_and_keep_their_shape() {
        let x = Tensor::new(&[[f32::NAN, f32::INFINITY], [0.0, -200.0]], &Device::Cpu).unwrap();
        let by = Tensor::new(&[[1f32, 2.0], [3.0, f32::NAN]], &Device::Cpu).unwrap();
        for of in [Of::X, Of::Cubic] {
            let y = of.each(&x.t().unwrap()).unwrap().to_vec2::<f32>().unwrap();
            assert!(y[0][0].is_nan());
            assert_eq!((y[1][0], y[0][1], y[1][1]), (f32::INFINITY, 0.0, 0.0));
            let y = of.gated(&x.t().unwrap(), &by.t().unwrap()).unwrap().to_vec2::<f32>().unwrap();
            assert!(y[0][0].is_nan() && y[1][1].is_nan());
            assert_eq!((y[1][0], y[0][1]), (f32::INFINITY, 0.0));
            assert!(of.gated(&x, &by.narrow(0, 0, 1).unwrap()).is_err());
        }
    }
}
