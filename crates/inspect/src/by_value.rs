use serde::Serialize;

use crate::{At, Error, Pick, SiteKind, Trace};

/// The length by which weights are multiplied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum ValueLength {
    /// |v_j|, of the value itself: all that a trace tells without the model.
    #[serde(rename = "v")]
    Value,
    /// |v_j W_O|, of what the head's slice of the output projection makes of it. (Kobayashi et al. 2020)
    #[serde(rename = "v_wo")]
    Projected,
}

/// How far each key moves the output of a query: its weight times the length of its value. A weight on a value near 0, as
/// sinks have it, moves nothing.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ByValue {
    /// Which length.
    pub by: ValueLength,
    /// One a key: the length of its value; null for a mean of heads, each of which has its own.
    pub lengths: Option<Vec<f64>>,
    /// One a key: weight times length; for a mean, the mean of these.
    pub moved: Vec<f64>,
    /// One a key: its part of the sum of those. (Lengths of vectors that point apart sum to more than that of their sum.)
    pub shares: Vec<f64>,
}

impl Trace {
    /// The lengths of the values that a head mixes, |v_j|, one a key.
    ///
    /// # Errors
    /// If the layer or head is out of range.
    pub fn value_lengths(&self, at: At) -> Result<Vec<f64>, Error> {
        let length = |v: &[f32]| v.iter().map(|x| f64::from(*x) * f64::from(*x)).sum::<f64>().sqrt();
        Ok(self.values(at)?.into_iter().map(length).collect())
    }

    /// A row by how far each key moves the output, of one head or the mean of a layer's heads. `lengths` gives those of the
    /// values of a head, such as [`Trace::value_lengths`].
    ///
    /// # Errors
    /// If the layer, head or query is out of range, or as `lengths`.
    pub fn by_value<E: From<Error>>(
        &self,
        (site, layer, pick): (SiteKind, usize, Pick),
        query: usize,
        by: ValueLength,
        lengths: impl Fn(At) -> Result<Vec<f64>, E>,
    ) -> Result<ByValue, E> {
        let places = pick.places(self, site, layer)?;
        let mut moved = vec![0.0; self.site(site, layer)?.kv_len()];
        let mut last = Vec::new();
        for at in &places {
            let weights = self.row(*at, query)?.weights;
            last = lengths(*at)?;
            for ((sum, weight), length) in moved.iter_mut().zip(weights).zip(&last) {
                *sum += weight * length / places.len() as f64;
            }
        }
        let sum: f64 = moved.iter().sum();
        // A row that sees nothing moves nothing; one that is damaged has no shares, and says so by NaN.
        let share = |moved: &f64| if sum == 0.0 { 0.0 } else { moved / sum };
        Ok(ByValue {
            by,
            lengths: (pick != Pick::Mean).then_some(last),
            shares: moved.iter().map(share).collect(),
            moved,
        })
    }
}
