use attnscope_kernel::{Isa, Params, Recall, View, forward};
use serde::Serialize;

use crate::Error;

/// How every weight of a row answers to every score of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Gradient {
    /// softmax of the scores.
    pub weights: Vec<f64>,
    /// Their logarithms, which stay apart where the weights round to 0.
    pub log_weights: Vec<f64>,
    /// Row j, column k: dA_j / ds_k = A_j (1 if j is k, else 0, - A_k).
    pub jacobian: Vec<Vec<f64>>,
    /// The largest of them in size.
    pub largest: f64,
}

/// The softmax of some scores and its gradient.
///
/// # Errors
/// If there is no score, or one is not finite.
pub fn gradient(scores: &[f32]) -> Result<Gradient, Error> {
    // One query (1) against keys that are the scores themselves: the kernel's own softmax.
    let (query, params) = ([1.0], Params { scale: 1.0, ..Params::for_head_dim(1) });
    let (q, k) = (View::new(&query, [1, 1, 1, 1])?, View::new(scores, [1, scores.len(), 1, 1])?);
    let done = forward(q, k, k, &params, Isa::detect())?;
    let recall = Recall::new(q, k, &done.lse, &params, Isa::detect())?;
    let tile = recall.tile(0, 0, 0..1, 0..scores.len())?;
    let weights = tile.weights;
    let jacobian = jacobian(&weights);
    let largest = jacobian.iter().flatten().fold(0.0, |largest: f64, x| largest.max(x.abs()));
    let log_weights = tile.scores.iter().map(|score| score - done.lse[0]).collect();
    Ok(Gradient { weights, log_weights, jacobian, largest })
}

/// dA_j / ds_k of a row of weights.
pub(super) fn jacobian(weights: &[f64]) -> Vec<Vec<f64>> {
    let entry = |j: usize, k: usize| weights[j] * (f64::from(u8::from(j == k)) - weights[k]);
    (0..weights.len()).map(|j| (0..weights.len()).map(|k| entry(j, k)).collect()).collect()
}
