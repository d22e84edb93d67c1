//! GPT-2: pre-norm blocks with LayerNorm, learned positions and GELU, biases everywhere; DistilGPT-2 is the same with
//! fewer blocks. (Radford et al. 2019)

use attnscope_kernel::Params;
use candle_core::{Device, Tensor};
use candle_nn::{LayerNorm, Module};
use serde_json::{Value, json};

use super::activation::Activation;
use super::decoder_keys::Head;
use super::keys::Keys;
use super::{
    Build, Family, LanguageHead, Norm, Output, check_eps, check_sizes, even_heads, language_head, layer_norm, prefix,
};
use crate::attend::Run;
use crate::error::Result;
use crate::gguf::{self, Header, Names, Stored};
use crate::linear::{Linear, Matrix};
use crate::model::Shape;
use crate::weights::Weights;

/// Sizes and constants.
struct Config {
    vocab: usize,
    hidden: usize,
    layers: usize,
    heads: usize,
    context: usize,
    ffn: usize,
    activation: Activation,
    eps: f64,
    /// Whether scores are divided by sqrt(head_dim).
    scaled: bool,
    /// Whether scores are also divided by the number of their layer, counted from 1. (Mistral's GPT-2s)
    by_layer: bool,
    head: Head,
}

/// Reads a Hugging Face config.json.
pub(super) fn from_hf(config: &Value) -> Result<Build, String> {
    let config = Config::read(config)?;
    Ok(Box::new(move |weights| Ok(Box::new(Gpt2::load(config, weights)?))))
}

/// GPT-2 in GGUF files.
pub(super) const GGUF: gguf::Dialect = gguf::Dialect { architectures: &["gpt2"], config: from_gguf, names: &NAMES };

const NAMES: Names = Names {
    blocks: "transformer.h.",
    parts: &[
        ("ln_1", "attn_norm", Stored::Same),
        ("attn.c_attn", "attn_qkv", Stored::Turned),
        ("attn.c_proj", "attn_output", Stored::Turned),
        ("ln_2", "ffn_norm", Stored::Same),
        ("mlp.c_fc", "ffn_up", Stored::Turned),
        ("mlp.c_proj", "ffn_down", Stored::Turned),
    ],
    others: &[
        ("transformer.wte", "token_embd", Stored::Same),
        ("transformer.wpe", "position_embd", Stored::Same),
        ("transformer.ln_f", "output_norm", Stored::Same),
        ("lm_head", "output", Stored::Same),
    ],
};

fn from_gguf(header: &Header) -> Result<Value> {
    let keys = &header.keys;
    Ok(json!({
        "vocab_size": header.vocabulary()?,
        "n_embd": keys.size(".embedding_length")?,
        "n_layer": keys.size(".block_count")?,
        "n_head": keys.size(".attention.head_count")?,
        "n_positions": keys.size(".context_length")?,
        "n_inner": keys.size(".feed_forward_length")?,
        "layer_norm_epsilon": keys.number(".attention.layer_norm_epsilon")?,
    }))
}

impl Config {
    fn read(config: &Value) -> Result<Self, String> {
        let keys = Keys(config);
        keys.only("add_cross_attention", false)?;
        let hidden = keys.size("n_embd")?;
        let config = Self {
            vocab: keys.size("vocab_size")?,
            hidden,
            layers: keys.size("n_layer")?,
            heads: keys.size("n_head")?,
            context: keys.size("n_positions")?,
            ffn: keys.size_or("n_inner", hidden.saturating_mul(4))?,
            activation: Activation::read(&keys, "activation_function", "gelu_new")?,
            eps: keys.number_or("layer_norm_epsilon", 1e-5)?,
            scaled: keys.flag_or("scale_attn_weights", true)?,
            by_layer: keys.flag_or("scale_attn_by_inverse_layer_idx", false)?,
            head: keys.head(true)?,
        };
        let Self { vocab, layers, heads, context, ffn, .. } = config;
        let sizes = [("vocab", vocab), ("hidden size", hidden), ("layers", layers), ("context", context)];
        check_sizes(&sizes)?;
        check_sizes(&[("feed-forward size", ffn)])?;
        check_eps(config.eps)?;
        even_heads(hidden, heads)?;
        Ok(config)
    }
}

/// The model: embeddings of tokens and positions, blocks, final norm, and the head, where it has one.
struct Gpt2 {
    config: Config,
    /// (vocab, hidden).
    words: Matrix,
    /// (context, hidden).
    positions: Tensor,
    blocks: Vec<Block>,
    norm: LayerNorm,
    head: Option<Linear>,
}

