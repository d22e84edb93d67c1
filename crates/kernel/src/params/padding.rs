//! Keys that are no part of any text.

use std::sync::Arc;

use crate::error::{Error, argument};
use crate::forward::Shape;

/// Which keys are real, (batch, kv_len).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyPadding {
    real: Arc<[bool]>,
}

impl KeyPadding {
    /// `real` is (batch, kv_len), true where there is a token, as in a tokenizer's attention mask.
    pub fn new(real: impl Into<Arc<[bool]>>) -> Self {
        Self { real: real.into() }
    }

    /// The first `lens[b]` keys of each batch are real.
    pub fn lens(lens: &[usize], kv_len: usize) -> Self {
        Self::new(lens.iter().flat_map(|len| (0..kv_len).map(move |key| key < *len)).collect::<Vec<_>>())
    }

    /// (batch, kv_len).
    pub fn real(&self) -> &[bool] {
        &self.real
    }

    pub(crate) fn check(&self, shape: &Shape) -> Result<(), Error> {
        let want = shape.batch * shape.kv_len;
        if self.real.len() == want {
            return Ok(());
        }
        argument("key_padding", format!("{} keys", self.real.len()), format!("{want}: one for each key of each batch"))
    }

    /// Which keys of a batch are real.
    pub(crate) fn of(&self, batch: usize, kv_len: usize) -> &[bool] {
        &self.real[batch * kv_len..(batch + 1) * kv_len]
    }
}
