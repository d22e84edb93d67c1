//! The kernel as an operation on candle tensors.
//!
//! ```
//! use attnscope_candle::attention;
//! use attnscope_kernel::{Isa, Params};
//! use candle_core::{Device, Tensor};
//!
//! let x = Tensor::randn(0f32, 1.0, (1, 6, 2, 8), &Device::Cpu)?; // (batch, len, heads, head_dim)
//! let params = Params { causal: true, ..Params::for_head_dim(8) };
//! let done = attention(&x, &x, &x, &params, Isa::detect())?;
//! assert_eq!(done.out.dims(), [1, 6, 2, 8]);
//! assert_eq!(done.lse.len(), 2 * 6);
//! # Ok::<(), candle_core::Error>(())
//! ```
#![forbid(unsafe_code)]

use attnscope_kernel::{Isa, Params, View, forward};
use candle_core::{CpuStorage, Error, Result, Storage, Tensor};

/// What attention leaves behind.
#[derive(Clone, Debug)]
pub struct Attention {
    /// (batch, q_len, q_heads, v_head_dim), contiguous.
    pub out: Tensor,
    /// (batch, q_heads, q_len): the natural log-sum-exp of every row's scores.
    pub lse: Vec<f64>,
}

/// Exact attention on f32 CPU tensors of any strides with unit innermost; nothing is copied on the way in.
///
/// `q` is (batch, q_len, q_heads, head_dim), `k` and `v` (batch, kv_len, kv_heads, head_dim).
///
/// # Errors
/// If a tensor is not an f32 one on the CPU, or the shapes do not fit each other.
pub fn attention(q: &Tensor, k: &Tensor, v: &Tensor, params: &Params, isa: Isa) -> Result<Attention> {
    let (batch, q_len, q_heads, _) = q.dims4()?;
    let v_dim = v.dims4()?.3;
    let done =
        with_view(q, |q| with_view(k, |k| with_view(v, |v| forward(q, k, v, params, isa))))???.map_err(Error::wrap)?;
    let out = Tensor::from_vec(done.out, (batch, q_len, q_heads, v_dim), q.device())?;
    Ok(Attention { out, lse: done.lse })
}

/// Calls `f` with the kernel's view of a (batch, len, heads, dim) tensor, where it lies.
///
/// # Errors
/// If it is not an f32 tensor on the CPU with unit innermost stride.
pub fn with_view<R>(tensor: &Tensor, f: impl FnOnce(View) -> R) -> Result<R> {
    let (batch, len, heads, dim) = tensor.dims4()?;
    let (storage, layout) = tensor.storage_and_layout();
    let Storage::Cpu(CpuStorage::F32(data)) = &*storage else {
        candle_core::bail!(
            "attention runs on f32 tensors on the CPU, not {:?} on {:?}",
            tensor.dtype(),
            tensor.device()
        );
    };
    let &[batch_stride, len_stride, heads_stride, unit] = layout.stride() else {
        candle_core::bail!("attention needs (batch, len, heads, dim), not {:?}", layout.shape());
    };
    if unit != 1 && dim > 1 {
        candle_core::bail!("attention needs unit stride in the innermost dimension, not {unit}");
    }
    let strides = [batch_stride, len_stride, heads_stride];
    let view = View::strided(&data[layout.start_offset()..], [batch, len, heads, dim], strides).map_err(Error::wrap)?;
    Ok(f(view))
}
