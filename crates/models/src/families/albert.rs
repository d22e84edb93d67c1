//! ALBERT: layers that share their weights, group by group, and words that have shorter vectors than the layers.
//! (Lan et al. 2019)

use attnscope_inspect::SiteKind;
use candle_core::Tensor;
use candle_nn::Module;
use serde_json::Value;

use super::bert::absolute;
use super::embedding::{self, Embedding, in_order};
use super::keys::Keys;
use super::parts::{Widths, WordHead, WordHeadNames};
use super::post_norm::{self, Block};
use super::{Activation, Build, Family, LanguageHead, Output, check_eps, check_sizes, linear, prefix};
use crate::attend::Run;
use crate::error::Result;
use crate::linear::Linear;
use crate::model::Shape;
use crate::weights::Weights;

const NAMES: post_norm::Names = post_norm::Names {
    q: "attention.query",
    k: "attention.key",
    v: "attention.value",
    o: "attention.dense",
    attention_norm: "attention.LayerNorm",
    up: "ffn",
    down: "ffn_output",
    norm: "full_layer_layer_norm",
};

const HEAD: WordHeadNames = WordHeadNames {
    dense: "predictions.dense",
    norm: "predictions.LayerNorm",
    words: "predictions.decoder",
    bias: "predictions.bias",
};

/// No tensor vouches for the number of rounds, so there is a bound on what is believed, far above what any model has.
const MOST_ROUNDS: usize = 1000;

/// Sizes and constants, as config.json names them.
#[derive(Clone, Debug)]
struct Config {
    /// How often a group is gone through.
    rounds: usize,
    /// Groups of blocks; the first rounds take the first.
    groups: usize,
    /// Blocks of a group, one after another.
    inner: usize,
    block: post_norm::Sizes,
    embedding: embedding::Sizes,
}

/// The model: embeddings, widened to the hidden size, groups of blocks, and the head that names masked words where there
/// is one.
struct Albert {
    config: Config,
    embedding: Embedding,
    widen: Linear,
    /// (groups, inner).
    groups: Vec<Vec<Block>>,
    head: Option<WordHead>,
}

impl Config {
    fn read(config: &Value) -> Result<Self, String> {
        let keys = Keys(config);
        let (vocab, size, hidden) = (keys.size("vocab_size")?, keys.size("embedding_size")?, keys.size("hidden_size")?);
        let (rounds, heads) = (keys.size("num_hidden_layers")?, keys.size("num_attention_heads")?);
        let (groups, inner) = (keys.size_or("num_hidden_groups", 1)?, keys.size_or("inner_group_num", 1)?);
        let (ffn, positions) = (keys.size("intermediate_size")?, keys.size("max_position_embeddings")?);
        let types = keys.size_or("type_vocab_size", 2)?;
        let eps = keys.number_or("layer_norm_eps", 1e-12)?;
        check_sizes(&[
            ("vocab", vocab),
            ("embedding size", size),
            ("hidden size", hidden),
            ("layers", rounds),
            ("num_hidden_groups", groups),
            ("inner_group_num", inner),
            ("feed-forward size", ffn),
            ("context", positions),
            ("type_vocab_size", types),
        ])?;
        check_eps(eps)?;
        absolute(&keys)?;
        if rounds > MOST_ROUNDS {
            return Err(format!(
                "its configuration says {rounds} layers, and no model of this family has over {MOST_ROUNDS}"
            ));
        }
        if groups > rounds {
            return Err(format!(
                "its configuration says {groups} groups for {rounds} layers, which leaves some unused"
            ));
        }
        let act = Activation::read(&keys, "hidden_act", "gelu_new")?;
        Ok(Self {
            rounds,
            groups,
            inner,
            block: post_norm::Sizes { attention: Widths::even(hidden, heads)?, ffn, act, eps },
            embedding: embedding::Sizes { vocab, positions, types: Some(types), size, eps },
        })
    }

    /// The group that a round goes through, in the arithmetic of the checkpoints' own code.
    fn group(&self, round: usize) -> usize {
        (round as f64 / (self.rounds as f64 / self.groups as f64)) as usize
    }
}

/// Reads a Hugging Face config.json.
pub(super) fn from_hf(config: &Value) -> Result<Build, String> {
    let config = Config::read(config)?;
    Ok(Box::new(move |weights| load(config, weights)))
}

fn load(config: Config, weights: &Weights) -> Result<Box<dyn Family>> {
    let prefix = prefix(weights, &["", "albert."], "embeddings.word_embeddings.weight");
    let name =
        |group: usize, inner: usize| format!("{prefix}encoder.albert_layer_groups.{group}.albert_layers.{inner}");
    for (what, counted, next) in [
        ("num_hidden_groups", config.groups, name(config.groups, 0)),
        ("inner_group_num", config.inner, name(0, config.inner)),
    ] {
        let next = format!("{next}.ffn.weight");
        if weights.has(&next) {
            return Err(weights.fail(format!("its configuration says {what} {counted}, but there is a tensor {next}")));
        }
    }
    let block = |group, inner| Block::load(weights, &name(group, inner), &NAMES, config.block);
    let group = |group| (0..config.inner).map(|inner| block(group, inner)).collect::<Result<Vec<_>>>();
    let groups = (0..config.groups).map(group).collect::<Result<Vec<_>>>()?;
    let embedding = Embedding::load(weights, &format!("{prefix}embeddings"), config.embedding)?;
    let (size, hidden) = (config.embedding.size, config.block.attention.hidden);
    let widen = linear(weights, &format!("{prefix}encoder.embedding_hidden_mapping_in"), size, hidden, true)?;
    let head = WordHead::load(weights, &HEAD, hidden, (config.block.act, config.block.eps), &embedding.words)?;
    Ok(Box::new(Albert { embedding, widen, groups, head, config }))
}

impl Albert {
    /// The block that a layer, which must be there, goes through.
    fn block(&self, layer: usize) -> &Block {
        let (round, inner) = (layer / self.config.inner, layer % self.config.inner);
        &self.groups[self.config.group(round)][inner]
    }
}

impl Family for Albert {
    fn shape(&self) -> Shape {
        Shape {
            vocab: self.config.embedding.vocab,
            layers: self.config.rounds.saturating_mul(self.config.inner),
            q_heads: self.config.block.attention.heads,
            context: self.config.embedding.positions,
            causal: false,
        }
    }

    fn hidden(&self, ids: &[u32], run: &mut Run) -> Result<Tensor> {
        let mut x = self.widen.forward(&self.embedding.of(ids, &in_order(ids.len()), run)?)?;
        let layers = self.shape().layers;
        for layer in 0..layers {
            if run.skips(layer, &mut x)? {
                continue;
            }
            x = self.block(layer).forward(&x, SiteKind::SelfAttention, layer, run)?;
            if !run.layer_done(layer, layers)? {
                break;
            }
        }
        run.state(&x)?;
        Ok(x)
    }

    fn head(&self) -> Option<LanguageHead<'_>> {
        self.head.as_ref().map(LanguageHead::Words)
    }

    fn output(&self, layer: usize) -> Option<Output<'_>> {
        (layer < self.shape().layers).then(|| self.block(layer).output())
    }

    fn types(&self) -> usize {
        self.config.embedding.known_types()
    }
}
