//! The oracle: attention in f64, straight from the formula, with every weight kept. Too simple to be wrong, and far
//! too slow and large for anything but checking.

mod backward;

pub use backward::backward;
pub(crate) use backward::slope;

use rayon::prelude::*;

use crate::forward::Shape;
use crate::{Error, Mask, Params, View};

/// Everything about one operation, in f64.
#[derive(Clone, Debug, PartialEq)]
pub struct Reference {
    /// (batch, q_len, q_heads, v_head_dim).
    pub out: Vec<f64>,
    /// (batch, q_heads, q_len).
    pub lse: Vec<f64>,
    /// (batch, q_heads, q_len, kv_len): scores, as they would be were nothing hidden.
    pub scores: Vec<f64>,
    /// (batch, q_heads, q_len, kv_len): weights; 0 where hidden.
    pub weights: Vec<f64>,
}

/// softmax(score(q k^T)) v under every parameter, shapes as in [`crate::forward`]; numbers of any type.
///
/// # Errors
/// As [`crate::forward`].
pub fn attention<T: Copy + Into<f64>>(q: View<T>, k: View<T>, v: View<T>, params: &Params) -> Result<Reference, Error> {
    let shape = Shape::of(q, k)?;
    shape.check_values(v)?;
    params.check(&shape)?;
    let mask = Mask::new(params, shape.q_len, shape.kv_len);
    let v_dim = v.dim();
    let mut done = Reference {
        out: vec![0.0; shape.batch * shape.q_len * shape.q_heads * v_dim],
        lse: Vec::new(),
        scores: Vec::new(),
        weights: Vec::new(),
    };
    for batch in 0..shape.batch {
        for head in 0..shape.q_heads {
            let kv_head = head / shape.group();
            let sink = params.sinks.as_ref().map_or(f64::NEG_INFINITY, |sinks| f64::from(sinks[head]));
            for query in 0..shape.q_len {
                let q_row = q.row(batch, query, head);
                let scores: Vec<f64> = (0..shape.kv_len)
                    .map(|key| score(params, &mask, (batch, head, query, key), dot(q_row, k.row(batch, key, kv_head))))
                    .collect();
                let visible = |key: &usize| mask.hidden(batch, head, query, *key).is_none();
                let seen = || (0..shape.kv_len).filter(visible).map(|key| scores[key]);
                let max = seen().fold(sink, f64::max);
                let sum: f64 = seen().map(|s| (s - max).exp()).sum::<f64>() + (sink - max).exp();
                let lse = if max == f64::NEG_INFINITY { max } else { max + sum.ln() };
                for (key, score) in scores.iter().enumerate() {
                    if !visible(&key) {
                        done.weights.push(0.0);
                        continue;
                    }
                    let weight = (score - lse).exp();
                    let out = ((batch * shape.q_len + query) * shape.q_heads + head) * v_dim;
                    for (out, v) in done.out[out..].iter_mut().zip(v.row(batch, key, kv_head)) {
                        *out += weight * (*v).into();
                    }
                    done.weights.push(weight);
                }
                done.lse.push(lse);
                done.scores.extend(scores);
            }
        }
    }
    Ok(done)
}

/// The score of a cell (batch, head, query, key), from its q . k.
pub(crate) fn score(params: &Params, mask: &Mask, at: (usize, usize, usize, usize), dot: f64) -> f64 {
    let (batch, head, query, key) = at;
    let mut score = f64::from(params.scale) * dot;
    if let Some(softcap) = params.softcap.map(f64::from) {
        score = softcap * (score / softcap).tanh();
    }
    let ahead = key as i64 - mask.position(query);
    score += f64::from(params.alibi(head, ahead)) + f64::from(params.relative(head, ahead));
    score + params.bias.as_ref().map_or(0.0, |bias| f64::from(bias.row(batch, head, query)[key]))
}

pub(crate) fn dot<T: Copy + Into<f64>>(a: &[T], b: &[T]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (*a).into() * (*b).into()).sum()
}

/// The textbook form in f32: the whole (q_len, kv_len) matrix of weights is held, then multiplied by v. One head, one
/// batch; scale, causal and window alone. It is what people write first; here to be measured against.
///
/// # Errors
/// As [`crate::forward`], or if there is more than one head or another parameter.
pub fn textbook(q: View, k: View, v: View, params: &Params) -> Result<Vec<f32>, Error> {
    let shape = Shape::of(q, k)?;
    params.check(&shape)?;
    if shape.batch * shape.q_heads != 1 {
        return crate::error::argument("q (batch, heads)", format!("{:?}", (shape.batch, shape.q_heads)), "(1, 1)");
    }
    let plain = Params { causal: params.causal, window: params.window, ..Params::for_head_dim(1) };
    if *params != (Params { scale: params.scale, ..plain }) {
        return crate::error::argument("parameters", "more than scale, causal and window", "those alone");
    }
    shape.check_values(v)?;
    let mask = Mask::new(params, shape.q_len, shape.kv_len);
    let mut weights = vec![0.0f32; shape.q_len * shape.kv_len];
    weights.par_chunks_mut(shape.kv_len.max(1)).enumerate().for_each(|(query, row)| {
        let visible = mask.span(query);
        for (key, weight) in row.iter_mut().enumerate() {
            let dot: f32 = q.row(0, query, 0).iter().zip(k.row(0, key, 0)).map(|(q, k)| q * k).sum();
            *weight = if visible.contains(&key) { params.scale * dot } else { f32::NEG_INFINITY };
        }
        let max = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        row.iter_mut().for_each(|weight| *weight = (*weight - max).exp());
        let sum: f32 = row.iter().sum();
        // A row that sees nothing mixes nothing.
        row.iter_mut().for_each(|weight| *weight = if visible.is_empty() { 0.0 } else { *weight / sum });
    });
    let mut out = vec![0.0f32; shape.q_len * v.dim()];
    out.par_chunks_mut(v.dim().max(1)).zip(weights.par_chunks(shape.kv_len.max(1))).for_each(|(out, row)| {
        for (key, weight) in row.iter().enumerate() {
            for (out, v) in out.iter_mut().zip(v.row(0, key, 0)) {
                *out += weight * v;
            }
        }
    });
    Ok(out)
}
