//! The gradients, with every weight recomputed from lse: O(n) memory, like the forward pass.
//!
//! Dao 2023 (FlashAttention-2), algorithm 2. For each chunk of keys walk the blocks of queries that see it:
//!
//! ```text
//! P   = exp(S - lse)               S by the routine of the forward pass
//! dP  = dO V^T                     by the same routine
//! dS  = P * (dP - delta)           delta_i = out_i . d_out_i; times softcap's 1 - tanh^2
//! dQ += dS K                       the forward pass's product with the values
//! dV += P^T dO,  dK += dS^T Q      the other way round, over a block of queries
//! ```
//!
//! The keys' gradients belong to one chunk alone. A query's are summed over the chunks, always in their order
//! ([`ordered`]), so that no result depends on how many threads there are.

mod alone;
mod bias;
mod chunk;
mod grade;
mod head;
mod operands;
mod ordered;
mod plan;
mod sinks;

use fearless_simd::dispatch;

use crate::error::{Error, argument};
use crate::forward::Shape;
use crate::params::Mask;
use crate::share::share;
use crate::view::size;
use crate::{Element, Isa, Params, View};
use chunk::{Room, chunk_of};
use head::Heads;
use operands::{Operands, deltas};
use plan::{CHUNK, Work, blocks, tasks, work};

/// The gradients of a loss by what attention was computed from. All contiguous.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Gradients<F = f32> {
    /// (batch, q_len, q_heads, head_dim). 0 where a row sees nothing.
    pub dq: Vec<F>,
    /// (batch, kv_len, kv_heads, head_dim), summed over the query heads that share a kv head.
    pub dk: Vec<F>,
    /// (batch, kv_len, kv_heads, v_head_dim), summed likewise.
    pub dv: Vec<F>,
    /// In the shape of the bias, summed over what shares it; `None` without a bias.
    pub d_bias: Option<Vec<F>>,
    /// (q_heads); `None` without sinks.
    pub d_sinks: Option<Vec<F>>,
}

/// The gradients of attention, on all cores, in O(n) memory beside them.
///
/// `q`, `k` and `v` are what [`crate::forward`] read, `out` (batch, q_len, q_heads, v_head_dim) and `lse` (batch, q_heads,
/// q_len) what it left, and `d_out` is the gradient of the loss by `out`. The weights are recomputed from lse, on the
/// instruction set of the forward pass as the very numbers it had. The result does not depend on the number of threads.
///
/// An `out` rounded to a half type makes the gradients as coarse as it is: keep the f32 one.
///
/// ```
/// use attnscope_kernel::{Isa, Params, View, backward, forward};
///
/// let x: Vec<f32> = (0..5 * 2 * 4).map(|i| (i as f32 * 0.37).sin()).collect();
/// let view = View::new(&x, [1, 5, 2, 4])?; // (batch, len, heads, head_dim)
/// let params = Params { causal: true, ..Params::for_head_dim(4) };
/// let done = forward(view, view, view, &params, Isa::detect())?;
///
/// // The loss is half the sum of the squared outputs: its gradient by the output is the output.
/// let out = View::new(&done.out, [1, 5, 2, 4])?;
/// let d = backward(view, view, view, out, &done.lse, out, &params, Isa::detect())?;
/// assert_eq!(d.dq.len(), x.len());
/// assert!(d.dq[..8].iter().all(|x| x.abs() < 1e-6)); // the first query sees one key: its weight is 1 whatever q is
/// # Ok::<(), attnscope_kernel::Error>(())
/// ```
///
/// # Errors
/// If the shapes do not fit each other or the parameters, or if there are knockouts.
#[expect(clippy::too_many_arguments, reason = "what the forward pass read, what it left, and what came back")]
pub fn backward<T: Element, O: Element, G: Element>(
    q: View<T>,
    k: View<T>,
    v: View<T>,
    out: View<O>,
    lse: &[f64],
    d_out: View<G>,
    params: &Params,
    isa: Isa,
) -> Result<Gradients, Error> {
    let mut gradients = Gradients::default();
    backward_into(q, k, v, out, lse, d_out, params, isa, &mut gradients)?;
    Ok(gradients)
}

/// [`backward`] into memory that is there already, those of a step before, whatever they hold.
///
/// # Errors
/// As [`backward`]; then `gradients` are what they were.
#[expect(clippy::too_many_arguments, reason = "those of backward, and where to")]
pub fn backward_into<T: Element, O: Element, G: Element>(
    q: View<T>,
    k: View<T>,
    v: View<T>,
    out: View<O>,
    lse: &[f64],
    d_out: View<G>,
    params: &Params,
    isa: Isa,
    gradients: &mut Gradients,
) -> Result<(), Error> {
    let shape = Shape::of(q, k)?;
    check(&shape, v, &[("out shape", out.shape()), ("d_out shape", d_out.shape())], params)?;
    let rows = shape.batch * shape.q_heads * shape.q_len;
    if lse.len() != rows {
        return argument("lse length", lse.len(), format!("{rows}, one a query row"));
    }
    let len = |name, [batch, len, heads, dim]: [usize; 4]| match size(&[batch, len, heads, dim]) {
        Some(len) => Ok(len),
        None => argument(name, dim, "small enough to index"),
    };
    let lens = [len("q head_dim", q.shape())?, len("k head_dim", k.shape())?, len("v head_dim", v.shape())?];
    let Gradients { dq, dk, dv, d_bias, d_sinks } = gradients;
    for (gradient, len) in [&mut *dq, dk, dv].into_iter().zip(lens) {
        gradient.resize(len, 0.0);
    }

    let delta = deltas(&shape, out, d_out);
    let mask = Mask::new(params, shape.q_len, shape.kv_len);
    let operands = Operands { shape, q, k, v, d_out, lse, delta: &delta, params, mask, isa };
    let chunks = shape.kv_len.div_ceil(CHUNK);
    let heads = Heads::new(shape.batch * shape.kv_heads, chunks);
    let blocks = blocks(&operands, dq);
    let tasks = tasks(&operands, dk, dv);
    share(vec![work(tasks)], Room::default, |room, work| match work {
        Work::Copy(batch, head) => heads.copy(&operands, batch, head),
        Work::Chunk(task) => dispatch!(isa.0, simd => chunk_of(simd, operands, &heads, &blocks, room, task)),
    });
    *d_sinks = params.sinks.as_ref().map(|sinks| sinks::d_sinks(&operands, sinks));
    *d_bias = params.bias.as_ref().map(|bias| bias::d_bias(operands, bias));
    Ok(())
}

/// That `v`, whatever has the output's shape, and the parameters fit.
pub(crate) fn check<T>(
    shape: &Shape,
    v: View<T>,
    outs: &[(&'static str, [usize; 4])],
    params: &Params,
) -> Result<(), Error> {
    shape.check_values(v)?;
    params.check(shape)?;
    if !params.knockouts.is_empty() {
        return argument(
            "knockouts",
            format!("a list of {}", params.knockouts.len()),
            "empty: gradients do not go through them",
        );
    }
    let want = [shape.batch, shape.q_len, shape.q_heads, v.dim()];
    match outs.iter().find(|(_, got)| *got != want) {
        Some((name, got)) => argument(name, format!("{got:?}"), format!("{want:?}, as the output is")),
        None => Ok(()),
    }
}
