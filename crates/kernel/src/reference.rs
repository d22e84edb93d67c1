//! The oracle: attention in f64, straight from the formula, with every weight kept. Too simple to be wrong, and far
//! too slow and large for anything but checking.

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

/// softmax(scale q k^T + M) v, shapes as in [`crate::forward`].
///
/// # Errors
/// As [`crate::forward`].
pub fn attention(q: View, k: View, v: View, params: &Params) -> Result<Reference, Error> {
    params.check()?;
    let shape = Shape::of(q, k)?;
    shape.check_values(v)?;
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
            for query in 0..shape.q_len {
                let q_row = q.row(batch, query, head);
                let scores: Vec<f64> = (0..shape.kv_len)
                    .map(|key| f64::from(params.scale) * dot(q_row, k.row(batch, key, kv_head)))
                    .collect();
                let visible = mask.visible(query);
                let max = scores[visible.clone()].iter().copied().fold(f64::NEG_INFINITY, f64::max);
                let sum: f64 = scores[visible.clone()].iter().map(|s| (s - max).exp()).sum();
                let lse = if visible.is_empty() { f64::NEG_INFINITY } else { max + sum.ln() };
                for (key, score) in scores.iter().enumerate() {
                    if !visible.contains(&key) {
                        done.weights.push(0.0);
                        continue;
                    }
                    let weight = (score - lse).exp();
                    let out = ((batch * shape.q_len + query) * shape.q_heads + head) * v_dim;
                    for (out, v) in done.out[out..].iter_mut().zip(v.row(batch, key, kv_head)) {
                        *out += weight * f64::from(*v);
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

fn dot(a: &[f32], b: &[f32]) -> f64 {
    a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
}

/// The textbook form in f32: the whole (q_len, kv_len) matrix of weights is held, then multiplied by v. One head, one
/// batch. It is what people write first; here to be measured against.
///
/// # Errors
/// As [`crate::forward`], or if there is more than one head.
pub fn textbook(q: View, k: View, v: View, params: &Params) -> Result<Vec<f32>, Error> {
    params.check()?;
    let shape = Shape::of(q, k)?;
    if shape.batch * shape.q_heads != 1 {
        return crate::error::argument("q (batch, heads)", format!("{:?}", (shape.batch, shape.q_heads)), "(1, 1)");
    }
    shape.check_values(v)?;
    let mask = Mask::new(params, shape.q_len, shape.kv_len);
    let mut weights = vec![0.0f32; shape.q_len * shape.kv_len];
    weights.par_chunks_mut(shape.kv_len.max(1)).enumerate().for_each(|(query, row)| {
        let visible = mask.visible(query);
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
