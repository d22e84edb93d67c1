use attnscope_kernel::{Isa, Params, Recall, View, forward};
use serde::Serialize;

use super::gradient::jacobian;
use super::normal;
use crate::Error;

/// What random queries and keys of one length do, with and without the division by sqrt(d_k).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ScalePoint {
    /// Length of a query and a key.
    pub d_k: usize,
    /// Variance of q . k.
    pub variance_raw: f64,
    /// Variance of q . k / sqrt(d_k).
    pub variance_scaled: f64,
    /// Mean of the largest weight of a row, without the division.
    pub largest_raw: f64,
    /// With it.
    pub largest_scaled: f64,
    /// Mean Frobenius norm of the softmax's gradient, without the division.
    pub gradient_raw: f64,
    /// With it.
    pub gradient_scaled: f64,
    /// The first of the rows, without the division.
    pub row_raw: SampleRow,
    /// The same query and keys, with it.
    pub row_scaled: SampleRow,
}

/// One row that was drawn.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct SampleRow {
    /// Its scores.
    pub scores: Vec<f64>,
    /// Its weights.
    pub weights: Vec<f64>,
    /// The largest of all derivatives of its weights by its scores, in size.
    pub slope: f64,
}

/// Rows of `keys` keys for d_k = 1, 2, 4, ... 1024; `samples` of them each, drawn with mean 0 and variance 1.
///
/// # Errors
/// If there is nothing to sample.
pub fn scale(seed: u64, samples: usize, keys: usize) -> Result<Vec<ScalePoint>, Error> {
    (0..=10).map(|power| point(seed, samples, keys, 1 << power)).collect()
}

fn point(seed: u64, samples: usize, keys: usize, d_k: usize) -> Result<ScalePoint, Error> {
    let (q, k) = (normal(seed, samples * d_k), normal(seed.wrapping_add(1), samples * keys * d_k));
    let (q, k) = (View::new(&q, [samples, 1, 1, d_k])?, View::new(&k, [samples, keys, 1, d_k])?);
    let raw = measure(q, k, 1.0)?;
    let scaled = measure(q, k, Params::for_head_dim(d_k).scale)?;
    Ok(ScalePoint {
        d_k,
        variance_raw: raw.variance,
        variance_scaled: scaled.variance,
        largest_raw: raw.largest,
        largest_scaled: scaled.largest,
        gradient_raw: raw.gradient,
        gradient_scaled: scaled.gradient,
        row_raw: raw.first,
        row_scaled: scaled.first,
    })
}

struct Measured {
    variance: f64,
    largest: f64,
    gradient: f64,
    first: SampleRow,
}

fn measure(q: View, k: View, scale: f32) -> Result<Measured, Error> {
    let [samples, keys, ..] = k.shape();
    let params = Params { scale, ..Params::for_head_dim(q.shape()[3]) };
    let done = forward(q, k, k, &params, Isa::detect())?;
    let recall = Recall::new(q, k, &done.lse, &params, Isa::detect())?;
    let (mut scores, mut largest, mut gradient) = (Vec::new(), 0.0, 0.0);
    let mut first = SampleRow::default();
    for sample in 0..samples {
        let tile = recall.tile(sample, 0, 0..1, 0..keys)?;
        largest += tile.weights.iter().copied().fold(0.0, f64::max);
        let slopes = jacobian(&tile.weights).concat();
        gradient += slopes.iter().map(|x| x * x).sum::<f64>().sqrt();
        if sample == 0 {
            let slope = slopes.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
            first = SampleRow { scores: tile.scores.clone(), weights: tile.weights, slope };
        }
        scores.extend(tile.scores);
    }
    let mean = scores.iter().sum::<f64>() / scores.len() as f64;
    let variance = scores.iter().map(|score| (score - mean).powi(2)).sum::<f64>() / scores.len() as f64;
    Ok(Measured { variance, largest: largest / samples as f64, gradient: gradient / samples as f64, first })
}
