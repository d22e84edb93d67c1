//! What candle calls: forward when the operation is applied, backward when gradients are asked for.

use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use attnscope_kernel::{Element, Gradients, Isa, Params, View, backward, bf16, f16, forward, reference};
use candle_core::backend::BackendStorage;
use candle_core::{CpuStorage, CustomOp3, DType, Error, Layout, Result, Shape, Storage, Tensor, WithDType};

use crate::Attention;

pub(crate) fn attention(q: &Tensor, k: &Tensor, v: &Tensor, params: &Params, isa: Isa) -> Result<Attention> {
    for (name, tensor) in [("q", q), ("k", k), ("v", v)] {
        if !tensor.device().is_cpu() {
            candle_core::bail!("attention runs on the CPU, and {name} is on {:?}", tensor.device());
        }
    }
    let left = Arc::new(OnceLock::new());
    let out = q.apply_op3(k, v, Op { params: params.clone(), isa, left: Arc::clone(&left) })?;
    match left.get() {
        Some(Left { lse, .. }) => Ok(Attention { out, lse: Arc::clone(lse) }),
        None => candle_core::bail!("attention left nothing behind"),
    }
}

/// One application. candle keeps it as long as gradients may be asked for.
struct Op {
    params: Params,
    isa: Isa,
    left: Arc<OnceLock<Left>>,
}

/// What the backward pass needs of the forward pass, beside the output.
struct Left {
    lse: Arc<[f64]>,
    /// The output before it was rounded to a half type: gradients would be as coarse.
    out: Option<Vec<f32>>,
}

impl Op {
    fn leave(&self, lse: Vec<f64>, out: Option<Vec<f32>>) {
        // An operation is applied once.
        let _ = self.left.set(Left { lse: lse.into(), out });
    }

    fn half<T: Element>(&self, [q, k, v]: [View<T>; 3]) -> Result<Vec<T>> {
        let done = forward(q, k, v, &self.params, self.isa).map_err(Error::wrap)?;
        let mut out = vec![T::zero(); done.out.len()];
        T::narrow(&done.out, &mut out);
        self.leave(done.lse, Some(done.out));
        Ok(out)
    }

    /// The gradients of numbers of type `T`, whose output was `O`.
    fn gradients<T: Element + WithDType, O: Element>(
        &self,
        [q, k, v, d_out]: [&Stored<impl Deref<Target = Storage>>; 4],
        out: View<O>,
        lse: &[f64],
    ) -> Result<Gradients> {
        let [q, k, v, d_out] = [q.view::<T>()?, k.view()?, v.view()?, d_out.view()?];
        backward(q, k, v, out, lse, d_out, &self.params, self.isa).map_err(Error::wrap)
    }
}

