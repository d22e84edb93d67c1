//! BERT: an encoder with learned positions, post-norm blocks and GELU. Every token sees every other.
//! (Devlin et al. 2018)

use attnscope_kernel::Params;
use candle_core::{Device, Tensor};
use candle_nn::{LayerNorm, Linear, Module};
use serde::Deserialize;
use serde_json::Value;

use super::{Build, Family, check_eps, check_sizes, heads, linear};
use crate::attend::Run;
use crate::error::Result;
use crate::model::Shape;
use crate::weights::Weights;

/// Sizes and constants, as config.json names them.
#[derive(Clone, Debug, PartialEq, Deserialize)]
struct Config {
    vocab_size: usize,
    hidden_size: usize,
    num_hidden_layers: usize,
    num_attention_heads: usize,
    intermediate_size: usize,
    max_position_embeddings: usize,
    #[serde(default = "two")]
    type_vocab_size: usize,
    #[serde(default = "tiny")]
    layer_norm_eps: f64,
    #[serde(default)]
    hidden_act: Option<String>,
    #[serde(default)]
    position_embedding_type: Option<String>,
}

/// Reads a Hugging Face config.json.
pub(super) fn from_hf(config: &Value) -> Result<Build, String> {
    let unread = |error| format!("does not read as a configuration: {error}");
    let config: Config = Config::deserialize(config).map_err(unread)?;
    Ok(Box::new(move |weights| Ok(Box::new(Bert::load(config, weights)?))))
}

fn two() -> usize {
    2
}

fn tiny() -> f64 {
    1e-12
}

impl Config {
    fn check(&self) -> Result<(), String> {
        check_sizes(&[
            ("vocab", self.vocab_size),
            ("hidden size", self.hidden_size),
            ("layers", self.num_hidden_layers),
            ("feed-forward size", self.intermediate_size),
            ("context", self.max_position_embeddings),
            ("type_vocab_size", self.type_vocab_size),
        ])?;
        check_eps(self.layer_norm_eps)?;
        if self.num_attention_heads == 0 || !self.hidden_size.is_multiple_of(self.num_attention_heads) {
            let (hidden, heads) = (self.hidden_size, self.num_attention_heads);
            return Err(format!(
                "its configuration says {heads} heads in a hidden size of {hidden}, which do not divide"
            ));
        }
        if let Some(act) = self.hidden_act.as_deref().filter(|act| *act != "gelu") {
            return Err(format!("hidden_act {act:?} is not supported yet; \"gelu\" is"));
        }
        if let Some(kind) = self.position_embedding_type.as_deref().filter(|kind| *kind != "absolute") {
            return Err(format!("position_embedding_type {kind:?} is not supported yet; \"absolute\" is"));
        }
        Ok(())
    }
}

/// The model: embeddings and blocks.
struct Bert {
    config: Config,
    /// (vocab, hidden).
    words: Tensor,
    /// (context, hidden).
    positions: Tensor,
    /// (1, hidden): what every token of a first sentence gets.
    first_sentence: Tensor,
    norm: LayerNorm,
    blocks: Vec<Block>,
}

/// One block.
struct Block {
    q: Linear,
    k: Linear,
    v: Linear,
    o: Linear,
    attention_norm: LayerNorm,
    up: Linear,
    down: Linear,
    norm: LayerNorm,
}

impl Bert {
    fn load(config: Config, weights: &Weights) -> Result<Self> {
        config.check().map_err(|problem| weights.fail(problem))?;
        let Config { hidden_size: hidden, vocab_size, max_position_embeddings, type_vocab_size, .. } = config;
        // A base model has no prefix; one with a task's head has.
        let prefix = if weights.has("bert.embeddings.word_embeddings.weight") { "bert." } else { "" };
        let embedding = |name: &str, rows| weights.get(&format!("{prefix}embeddings.{name}.weight"), &[rows, hidden]);
        let layers = config.num_hidden_layers;
        weights.no_more_layers(layers, &format!("{prefix}encoder.layer.{layers}.output.dense.weight"))?;
        let blocks = (0..layers)
            .map(|layer| Block::load(&config, weights, &format!("{prefix}encoder.layer.{layer}")))
            .collect::<Result<_>>()?;
        Ok(Self {
            words: embedding("word_embeddings", vocab_size)?,
            positions: embedding("position_embeddings", max_position_embeddings)?,
            first_sentence: embedding("token_type_embeddings", type_vocab_size)?.narrow(0, 0, 1)?,
            norm: layer_norm(&config, weights, &format!("{prefix}embeddings.LayerNorm"))?,
            blocks,
            config,
        })
    }
}

impl Block {
    fn load(config: &Config, weights: &Weights, name: &str) -> Result<Self> {
        let &Config { hidden_size: hidden, intermediate_size: ffn, .. } = config;
        let part = |part: &str, inp, out| linear(weights, &format!("{name}.{part}"), inp, out, true);
        Ok(Self {
            q: part("attention.self.query", hidden, hidden)?,
            k: part("attention.self.key", hidden, hidden)?,
            v: part("attention.self.value", hidden, hidden)?,
            o: part("attention.output.dense", hidden, hidden)?,
            attention_norm: layer_norm(config, weights, &format!("{name}.attention.output.LayerNorm"))?,
            up: part("intermediate.dense", hidden, ffn)?,
            down: part("output.dense", ffn, hidden)?,
            norm: layer_norm(config, weights, &format!("{name}.output.LayerNorm"))?,
        })
    }
}

fn layer_norm(config: &Config, weights: &Weights, name: &str) -> Result<LayerNorm> {
    let part = |part: &str| weights.get(&format!("{name}.{part}"), &[config.hidden_size]);
    Ok(LayerNorm::new(part("weight")?, part("bias")?, config.layer_norm_eps))
}

impl Family for Bert {
    fn shape(&self) -> Shape {
        Shape {
            vocab: self.config.vocab_size,
            layers: self.config.num_hidden_layers,
            q_heads: self.config.num_attention_heads,
            context: self.config.max_position_embeddings,
            causal: false,
        }
    }

    fn hidden(&self, ids: &[u32], run: &mut Run) -> Result<Tensor> {
        let q_heads = self.config.num_attention_heads;
        let head_dim = self.config.hidden_size / q_heads;
        let params = Params::for_head_dim(head_dim);
        let words = self.words.index_select(&Tensor::new(ids, &Device::Cpu)?, 0)?;
        let placed = (words + self.positions.narrow(0, 0, ids.len())?)?;
        let mut x = self.norm.forward(&placed.broadcast_add(&self.first_sentence)?)?;
        for (layer, block) in self.blocks.iter().enumerate() {
            run.state(&x);
            let q = heads(&block.q, &x, q_heads, head_dim)?;
            let k = heads(&block.k, &x, q_heads, head_dim)?;
            let v = heads(&block.v, &x, q_heads, head_dim)?;
            let z = run.attend(layer, &q, &k, &v, &params)?;
            if !run.layer_done(layer, self.blocks.len())? {
                break;
            }
            x = block.attention_norm.forward(&(x + block.o.forward(&z)?)?)?;
            let h = block.up.forward(&x)?.gelu_erf()?;
            x = block.norm.forward(&(&x + block.down.forward(&h)?)?)?;
        }
        run.state(&x);
        Ok(x)
    }

    fn logits(&self, _hidden: &Tensor) -> Result<Option<Tensor>> {
        Ok(None)
    }
}