/// One block.
struct Block {
    attention_norm: LayerNorm,
    /// Queries, keys and values, one after another.
    qkv: Linear,
    o: Linear,
    ffn_norm: LayerNorm,
    up: Linear,
    down: Linear,
}

impl Gpt2 {
    fn load(config: Config, weights: &Weights) -> Result<Self> {
        let Config { vocab, hidden, layers, context, eps, .. } = config;
        let prefix = prefix(weights, &["transformer.", ""], "wte.weight");
        let words = weights.matrix(&format!("{prefix}wte.weight"), [vocab, hidden])?;
        let positions = weights.get(&format!("{prefix}wpe.weight"), &[context, hidden])?;
        let head = language_head(weights, config.head, "lm_head.weight", &words)?;
        weights.no_more_layers(layers, &format!("{prefix}h.{layers}.ln_1.weight"))?;
        let norm = layer_norm(weights, &format!("{prefix}ln_f"), hidden, eps)?;
        let block = |layer| Block::load(&config, weights, &format!("{prefix}h.{layer}"));
        let blocks = (0..layers).map(block).collect::<Result<_>>()?;
        Ok(Self { words, positions, blocks, norm, head, config })
    }
}

impl Block {
    fn load(config: &Config, weights: &Weights, name: &str) -> Result<Self> {
        let &Config { hidden, ffn, eps, .. } = config;
        let part = |part: &str, inp, out| transposed(weights, &format!("{name}.{part}"), inp, out);
        Ok(Self {
            attention_norm: layer_norm(weights, &format!("{name}.ln_1"), hidden, eps)?,
            qkv: part("attn.c_attn", hidden, hidden.saturating_mul(3))?,
            o: part("attn.c_proj", hidden, hidden)?,
            ffn_norm: layer_norm(weights, &format!("{name}.ln_2"), hidden, eps)?,
            up: part("mlp.c_fc", hidden, ffn)?,
            down: part("mlp.c_proj", ffn, hidden)?,
        })
    }
}

/// A linear layer whose weight is (inp, out), the other way round than usual.
fn transposed(weights: &Weights, name: &str, inp: usize, out: usize) -> Result<Linear> {
    let weight = weights.turned(&format!("{name}.weight"), [inp, out])?;
    Ok(Linear::new(weight, Some(weights.get(&format!("{name}.bias"), &[out])?)))
}

impl Family for Gpt2 {
    fn shape(&self) -> Shape {
        let Config { vocab, layers, heads, context, .. } = self.config;
        Shape { vocab, layers, q_heads: heads, context, causal: true }
    }

    fn hidden(&self, ids: &[u32], run: &mut Run) -> Result<Tensor> {
        let Config { hidden, layers, heads, activation, scaled, by_layer, .. } = self.config;
        let head_dim = hidden / heads;
        let positions = Tensor::new(run.positions(ids.len()), &Device::Cpu)?;
        let mut x = (self.words.rows(ids)? + self.positions.index_select(&positions, 0)?)?;
        for (layer, block) in self.blocks.iter().enumerate() {
            if run.skips(layer, &mut x)? {
                continue;
            }
            let plain = Params::for_head_dim(head_dim);
            let scale = if scaled { plain.scale } else { 1.0 };
            let scale = if by_layer { scale / (layer + 1) as f32 } else { scale };
            let params = Params { causal: true, scale, ..plain };
            let qkv = block.qkv.forward(&block.attention_norm.forward(&x)?)?;
            let part = |at: usize| qkv.narrow(1, at * hidden, hidden)?.reshape((1, ids.len(), heads, head_dim));
            let z = run.attend(layer, &part(0)?, &part(1)?, &part(2)?, &params)?;
            if !run.layer_done(layer, layers)? {
                break;
            }
            x = (x + block.o.forward(&z)?)?;
            let h = activation.on(&block.up.forward(&block.ffn_norm.forward(&x)?)?)?;
            x = run.fed(x, block.down.forward(&h)?)?;
        }
        run.state(&x)?;
        Ok(self.norm.forward(&x)?)
    }

    fn head(&self) -> Option<LanguageHead<'_>> {
        self.head.as_ref().map(LanguageHead::plain)
    }

    fn output(&self, layer: usize) -> Option<Output<'_>> {
        self.blocks.get(layer).map(|block| Output::plain(&block.o))
    }

    fn last_norm(&self) -> Option<Norm<'_>> {
        Some(Norm::Layer(&self.norm))
    }
}