impl CustomOp3 for Op {
    fn name(&self) -> &'static str {
        "attention"
    }

    fn cpu_fwd(
        &self,
        q: &CpuStorage,
        q_layout: &Layout,
        k: &CpuStorage,
        k_layout: &Layout,
        v: &CpuStorage,
        v_layout: &Layout,
    ) -> Result<(CpuStorage, Shape)> {
        let (batch, q_len, q_heads, _) = q_layout.shape().dims4()?;
        let shape = Shape::from((batch, q_len, q_heads, v_layout.shape().dims4()?.3));
        let all = [(q, q_layout), (k, k_layout), (v, v_layout)];
        let out = match (q, k, v) {
            (CpuStorage::F32(_), CpuStorage::F32(_), CpuStorage::F32(_)) => {
                let [q, k, v] = views::<f32>(all)?;
                let done = forward(q, k, v, &self.params, self.isa).map_err(Error::wrap)?;
                self.leave(done.lse, None);
                CpuStorage::F32(done.out)
            }
            (CpuStorage::F16(_), CpuStorage::F16(_), CpuStorage::F16(_)) => CpuStorage::F16(self.half(views(all)?)?),
            (CpuStorage::BF16(_), CpuStorage::BF16(_), CpuStorage::BF16(_)) => {
                CpuStorage::BF16(self.half(views(all)?)?)
            }
            (CpuStorage::F64(_), CpuStorage::F64(_), CpuStorage::F64(_)) => {
                let [q, k, v] = views::<f64>(all)?;
                let done = reference::attention(q, k, v, &self.params).map_err(Error::wrap)?;
                self.leave(done.lse, None);
                CpuStorage::F64(done.out)
            }
            _ => candle_core::bail!(
                "attention needs q, k and v all of f32, f16, bf16 or f64, not {:?}, {:?} and {:?}",
                q.dtype(),
                k.dtype(),
                v.dtype()
            ),
        };
        Ok((out, shape))
    }

    fn bwd(
        &self,
        q: &Tensor,
        k: &Tensor,
        v: &Tensor,
        out: &Tensor,
        d_out: &Tensor,
    ) -> Result<(Option<Tensor>, Option<Tensor>, Option<Tensor>)> {
        let Some(left) = self.left.get() else { candle_core::bail!("attention's forward pass left nothing behind") };
        let (batch, q_len, q_heads, v_dim) = out.dims4()?;
        let of = [q, k, v];
        // Gradients of sums come as one number spread over every axis.
        let d_out = d_out.contiguous()?;
        let rounded = match &left.out {
            Some(out) => Some(View::new(out, [batch, q_len, q_heads, v_dim]).map_err(Error::wrap)?),
            None => None,
        };
        let [q, k, v, d_out, out] = [q, k, v, &d_out, out].map(stored);
        let dtype = of[0].dtype();
        let d = match (dtype, rounded) {
            (DType::F64, _) => {
                let [q, k, v, d_out] = [q.view::<f64>()?, k.view()?, v.view()?, d_out.view()?];
                let d = reference::backward(q, k, v, d_out, &self.params).map_err(Error::wrap)?;
                return tensors(of, [d.dq, d.dk, d.dv]);
            }
            (DType::F16, Some(out)) => self.gradients::<f16, _>([&q, &k, &v, &d_out], out, &left.lse)?,
            (DType::BF16, Some(out)) => self.gradients::<bf16, _>([&q, &k, &v, &d_out], out, &left.lse)?,
            _ => self.gradients::<f32, f32>([&q, &k, &v, &d_out], out.view()?, &left.lse)?,
        };
        tensors(of, [d.dq, d.dk, d.dv])
    }
}

/// The gradients as tensors, each in the shape and type of what it belongs to.
fn tensors<T: WithDType>(
    of: [&Tensor; 3],
    data: [Vec<T>; 3],
) -> Result<(Option<Tensor>, Option<Tensor>, Option<Tensor>)> {
    let [dq, dk, dv] = data;
    let tensor = |data, of: &Tensor| Tensor::from_vec(data, of.shape(), of.device())?.to_dtype(of.dtype());
    Ok((Some(tensor(dq, of[0])?), Some(tensor(dk, of[1])?), Some(tensor(dv, of[2])?)))
}

/// A tensor's storage, held for reading.
struct Stored<'a, S> {
    storage: S,
    layout: &'a Layout,
}

fn stored(tensor: &Tensor) -> Stored<'_, impl Deref<Target = Storage>> {
    let (storage, layout) = tensor.storage_and_layout();
    Stored { storage, layout }
}

impl<S: Deref<Target = Storage>> Stored<'_, S> {
    fn view<T: WithDType>(&self) -> Result<View<'_, T>> {
        match &*self.storage {
            Storage::Cpu(data) => view(data, self.layout),
            _ => candle_core::bail!("attention runs on the CPU"),
        }
    }
}

fn views<'a, T: WithDType>([q, k, v]: [(&'a CpuStorage, &Layout); 3]) -> Result<[View<'a, T>; 3]> {
    Ok([view(q.0, q.1)?, view(k.0, k.1)?, view(v.0, v.1)?])
}

/// The kernel's view of a (batch, len, heads, dim) tensor, where it lies.
pub(crate) fn view<'a, T: WithDType>(storage: &'a CpuStorage, layout: &Layout) -> Result<View<'a, T>> {
    let data = storage.as_slice::<T>()?;
    let (batch, len, heads, dim) = layout.shape().dims4()?;
    let &[batch_stride, len_stride, heads_stride, unit] = layout.stride() else {
        candle_core::bail!("attention needs (batch, len, heads, dim), not {:?}", layout.shape());
    };
    if unit != 1 && dim > 1 {
        candle_core::bail!("attention needs unit stride in the innermost dimension, not {unit}");
    }
    let strides = [batch_stride, len_stride, heads_stride];
    View::strided(&data[layout.start_offset()..], [batch, len, heads, dim], strides).map_err(Error::wrap)
}
