//! RoBERTa: BERT's blocks, with positions that are counted from behind the id of padding, padding left aside.
//! (Liu et al. 2019)

use candle_core::Tensor;
use serde_json::Value;

use super::bert::{Config, through};
use super::embedding::Embedding;
use super::keys::Keys;
use super::parts::{WordHead, WordHeadNames};
use super::post_norm::{self, Block};
use super::{Activation, Build, Family, LanguageHead, Output, prefix};
use crate::attend::Run;
use crate::error::Result;
use crate::model::Shape;
use crate::weights::Weights;

const HEAD: WordHeadNames = WordHeadNames {
    dense: "lm_head.dense",
    norm: "lm_head.layer_norm",
    words: "lm_head.decoder",
    bias: "lm_head.bias",
};

/// The model: embeddings, blocks, and the head that names masked words where there is one.
struct Roberta {
    config: Config,
    /// The id of padding; the first token stands at the position after it.
    pad: u32,
    embedding: Embedding,
    blocks: Vec<Block>,
    head: Option<WordHead>,
}

/// Reads a Hugging Face config.json.
pub(super) fn from_hf(config: &Value) -> Result<Build, String> {
    let pad = Keys(config).id_or("pad_token_id", 1)?;
    let config = Config::read(config)?;
    let positions = config.embedding.positions;
    if positions <= pad as usize + 1 {
        return Err(format!(
            "max_position_embeddings {positions} leaves no position after pad_token_id {pad}, where texts begin"
        ));
    }
    Ok(Box::new(move |weights| load(config, pad, weights)))
}

fn load(config: Config, pad: u32, weights: &Weights) -> Result<Box<dyn Family>> {
    let prefix = prefix(weights, &["", "roberta."], "embeddings.word_embeddings.weight");
    let blocks = config.blocks(weights, prefix)?;
    let embedding = Embedding::load(weights, &format!("{prefix}embeddings"), config.embedding)?;
    let post_norm::Sizes { attention, eps, .. } = config.block;
    // The head has GELU, whatever the blocks have.
    let head = WordHead::load(weights, &HEAD, attention.hidden, (Activation::Gelu, eps), &embedding.words)?;
    Ok(Box::new(Roberta { config, pad, embedding, blocks, head }))
}

impl Roberta {
    /// Where each token stands: one after another behind `pad`, and at `pad` what is padding itself.
    fn positions(&self, ids: &[u32]) -> Vec<u32> {
        let mut last = self.pad;
        let place = |id: &u32| {
            if *id == self.pad {
                return self.pad;
            }
            last += 1;
            last
        };
        ids.iter().map(place).collect()
    }
}

impl Family for Roberta {
    fn shape(&self) -> Shape {
        Shape {
            vocab: self.config.embedding.vocab,
            layers: self.config.layers,
            q_heads: self.config.block.attention.heads,
            context: self.config.embedding.positions - self.pad as usize - 1,
            causal: false,
        }
    }

    fn hidden(&self, ids: &[u32], run: &mut Run) -> Result<Tensor> {
        through(&self.blocks, self.embedding.of(ids, &self.positions(ids), run)?, run)
    }

    fn head(&self) -> Option<LanguageHead<'_>> {
        self.head.as_ref().map(LanguageHead::Words)
    }

    fn output(&self, layer: usize) -> Option<Output<'_>> {
        self.blocks.get(layer).map(Block::output)
    }

    fn types(&self) -> usize {
        self.config.embedding.known_types()
    }
}
