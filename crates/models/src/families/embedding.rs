//! What comes in: a vector a word, one a position, and one a sentence where there are types, added and normalised.

use candle_core::{Device, Tensor};
use candle_nn::{LayerNorm, Module};

use super::layer_norm;
use crate::attend::Run;
use crate::error::Result;
use crate::weights::Weights;

/// The embeddings of BERT and its kin. (Devlin et al. 2018, figure 2)
pub(crate) struct Embedding {
    /// (vocab, size).
    pub(crate) words: Tensor,
    /// (positions, size).
    positions: Tensor,
    /// (types, size); none where the family knows no types.
    types: Option<Tensor>,
    norm: LayerNorm,
}

/// Sizes and constants of embeddings.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    pub(crate) vocab: usize,
    pub(crate) positions: usize,
    pub(crate) types: Option<usize>,
    pub(crate) size: usize,
    pub(crate) eps: f64,
}

impl Embedding {
    /// Those of `{name}.word_embeddings` and so on.
    pub(crate) fn load(weights: &Weights, name: &str, sizes: Sizes) -> Result<Self> {
        let Sizes { vocab, positions, types, size, eps } = sizes;
        let table = |part: &str, rows| weights.get(&format!("{name}.{part}_embeddings.weight"), &[rows, size]);
        Ok(Self {
            words: table("word", vocab)?,
            positions: table("position", positions)?,
            types: types.map(|types| table("token_type", types)).transpose()?,
            norm: layer_norm(weights, &format!("{name}.LayerNorm"), size, eps)?,
        })
    }

    /// (len, size), of tokens at `positions`.
    pub(crate) fn of(&self, ids: &[u32], positions: &[u32], run: &Run) -> Result<Tensor> {
        let rows = |table: &Tensor, at: &[u32]| -> Result<Tensor> {
            Ok(table.index_select(&Tensor::new(at, &Device::Cpu)?, 0)?)
        };
        let mut x = (rows(&self.words, ids)? + rows(&self.positions, positions)?)?;
        if let Some(types) = &self.types {
            let first = vec![0; ids.len()];
            x = (x + rows(types, run.types.as_deref().unwrap_or(&first))?)?;
        }
        Ok(self.norm.forward(&x)?)
    }
}

impl Sizes {
    /// How many types a model with these embeddings knows.
    pub(crate) fn known_types(&self) -> usize {
        self.types.unwrap_or(1)
    }
}

/// 0, 1, 2, ...
pub(crate) fn in_order(len: usize) -> Vec<u32> {
    (0..).take(len).collect()
}
