//! BERT: an encoder with learned positions, post-norm blocks and GELU. Every token sees every other.
//! (Devlin et al. 2018)

use attnscope_inspect::SiteKind;
use candle_core::Tensor;
use serde_json::Value;

use super::embedding::{self, Embedding, in_order};
use super::keys::Keys;
use super::parts::{Widths, WordHead, WordHeadNames};
use super::post_norm::{self, Block};
use super::{Activation, Build, Family, LanguageHead, Output, check_eps, check_sizes, prefix};
use crate::attend::Run;
use crate::error::Result;
use crate::model::Shape;
use crate::weights::Weights;

/// How the tensors of a block are called, in BERT and in RoBERTa.
pub(super) const NAMES: post_norm::Names = post_norm::Names {
    q: "attention.self.query",
    k: "attention.self.key",
    v: "attention.self.value",
    o: "attention.output.dense",
    attention_norm: "attention.output.LayerNorm",
    up: "intermediate.dense",
    down: "output.dense",
    norm: "output.LayerNorm",
};

const HEAD: WordHeadNames = WordHeadNames {
    dense: "cls.predictions.transform.dense",
    norm: "cls.predictions.transform.LayerNorm",
    words: "cls.predictions.decoder",
    bias: "cls.predictions.bias",
};

/// Sizes and constants, as config.json names them.
#[derive(Clone, Debug)]
pub(super) struct Config {
    pub(super) layers: usize,
    pub(super) block: post_norm::Sizes,
    pub(super) embedding: embedding::Sizes,
}

impl Config {
    /// Reads the configuration of BERT or RoBERTa.
    pub(super) fn read(config: &Value) -> Result<Self, String> {
        let keys = Keys(config);
        let (vocab, hidden) = (keys.size("vocab_size")?, keys.size("hidden_size")?);
        let (layers, heads) = (keys.size("num_hidden_layers")?, keys.size("num_attention_heads")?);
        let (ffn, positions) = (keys.size("intermediate_size")?, keys.size("max_position_embeddings")?);
        let types = keys.size_or("type_vocab_size", 2)?;
        let eps = keys.number_or("layer_norm_eps", 1e-12)?;
        check_sizes(&[
            ("vocab", vocab),
            ("hidden size", hidden),
            ("layers", layers),
            ("feed-forward size", ffn),
            ("context", positions),
            ("type_vocab_size", types),
        ])?;
        check_eps(eps)?;
        absolute(&keys)?;
        keys.only("is_decoder", false)?;
        keys.only("add_cross_attention", false)?;
        Ok(Self {
            layers,
            block: post_norm::Sizes {
                attention: Widths::even(hidden, heads)?,
                ffn,
                act: Activation::read(&keys, "hidden_act", "gelu")?,
                eps,
            },
            embedding: embedding::Sizes { vocab, positions, types: Some(types), size: hidden, eps },
        })
    }

    pub(super) fn blocks(&self, weights: &Weights, prefix: &str) -> Result<Vec<Block>> {
        let name = |layer: usize| format!("{prefix}encoder.layer.{layer}");
        weights.no_more_layers(self.layers, &format!("{}.output.dense.weight", name(self.layers)))?;
        (0..self.layers).map(|layer| Block::load(weights, &name(layer), &NAMES, self.block)).collect()
    }
}

/// That positions are added to what comes in; those that depend on the distance to each key (Shaw et al. 2018) would need
/// other scores.
pub(super) fn absolute(keys: &Keys) -> Result<(), String> {
    keys.one_of("position_embedding_type", "absolute", &[("absolute", ())])
}

/// The model: embeddings, blocks, and the head that names masked words where there is one.
struct Bert {
    config: Config,
    embedding: Embedding,
    blocks: Vec<Block>,
    head: Option<WordHead>,
}

/// Reads a Hugging Face config.json.
pub(super) fn from_hf(config: &Value) -> Result<Build, String> {
    let config = Config::read(config)?;
    Ok(Box::new(move |weights| load(config, weights)))
}

fn load(config: Config, weights: &Weights) -> Result<Box<dyn Family>> {
    // A base model has no prefix; one with a task's head has.
    let prefix = prefix(weights, &["", "bert."], "embeddings.word_embeddings.weight");
    let blocks = config.blocks(weights, prefix)?;
    let embedding = Embedding::load(weights, &format!("{prefix}embeddings"), config.embedding)?;
    let post_norm::Sizes { attention, act, eps, .. } = config.block;
    let head = WordHead::load(weights, &HEAD, attention.hidden, (act, eps), &embedding.words)?;
    Ok(Box::new(Bert { embedding, blocks, head, config }))
}

impl Family for Bert {
    fn shape(&self) -> Shape {
        Shape {
            vocab: self.config.embedding.vocab,
            layers: self.config.layers,
            q_heads: self.config.block.attention.heads,
            context: self.config.embedding.positions,
            causal: false,
        }
    }

    fn hidden(&self, ids: &[u32], run: &mut Run) -> Result<Tensor> {
        let x = self.embedding.of(ids, &in_order(ids.len()), run)?;
        through(&self.blocks, x, run)
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

/// One block after another, a layer each.
pub(super) fn through(blocks: &[Block], mut x: Tensor, run: &mut Run) -> Result<Tensor> {
    for (layer, block) in blocks.iter().enumerate() {
        if run.skips(layer, &mut x)? {
            continue;
        }
        x = block.forward(&x, SiteKind::SelfAttention, layer, run)?;
        if !run.layer_done(layer, blocks.len())? {
            break;
        }
    }
    run.state(&x)?;
    Ok(x)
}
