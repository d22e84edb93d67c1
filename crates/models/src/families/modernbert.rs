//! ModernBERT: an encoder with pre-norm blocks, rotary positions and a gated feed-forward net. Most layers see a window
//! around each token only; those turn with a base of their own. (Warner et al. 2024)

use attnscope_kernel::{Params, Window};
use candle_core::{Device, Tensor};
use candle_nn::{LayerNorm, Module};
use serde_json::Value;

use super::embedding::in_order;
use super::keys::Keys;
use super::parts::WordHead;
use super::rotary::{Rotary, Usual};
use super::{
    Activation, Build, Family, LanguageHead, Norm, Output, check_eps, check_sizes, even_heads, linear, prefix,
};
use crate::attend::Run;
use crate::error::Result;
use crate::linear::Linear;
use crate::model::Shape;
use crate::weights::Weights;

/// Sizes and constants, as config.json names them.
#[derive(Clone, Debug)]
struct Config {
    vocab: usize,
    hidden: usize,
    heads: usize,
    head_dim: usize,
    ffn: usize,
    context: usize,
    eps: f64,
    act: Activation,
    head_act: Activation,
    layers: usize,
    /// Which layers see every token.
    global: Global,
    /// How far the others see to either side.
    reach: usize,
    /// How global and how local layers turn their queries and keys.
    rotary: [Rotary; 2],
    attention_bias: bool,
    mlp_bias: bool,
    norm_bias: bool,
    head_bias: bool,
}

/// Which layers see every token; the others see a window around each.
#[derive(Clone, Debug)]
enum Global {
    /// The first, and every n-th from there on.
    Every(usize),
    /// One by one.
    Listed(Vec<bool>),
}

/// The kinds of layers; under which key older configurations have the base of their rotary frequencies, and what it is where
/// they have none.
const KINDS: [(&str, &str, f64); 2] =
    [("full_attention", "global_rope_theta", 160_000.0), ("sliding_attention", "local_rope_theta", 10_000.0)];

impl Config {
    fn read(config: &Value) -> Result<Self, String> {
        let keys = Keys(config);
        let (vocab, hidden) = (keys.size("vocab_size")?, keys.size("hidden_size")?);
        let (layers, heads) = (keys.size("num_hidden_layers")?, keys.size("num_attention_heads")?);
        let (ffn, context) = (keys.size("intermediate_size")?, keys.size("max_position_embeddings")?);
        let eps = keys.number_or("norm_eps", 1e-5)?;
        check_sizes(&[
            ("vocab", vocab),
            ("hidden size", hidden),
            ("layers", layers),
            ("heads", heads),
            ("feed-forward size", ffn),
            ("context", context),
        ])?;
        check_eps(eps)?;
        let head_dim = even_heads(hidden, heads)?;
        Ok(Self {
            vocab,
            hidden,
            heads,
            head_dim,
            ffn,
            context,
            eps,
            act: Activation::read(&keys, "hidden_activation", "gelu")?,
            head_act: Activation::read(&keys, "classifier_activation", "gelu")?,
            layers,
            global: Global::read(&keys, layers)?,
            reach: keys.size_or("local_attention", 128)? / 2,
            rotary: [rotary(&keys, head_dim, KINDS[0])?, rotary(&keys, head_dim, KINDS[1])?],
            attention_bias: keys.flag_or("attention_bias", false)?,
            mlp_bias: keys.flag_or("mlp_bias", false)?,
            norm_bias: keys.flag_or("norm_bias", false)?,
            head_bias: keys.flag_or("classifier_bias", false)?,
        })
    }
}

