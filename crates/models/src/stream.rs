use candle_core::Tensor;

use crate::error::Result;

/// What stands in a model's stream at one position of a run: the vectors that its layers read and add to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stream {
    /// The position in the run, from 0.
    pub position: usize,
    /// (layers + 1, hidden): the vector before each layer, and after the last.
    pub states: Vec<Vec<f32>>,
    /// (layers, hidden): what each layer's feed-forward net added; empty for models whose norms stand behind the sums.
    pub fed: Vec<Vec<f32>>,
}

impl Stream {
    /// To be filled by a run.
    pub fn at(position: usize) -> Self {
        Self { position, ..Self::default() }
    }

    /// Its row of (len, hidden).
    pub(crate) fn row(&self, x: &Tensor) -> Result<Vec<f32>> {
        Ok(x.get(self.position)?.to_vec1()?)
    }
}
