//! Activations that are x times a sigmoid, on whole vectors and all threads: a feed-forward net has more of them than of
//! anything but products, and one call of the mathematics library for each takes longer than its share of a product.

use attnscope_kernel::simd::{Lanes, exp2};
use candle_core::{CpuStorage, CustomOp1, Layout, Result, Shape, Tensor, bail};
use fearless_simd::{Level, Select, Simd, SimdBase, dispatch};
use rayon::prelude::*;

/// Numbers that are worth a task.
const TASK: usize = 1 << 14;

/// Of which number the sigmoid is taken.
#[derive(Clone, Copy)]
enum Of {
    /// x itself.
    X,
    /// 2 sqrt(2 / pi) (x + 0.044715 x^3), since (1 + tanh(y)) / 2 is the sigmoid of 2 y.
    Cubic,
}

/// x sigmoid(x), within 2e-7 |x|.
pub(crate) fn silu(x: &Tensor) -> Result<Tensor> {
    x.contiguous()?.apply_op1_no_bwd(&Of::X)
}

/// x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2, within 2e-7 |x|.
pub(crate) fn gelu_tanh(x: &Tensor) -> Result<Tensor> {
    x.contiguous()?.apply_op1_no_bwd(&Of::Cubic)
}

impl CustomOp1 for Of {
    fn name(&self) -> &'static str {
        "x-sigmoid"
    }

    fn cpu_fwd(&self, storage: &CpuStorage, layout: &Layout) -> Result<(CpuStorage, Shape)> {
        let CpuStorage::F32(numbers) = storage else { bail!("activations are computed in f32") };
        let x = &numbers[layout.start_offset()..][..layout.shape().elem_count()];
        let mut y = vec![0.0; x.len()];
        let level = Level::new();
        y.par_chunks_mut(TASK)
            .zip(x.par_chunks(TASK))
            .for_each(|(y, x)| dispatch!(level, simd => each(simd, *self, x, y)));
        Ok((CpuStorage::F32(y), layout.shape().clone()))
    }
}

/// `y` of every `x`.
#[inline(always)]
fn each<S: Simd>(simd: S, of: Of, x: &[f32], y: &mut [f32]) {
    simd.vectorize(
        #[inline(always)]
        || {
            let width = <S::f32s as SimdBase<S>>::LEN;
            let (whole, last) = x.split_at(x.len() / width * width);
            let (places, last_places) = y.split_at_mut(whole.len());
            for (x, y) in whole.chunks_exact(width).zip(places.chunks_exact_mut(width)) {
                one(simd, of, S::f32s::from_slice(simd, x)).store_slice(y);
            }
            // What does not fill a vector, filled up.
            let mut full = [0.0; 64];
            full[..last.len()].copy_from_slice(last);
            let vector = one(simd, of, S::f32s::from_slice(simd, &full[..width]));
            last_places.copy_from_slice(&vector.as_slice()[..last.len()]);
        },
    );
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
    use candle_core::{Device, Tensor};

    use super::{TASK, gelu_tanh, silu};

    /// From far below to far above 0, and so many that neither vectors nor tasks are full.
    fn numbers() -> Vec<f32> {
        (0..TASK + 7).map(|at| (at as f32 - TASK as f32 / 2.0) / 300.0).collect()
    }

    fn worst(f: fn(&Tensor) -> candle_core::Result<Tensor>, want: fn(f64) -> f64) -> f64 {
        let x = numbers();
        let y = f(&Tensor::from_vec(x.clone(), x.len(), &Device::Cpu).unwrap()).unwrap().to_vec1::<f32>().unwrap();
        let error = |(x, y): (&f32, &f32)| (f64::from(*y) - want(f64::from(*x))).abs() / f64::from(x.abs()).max(1e-6);
        x.iter().zip(&y).map(error).fold(0.0, f64::max)
    }

    #[test]
    fn they_are_what_their_formulas_say() {
        let off = worst(silu, |x| x / (1.0 + (-x).exp()));
        assert!(off < 2e-7, "{off}");
        let gelu =
            |x: f64| 0.5 * x * (1.0 + ((2.0 / std::f64::consts::PI).sqrt() * (x + 0.044_715 * x.powi(3))).tanh());
        let off = worst(gelu_tanh, gelu);
        assert!(off < 2e-7, "{off}");
    }

    #[test]
    fn numbers_that_are_none_stay_so_and_shapes_too() {
        let x = Tensor::new(&[[f32::NAN, f32::INFINITY], [0.0, -200.0]], &Device::Cpu).unwrap();
        for f in [silu, gelu_tanh] {
            let y = f(&x.t().unwrap()).unwrap().to_vec2::<f32>().unwrap();
            assert!(y[0][0].is_nan());
            assert_eq!((y[1][0], y[0][1], y[1][1]), (f32::INFINITY, 0.0, 0.0));
        }
    }
}
