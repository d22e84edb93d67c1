//! Attention on candle tensors against candle's own softmax(q k^T) v.

use attnscope_candle::attention;
use attnscope_kernel::{Isa, Params};
use candle_core::{D, DType, Device, Result, Tensor};

/// (batch, len, heads, dim), the same numbers every time.
fn tensor(shape: (usize, usize, usize, usize), seed: f32) -> Result<Tensor> {
    let len = shape.0 * shape.1 * shape.2 * shape.3;
    let x: Vec<f32> = (0..len).map(|i| ((i as f32 + seed) * 0.731).sin() * 1.5).collect();
    Tensor::from_vec(x, shape, &Device::Cpu)
}

fn plain(q: &Tensor, k: &Tensor, v: &Tensor, scale: f64) -> Result<Tensor> {
    let by_head = |x: &Tensor| x.transpose(1, 2)?.contiguous();
    let (q, k, v) = (by_head(q)?, by_head(k)?, by_head(v)?);
    let weights = candle_nn::ops::softmax(&(q.matmul(&k.t()?)? * scale)?, D::Minus1)?;
    weights.matmul(&v)?.transpose(1, 2)
}

fn largest_difference(a: &Tensor, b: &Tensor) -> Result<f32> {
    (a - b)?.abs()?.flatten_all()?.max(0)?.to_scalar()
}

#[test]
fn it_is_what_candle_makes_of_it() -> Result<()> {
    let (q, k, v) = (tensor((2, 33, 4, 16), 0.0)?, tensor((2, 70, 4, 16), 5.0)?, tensor((2, 70, 4, 16), 9.0)?);
    let done = attention(&q, &k, &v, &Params::for_head_dim(16), Isa::detect())?;
    assert_eq!(done.out.dims(), [2, 33, 4, 16]);
    assert_eq!(done.lse.len(), 2 * 4 * 33);
    assert!(largest_difference(&done.out, &plain(&q, &k, &v, 0.25)?)? < 2e-6);
    Ok(())
}

#[test]
fn tensors_are_read_where_they_lie() -> Result<()> {
    // Laid out (batch, heads, len, dim), and narrowed so that they begin in the middle of their storage.
    let x = tensor((1, 4, 40, 8), 1.0)?.transpose(1, 2)?.narrow(1, 7, 30)?;
    assert!(!x.is_contiguous());
    let same = x.contiguous()?;
    let params = Params { causal: true, ..Params::for_head_dim(8) };
    let strided = attention(&x, &x, &x, &params, Isa::detect())?;
    let packed = attention(&same, &same, &same, &params, Isa::detect())?;
    assert_eq!(largest_difference(&strided.out, &packed.out)?, 0.0);
    assert_eq!(strided.lse, packed.lse);
    Ok(())
}

#[test]
fn what_it_cannot_read_is_said() -> Result<()> {
    let x = tensor((1, 6, 2, 8), 1.0)?;
    let params = Params::for_head_dim(8);
    let message = |q: &Tensor, k: &Tensor| attention(q, k, k, &params, Isa::detect()).unwrap_err().to_string();
    assert!(message(&x.to_dtype(DType::F64)?, &x).contains("all of f32, f16, bf16 or f64, not F64, F32 and F32"));
    assert!(message(&x, &x.transpose(2, 3)?).contains("unit stride in the innermost dimension, not 8"));
    assert!(message(&x, &tensor((1, 6, 2, 4), 1.0)?).contains("k head_dim is 4, but must be 8, as in q"));
    Ok(())
}
