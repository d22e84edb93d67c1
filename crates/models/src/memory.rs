use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use candle_core::Tensor;

use crate::error::Result;

/// What an encoder made of a text, for the decoder to attend to.
#[derive(Debug)]
pub struct Memory {
    /// (len, hidden).
    hidden: Tensor,
    real: Option<Vec<bool>>,
    /// Keys and values of each of the decoder's layers, projected when they are first asked for.
    projected: Mutex<BTreeMap<usize, (Tensor, Tensor)>>,
}

impl Memory {
    pub(crate) fn new(hidden: Tensor, real: Option<Vec<bool>>) -> Self {
        Self { hidden, real, projected: Mutex::default() }
    }

    /// The vectors of every token after the encoder's last layer and norm, (len, hidden).
    pub fn hidden(&self) -> &Tensor {
        &self.hidden
    }

    /// Which of its tokens are no padding; none where all are.
    pub(crate) fn real(&self) -> &Option<Vec<bool>> {
        &self.real
    }

    /// Keys and values of a layer, (1, len, heads, head_dim) each.
    pub(crate) fn keys_and_values(
        &self,
        layer: usize,
        project: impl FnOnce(&Tensor) -> Result<(Tensor, Tensor)>,
    ) -> Result<(Tensor, Tensor)> {
        let mut all = self.projected.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(both) = all.get(&layer) {
            return Ok(both.clone());
        }
        let both = project(&self.hidden)?;
        all.insert(layer, both.clone());
        Ok(both)
    }
}
