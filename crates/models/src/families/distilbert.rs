//! DistilBERT: BERT with half its layers and without token types. (Sanh et al. 2019)

use candle_core::Tensor;
use serde_json::Value;

use super::bert::through;
use super::embedding::{self, Embedding, in_order};
use super::keys::Keys;
use super::parts::{Widths, WordHead, WordHeadNames};
use super::post_norm::{self, Block};
use super::{Activation, Build, Family, LanguageHead, Output, check_sizes, prefix};
use crate::attend::Run;
use crate::error::Result;
use crate::model::Shape;
use crate::weights::Weights;

const NAMES: post_norm::Names = post_norm::Names {
    q: "attention.q_lin",
    k: "attention.k_lin",
    v: "attention.v_lin",
    o: "attention.out_lin",
    attention_norm: "sa_layer_norm",
    up: "ffn.lin1",
    down: "ffn.lin2",
    norm: "output_layer_norm",
};

const HEAD: WordHeadNames = WordHeadNames {
    dense: "vocab_transform",
    norm: "vocab_layer_norm",
    words: "vocab_projector",
    bias: "vocab_projector.bias",
};

/// Of every norm; no configuration says another.
const EPS: f64 = 1e-12;

/// The model: embeddings, blocks, and the head that names masked words where there is one.
struct DistilBert {
    embedding: Embedding,
    blocks: Vec<Block>,
    head: Option<WordHead>,
    shape: Shape,
}

/// Sizes and constants.
struct Config {
    shape: Shape,
    block: post_norm::Sizes,
    embedding: embedding::Sizes,
}

/// Reads a Hugging Face config.json.
pub(super) fn from_hf(config: &Value) -> Result<Build, String> {
    let config = Config::read(config)?;
    Ok(Box::new(move |weights| load(config, weights)))
}

fn load(config: Config, weights: &Weights) -> Result<Box<dyn Family>> {
    let Config { shape, block: sizes, embedding } = config;
    let prefix = prefix(weights, &["", "distilbert."], "embeddings.word_embeddings.weight");
    let name = |layer: usize| format!("{prefix}transformer.layer.{layer}");
    weights.no_more_layers(shape.layers, &format!("{}.ffn.lin2.weight", name(shape.layers)))?;
    let blocks =
        (0..shape.layers).map(|layer| Block::load(weights, &name(layer), &NAMES, sizes)).collect::<Result<_>>()?;
    let embedding = Embedding::load(weights, &format!("{prefix}embeddings"), embedding)?;
    let head = WordHead::load(weights, &HEAD, sizes.attention.hidden, (sizes.act, EPS), &embedding.words)?;
    Ok(Box::new(DistilBert { embedding, blocks, head, shape }))
}

impl Config {
    fn read(config: &Value) -> Result<Self, String> {
        let keys = Keys(config);
        let (vocab, hidden) = (keys.size("vocab_size")?, keys.size("dim")?);
        let (layers, heads, ffn) = (keys.size("n_layers")?, keys.size("n_heads")?, keys.size("hidden_dim")?);
        let positions = keys.size("max_position_embeddings")?;
        check_sizes(&[
            ("vocab", vocab),
            ("dim", hidden),
            ("layers", layers),
            ("hidden_dim", ffn),
            ("context", positions),
        ])?;
        let shape = Shape { vocab, layers, q_heads: heads, context: positions, causal: false };
        let act = Activation::read(&keys, "activation", "gelu")?;
        let block = post_norm::Sizes { attention: Widths::even(hidden, heads)?, ffn, act, eps: EPS };
        let embedding = embedding::Sizes { vocab, positions, types: None, size: hidden, eps: EPS };
        Ok(Self { shape, block, embedding })
    }
}

impl Family for DistilBert {
    fn shape(&self) -> Shape {
        self.shape
    }

    fn hidden(&self, ids: &[u32], run: &mut Run) -> Result<Tensor> {
        through(&self.blocks, self.embedding.of(ids, &in_order(ids.len()), run)?, run)
    }

    fn head(&self) -> Option<LanguageHead<'_>> {
        self.head.as_ref().map(LanguageHead::Words)
    }

    fn output(&self, layer: usize) -> Option<Output<'_>> {
        self.blocks.get(layer).map(Block::output)
    }
}
