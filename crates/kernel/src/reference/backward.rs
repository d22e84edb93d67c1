//! The gradients in f64, straight from the formulas.

use super::{attention, dot};
use crate::backward::{Gradients, check};
use crate::forward::Shape;
use crate::{Error, Mask, Params, View};

/// What [`crate::backward`] computes, in f64, from the weights of [`attention`]; numbers of any type. `d_out` is (batch,
/// q_len, q_heads, v_head_dim).
///
/// # Errors
/// As [`attention`]; if `d_out` is not of the output's shape; if there are knockouts.
pub fn backward<T: Copy + Into<f64>, G: Copy + Into<f64>>(
    q: View<T>,
    k: View<T>,
    v: View<T>,
    d_out: View<G>,
    params: &Params,
) -> Result<Gradients<f64>, Error> {
    let shape = Shape::of(q, k)?;
    check(&shape, v, &[("d_out shape", d_out.shape())], params)?;
    let done = attention(q, k, v, params)?;
    let [batches, q_len, q_heads, dim] = q.shape();
    let (kv_len, kv_heads, v_dim) = (shape.kv_len, shape.kv_heads, v.dim());
    let mask = Mask::new(params, q_len, kv_len);
    let bias_at = |batch: usize, head: usize, query: usize, key: usize| {
        params.bias.as_ref().map(|bias| {
            let [batches, heads, ..] = bias.shape();
            ((batch % batches * heads + head % heads) * q_len + query) * kv_len + key
        })
    };
    let mut d = Gradients {
        dq: vec![0.0; batches * q_len * q_heads * dim],
        dk: vec![0.0; batches * kv_len * kv_heads * dim],
        dv: vec![0.0; batches * kv_len * kv_heads * v_dim],
        d_bias: params.bias.as_ref().map(|bias| vec![0.0; bias.data().len()]),
        d_sinks: params.sinks.as_ref().map(|sinks| vec![0.0; sinks.len()]),
    };
    for batch in 0..batches {
        for head in 0..q_heads {
            let kv_head = head / shape.group();
            for query in 0..q_len {
                let row = (batch * q_len + query) * q_heads + head;
                let weights = (batch * q_heads + head) * q_len + query;
                let (q_row, d_row) = (q.row(batch, query, head), d_out.row(batch, query, head));
                let delta: f64 =
                    done.out[row * v_dim..(row + 1) * v_dim].iter().zip(d_row).map(|(o, d)| o * (*d).into()).sum();
                if let (Some(sinks), Some(d_sinks)) = (&params.sinks, &mut d.d_sinks) {
                    d_sinks[head] -= (f64::from(sinks[head]) - done.lse[weights]).exp() * delta;
                }
                for key in mask.visible(batch, head, query, 0..kv_len) {
                    let weight = done.weights[weights * kv_len + key];
                    let (k_row, v_row) = (k.row(batch, key, kv_head), v.row(batch, key, kv_head));
                    let d_weight: f64 = d_row.iter().zip(v_row).map(|(d, v)| (*d).into() * (*v).into()).sum();
                    let d_score = weight * (d_weight - delta);
                    let d_dot = d_score * slope(params, dot(q_row, k_row));
                    let kv_row = (batch * kv_len + key) * kv_heads + kv_head;
                    for t in 0..dim {
                        d.dq[row * dim + t] += d_dot * k_row[t].into();
                        d.dk[kv_row * dim + t] += d_dot * q_row[t].into();
                    }
                    for t in 0..v_dim {
                        d.dv[kv_row * v_dim + t] += weight * d_row[t].into();
                    }
                    if let (Some(d_bias), Some(at)) = (&mut d.d_bias, bias_at(batch, head, query, key)) {
                        d_bias[at] += d_score;
                    }
                }
            }
        }
    }
    Ok(d)
}

/// By how much a score grows with its q . k: the scale, times softcap's 1 - tanh^2.
pub(crate) fn slope(params: &Params, dot: f64) -> f64 {
    let scale = f64::from(params.scale);
    params.softcap.map_or(scale, |softcap| scale * (1.0 - (scale * dot / f64::from(softcap)).tanh().powi(2)))
}