impl Global {
    fn read(keys: &Keys, layers: usize) -> Result<Self, String> {
        let Some(kinds) = keys.get("layer_types") else {
            let every = keys.size_or("global_attn_every_n_layers", 3)?;
            check_sizes(&[("global_attn_every_n_layers", every)])?;
            return Ok(Self::Every(every));
        };
        let kinds = kinds.as_array().ok_or_else(|| format!("layer_types must be a list, not {kinds}"))?;
        if kinds.len() != layers {
            return Err(format!("layer_types has {} entries, but num_hidden_layers is {layers}", kinds.len()));
        }
        let global = |kind: &Value| match kind.as_str() {
            Some("full_attention") => Ok(true),
            Some("sliding_attention") => Ok(false),
            _ => Err(format!("layer_types {kind} is not supported; \"full_attention\" and \"sliding_attention\" are")),
        };
        Ok(Self::Listed(kinds.iter().map(global).collect::<Result<_, _>>()?))
    }

    fn has(&self, layer: usize) -> bool {
        match self {
            Self::Every(n) => layer.is_multiple_of(*n),
            Self::Listed(list) => list.get(layer).copied().unwrap_or(false),
        }
    }
}

/// How one kind of layer turns its queries and keys, in the newer form of configurations or the older.
fn rotary(keys: &Keys, head_dim: usize, (kind, older, usual): (&str, &'static str, f64)) -> Result<Rotary, String> {
    let own = keys.part("rope_parameters")?.get(kind).unwrap_or(&Value::Null);
    let usual = Usual { theta: (older, usual), ..Usual::for_head_dim(head_dim) };
    Rotary::within(keys, (&format!("rope_parameters.{kind}"), own), &usual)
}

/// The model: embedding, blocks, final norm, and the head that names masked words where there is one.
struct ModernBert {
    config: Config,
    /// (vocab, hidden).
    words: Tensor,
    embedding_norm: LayerNorm,
    blocks: Vec<Block>,
    norm: LayerNorm,
    head: Option<WordHead>,
}

/// One block.
struct Block {
    /// None in the first, which reads what the embedding's norm leaves.
    attention_norm: Option<LayerNorm>,
    /// Queries, keys and values, one after another: (3 hidden, hidden).
    qkv: Linear,
    o: Linear,
    norm: LayerNorm,
    /// What passes through the activation, then the gate: (2 ffn, hidden).
    up: Linear,
    down: Linear,
}

/// Reads a Hugging Face config.json.
pub(super) fn from_hf(config: &Value) -> Result<Build, String> {
    let decoder_bias = Keys(config).flag_or("decoder_bias", true)?;
    let config = Config::read(config)?;
    Ok(Box::new(move |weights| load(config, decoder_bias, weights)))
}

fn load(config: Config, decoder_bias: bool, weights: &Weights) -> Result<Box<dyn Family>> {
    let prefix = prefix(weights, &["", "model."], "embeddings.tok_embeddings.weight");
    let &Config { hidden, vocab, layers, .. } = &config;
    let norm = |name: &str| layer_norm(&config, weights, &format!("{prefix}{name}"));
    weights.no_more_layers(layers, &format!("{prefix}layers.{layers}.attn.Wqkv.weight"))?;
    let block = |layer| Block::load(&config, weights, &format!("{prefix}layers.{layer}"), layer == 0);
    let blocks = (0..layers).map(block).collect::<Result<_>>()?;
    let words = weights.get(&format!("{prefix}embeddings.tok_embeddings.weight"), &[vocab, hidden])?;
    let head = match weights.has("head.dense.weight") && (weights.has("decoder.weight") || weights.has("decoder.bias"))
    {
        false => None,
        true => {
            let own = weights.has("decoder.weight");
            let names = if own { weights.get("decoder.weight", &[vocab, hidden])? } else { words.clone() };
            if !decoder_bias {
                weights.unspoken("decoder.bias")?;
            }
            let bias = decoder_bias.then(|| weights.get("decoder.bias", &[vocab])).transpose()?;
            Some(WordHead {
                dense: linear(weights, "head.dense", hidden, hidden, config.head_bias)?,
                act: config.head_act,
                norm: layer_norm(&config, weights, "head.norm")?,
                words: Linear::new(names, bias),
            })
        }
    };
    let (embedding_norm, norm) = (norm("embeddings.norm")?, norm("final_norm")?);
    Ok(Box::new(ModernBert { words, embedding_norm, blocks, norm, head, config }))
}

impl Block {
    fn load(config: &Config, weights: &Weights, name: &str, first: bool) -> Result<Self> {
        let &Config { hidden, ffn, attention_bias, mlp_bias, .. } = config;
        let norm = |part: &str| layer_norm(config, weights, &format!("{name}.{part}"));
        let part = |part: &str, inp, out, bias| linear(weights, &format!("{name}.{part}"), inp, out, bias);
        Ok(Self {
            attention_norm: if first { None } else { Some(norm("attn_norm")?) },
            qkv: part("attn.Wqkv", hidden, hidden.saturating_mul(3), attention_bias)?,
            o: part("attn.Wo", hidden, hidden, attention_bias)?,
            norm: norm("mlp_norm")?,
            up: part("mlp.Wi", hidden, ffn.saturating_mul(2), mlp_bias)?,
            down: part("mlp.Wo", ffn, hidden, mlp_bias)?,
        })
    }
}

fn layer_norm(config: &Config, weights: &Weights, name: &str) -> Result<LayerNorm> {
    if config.norm_bias {
        return super::layer_norm(weights, name, config.hidden, config.eps);
    }
    weights.unspoken(&format!("{name}.bias"))?;
    Ok(LayerNorm::new_no_bias(weights.get(&format!("{name}.weight"), &[config.hidden])?, config.eps))
}

impl Family for ModernBert {
    fn shape(&self) -> Shape {
        let &Config { vocab, layers, heads, context, .. } = &self.config;
        Shape { vocab, layers, q_heads: heads, context, causal: false }
    }

    fn hidden(&self, ids: &[u32], run: &mut Run) -> Result<Tensor> {
        let &Config { layers, heads, head_dim, reach, ffn, .. } = &self.config;
        let everywhere = Params::for_head_dim(head_dim);
        let around = Params { window: Some(Window { left: reach, right: reach }), ..everywhere.clone() };
        let [global, local] = &self.config.rotary;
        let positions = in_order(ids.len());
        let (global, local) = (global.turns(&positions)?, local.turns(&positions)?);
        let words = self.words.index_select(&Tensor::new(ids, &Device::Cpu)?, 0)?;
        let mut x = self.embedding_norm.forward(&words)?;
        for (layer, block) in self.blocks.iter().enumerate() {
            if run.skips(layer, &mut x)? {
                continue;
            }
            let (params, turns) =
                if self.config.global.has(layer) { (&everywhere, &global) } else { (&around, &local) };
            let h = match &block.attention_norm {
                Some(norm) => norm.forward(&x)?,
                None => x.clone(),
            };
            let qkv = block.qkv.forward(&h)?.reshape((1, ids.len(), 3 * heads, head_dim))?;
            let part = |at: usize| qkv.narrow(2, at * heads, heads);
            let q = turns.apply(&part(0)?.contiguous()?)?;
            let k = turns.apply(&part(1)?.contiguous()?)?;
            let z = run.attend(layer, &q, &k, &part(2)?, params)?;
            if !run.layer_done(layer, layers)? {
                break;
            }
            x = (x + block.o.forward(&z)?)?;
            let h = block.up.forward(&block.norm.forward(&x)?)?;
            let gated = self.config.act.gated(&h.narrow(1, 0, ffn)?, &h.narrow(1, ffn, ffn)?)?;
            x = (x + block.down.forward(&gated)?)?;
        }
        run.state(&x)?;
        Ok(self.norm.forward(&x)?)
    }

    fn head(&self) -> Option<LanguageHead<'_>> {
        self.head.as_ref().map(LanguageHead::Words)
    }

    fn output(&self, layer: usize) -> Option<Output<'_>> {
        self.blocks.get(layer).map(|block| Output::plain(&block.o))
    }

    fn last_norm(&self) -> Option<Norm<'_>> {
        Some(Norm::Layer(&self.norm))
    }
}
