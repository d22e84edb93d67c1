//! The kernel as an operation on candle tensors, with its gradients.
//!
//! ```
//! use attnscope_candle::attention;
//! use attnscope_kernel::{Isa, Params};
//! use candle_core::{Device, Tensor, Var};
//!
//! let x = Var::randn(0f32, 1.0, (1, 6, 2, 8), &Device::Cpu)?; // (batch, len, heads, head_dim)
//! let params = Params { causal: true, ..Params::for_head_dim(8) };
//! let done = attention(&x, &x, &x, &params, Isa::detect())?;
//! assert_eq!(done.out.dims(), [1, 6, 2, 8]);
//! let gradients = done.out.sqr()?.sum_all()?.backward()?;
//! assert_eq!(gradients.get(&x).unwrap().dims(), x.dims());
//! # Ok::<(), candle_core::Error>(())
//! ```
#![forbid(unsafe_code)]

mod op;

use std::sync::Arc;

use attnscope_kernel::{Isa, Params, View};
use candle_core::{CpuStorage, Result, Storage, Tensor};

/// What attention leaves behind.
#[derive(Clone, Debug)]
pub struct Attention {
    /// (batch, q_len, q_heads, v_head_dim), contiguous, of the inputs' type.
    pub out: Tensor,
    /// (batch, q_heads, q_len): the natural log-sum-exp of every row's scores.
    pub lse: Arc<[f64]>,
}

/// Exact attention on CPU tensors of any strides with unit innermost; nothing is copied on the way in. Gradients flow
/// back into `q`, `k` and `v`.
///
/// `q` is (batch, q_len, q_heads, head_dim), `k` (batch, kv_len, kv_heads, head_dim), `v` (batch, kv_len, kv_heads,
/// v_head_dim). f32, f16 and bf16 run on the kernel, in f32 arithmetic. f64 runs the kernel's reference, forward and
/// backward: it keeps every weight, O(n^2), and is for checking.
///
/// # Errors
/// If the tensors are not all of one of these types and on the CPU, or the shapes do not fit each other. The backward
/// pass fails if there are knockouts.
pub fn attention(q: &Tensor, k: &Tensor, v: &Tensor, params: &Params, isa: Isa) -> Result<Attention> {
    op::attention(q, k, v, params, isa)
}

/// Calls `f` with the kernel's view of a (batch, len, heads, dim) tensor, where it lies.
///
/// # Errors
/// If it is not an f32 tensor on the CPU with unit innermost stride.
pub fn with_view<R>(tensor: &Tensor, f: impl FnOnce(View) -> R) -> Result<R> {
    let (storage, layout) = tensor.storage_and_layout();
    match &*storage {
        Storage::Cpu(data @ CpuStorage::F32(_)) => Ok(f(op::view(data, layout)?)),
        _ => {
            candle_core::bail!("an f32 tensor on the CPU is needed, not {:?} on {:?}", tensor.dtype(), tensor.device())
        }
    }
}
