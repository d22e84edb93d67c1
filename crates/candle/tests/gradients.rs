//! Gradients through the operation against candle's own, of the plain formula.

use attnscope_candle::attention;
use attnscope_kernel::{Isa, Knockout, Params};
use candle_core::{D, DType, Device, Result, Tensor, Var};

/// (batch, len, heads, dim), the same numbers every time, in steps that every type has.
fn var(shape: (usize, usize, usize, usize), seed: f64, dtype: DType) -> Result<Var> {
    let len = shape.0 * shape.1 * shape.2 * shape.3;
    let x: Vec<f64> = (0..len).map(|i| (((i as f64 + seed) * 0.731).sin() * 48.0).round() / 32.0).collect();
    Var::from_tensor(&Tensor::from_vec(x, shape, &Device::Cpu)?.to_dtype(dtype)?)
}

/// Causal attention with grouped heads, written out.
fn plain(q: &Tensor, k: &Tensor, v: &Tensor, scale: f64) -> Result<Tensor> {
    let (_, q_len, q_heads, _) = q.dims4()?;
    let (_, kv_len, kv_heads, _) = k.dims4()?;
    let by_head = |x: &Tensor| -> Result<Tensor> {
        let (batch, len, heads, dim) = x.dims4()?;
        let x = x.transpose(1, 2)?.unsqueeze(2)?.expand((batch, heads, q_heads / heads, len, dim))?;
        x.reshape((batch, q_heads, len, dim))
    };
    assert!(q_heads.is_multiple_of(kv_heads));
    let hidden = (0..q_len * kv_len).map(|at| {
        let (query, key) = (at / kv_len, at % kv_len);
        if key > kv_len - q_len + query { f64::NEG_INFINITY } else { 0.0 }
    });
    let mask = Tensor::from_vec(hidden.collect(), (q_len, kv_len), q.device())?.to_dtype(q.dtype())?;
    let scores = (by_head(q)?.matmul(&by_head(k)?.t()?.contiguous()?)? * scale)?.broadcast_add(&mask)?;
    let exp = scores.broadcast_sub(&scores.max_keepdim(D::Minus1)?.detach())?.exp()?;
    let weights = exp.broadcast_div(&exp.sum_keepdim(D::Minus1)?)?;
    weights.matmul(&by_head(v)?)?.transpose(1, 2)
}

/// The gradients of q, k and v, of a loss that gives every output another part.
fn gradients(vars: [&Var; 3], out: &Tensor) -> Result<Vec<Tensor>> {
    let out = out.to_dtype(DType::F64)?;
    let parts = var(out.dims4()?, 3.0, DType::F64)?;
    let loss = (out.sqr()? * parts.as_tensor())?.sum_all()?;
    let all = loss.backward()?;
    vars.iter().map(|var| all.get(var).expect("a gradient").to_dtype(DType::F64)).collect()
}

/// The largest difference, beside the largest number.
fn difference(a: &Tensor, b: &Tensor) -> Result<f64> {
    let largest = |x: Tensor| x.abs()?.flatten_all()?.max(0)?.to_scalar::<f64>();
    Ok(largest((a - b)?)? / largest(b.clone())?)
}

#[test]
fn they_are_candles_own() -> Result<()> {
    let params = Params { causal: true, ..Params::for_head_dim(16) };
    for (dtype, allowed) in [(DType::F64, 1e-8), (DType::F32, 1e-5), (DType::F16, 2e-3), (DType::BF16, 2e-2)] {
        let vars = |dtype| -> Result<[Var; 3]> {
            Ok([var((2, 70, 4, 16), 0.0, dtype)?, var((2, 90, 2, 16), 5.0, dtype)?, var((2, 90, 2, 24), 9.0, dtype)?])
        };
        let [q, k, v] = vars(dtype)?;
        let done = attention(&q, &k, &v, &params, Isa::detect())?;
        assert_eq!((done.out.dims(), done.out.dtype()), (&[2, 70, 4, 24][..], dtype));
        let got = gradients([&q, &k, &v], &done.out)?;
        let [q, k, v] = vars(DType::F64)?;
        let want = gradients([&q, &k, &v], &plain(&q, &k, &v, 0.25)?)?;
        for ((got, want), name) in got.iter().zip(&want).zip(["dq", "dk", "dv"]) {
            let error = difference(got, want)?;
            assert!(error < allowed, "{dtype:?} {name}: {error:e}");
        }
    }
    Ok(())
}

#[test]
fn they_flow_through_views_and_into_one_tensor_thrice() -> Result<()> {
    // (batch, heads, len, dim), as a projection leaves it, is q, k and v at once; the loss spreads one number over all.
    let params = Params::for_head_dim(8);
    let x = var((1, 2, 20, 8), 1.0, DType::F32)?;
    let of = |out: Tensor| -> Result<Tensor> {
        let all = out.sum_all()?.backward()?;
        all.get(&x).expect("a gradient").to_dtype(DType::F64)
    };
    let view = x.transpose(1, 2)?.narrow(1, 3, 11)?;
    let got = of(attention(&view, &view, &view, &params, Isa::detect())?.out)?;
    let scale = f64::from(params.scale);
    // Without a mask: every query sees every key.
    let by_head = view.transpose(1, 2)?.contiguous()?;
    let weights = candle_nn::ops::softmax(&(by_head.matmul(&by_head.t()?.contiguous()?)? * scale)?, D::Minus1)?;
    let want = of(weights.matmul(&by_head)?)?;
    assert!(difference(&got, &want)? < 1e-5);
    Ok(())
}

#[test]
fn what_has_no_gradient_says_so() -> Result<()> {
    let x = var((1, 6, 2, 8), 1.0, DType::F32)?;
    let params = Params { knockouts: vec![Knockout::default()], ..Params::for_head_dim(8) };
    let out = attention(&x, &x, &x, &params, Isa::detect())?.out;
    let message = out.sum_all()?.backward().unwrap_err().to_string();
    assert!(message.contains("knockouts is a list of 1, but must be empty"), "{message}");
    Ok(())
}
