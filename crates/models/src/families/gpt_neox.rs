//! GPT-NeoX and Pythia: blocks in which attention and feed-forward layer read the same vectors side by side, and a part of
//! each head turns. (Black et al. 2022; Biderman et al. 2023)

use attnscope_kernel::Params;
use candle_core::{Device, Tensor};
use candle_nn::{LayerNorm, Module};
use serde_json::Value;

use super::activation::Activation;
use super::decoder_keys::Head;
use super::keys::Keys;
use super::rotary::{Rotary, Usual};
use super::{
    Build, Family, LanguageHead, Norm, Output, check_eps, check_sizes, even_heads, heads, language_head, layer_norm,
    linear, prefix,
};
use crate::attend::Run;
use crate::error::Result;
use crate::linear::Linear;
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
    rotary: Rotary,
    /// Whether the projections around attention have biases.
    biased: bool,
    /// Whether attention and feed-forward layer read the same vectors.
    parallel: bool,
    head: Head,
}

/// Reads a Hugging Face config.json.
pub(super) fn from_hf(config: &Value) -> Result<Build, String> {
    let config = Config::read(config)?;
    Ok(Box::new(move |weights| Ok(Box::new(GptNeoX::load(config, weights)?))))
}

impl Config {
    fn read(config: &Value) -> Result<Self, String> {
        let keys = Keys(config);
        let (hidden, heads) = (keys.size("hidden_size")?, keys.size("num_attention_heads")?);
        let sizes = [
            ("vocab", keys.size("vocab_size")?),
            ("hidden size", hidden),
            ("layers", keys.size("num_hidden_layers")?),
            ("context", keys.size("max_position_embeddings")?),
            ("feed-forward size", keys.size("intermediate_size")?),
        ];
        check_sizes(&sizes)?;
        let [(_, vocab), _, (_, layers), (_, context), (_, ffn)] = sizes;
        let usual = Usual {
            theta: ("rotary_emb_base", 10_000.0),
            partial: Some(("rotary_pct", 0.25)),
            ..Usual::for_head_dim(even_heads(hidden, heads)?)
        };
        let eps = keys.number_or("layer_norm_eps", 1e-5)?;
        check_eps(eps)?;
        Ok(Self {
            vocab,
            hidden,
            layers,
            heads,
            context,
            ffn,
            activation: Activation::read(&keys, "hidden_act", "gelu")?,
            eps,
            rotary: Rotary::from_hf(&keys, &usual)?,
            biased: keys.flag_or("attention_bias", true)?,
            parallel: keys.flag_or("use_parallel_residual", true)?,
            head: keys.head(false)?,
        })
    }
}

/// The model: token embedding, blocks, final norm, and the head, where it has one.
struct GptNeoX {
    config: Config,
    /// (vocab, hidden).
    embedding: Tensor,
    blocks: Vec<Block>,
    norm: LayerNorm,
    head: Option<Linear>,
}

/// One block.
struct Block {
    attention_norm: LayerNorm,
    /// To queries, keys and values.
    qkv: [Linear; 3],
    o: Linear,
    ffn_norm: LayerNorm,
    up: Linear,
    down: Linear,
}

impl GptNeoX {
    fn load(config: Config, weights: &Weights) -> Result<Self> {
        let Config { vocab, hidden, layers, eps, .. } = config;
        let prefix = prefix(weights, &["gpt_neox.", ""], "embed_in.weight");
        let embedding = weights.get(&format!("{prefix}embed_in.weight"), &[vocab, hidden])?;
        let head = language_head(weights, config.head, "embed_out.weight", &embedding.clone().into())?;
        weights.no_more_layers(layers, &format!("{prefix}layers.{layers}.input_layernorm.weight"))?;
        let norm = layer_norm(weights, &format!("{prefix}final_layer_norm"), hidden, eps)?;
        let block = |layer| Block::load(&config, weights, &format!("{prefix}layers.{layer}"));
        let blocks = (0..layers).map(block).collect::<Result<_>>()?;
        Ok(Self { embedding, blocks, norm, head, config })
    }
}

impl Block {
    fn load(config: &Config, weights: &Weights, name: &str) -> Result<Self> {
        let &Config { hidden, ffn, eps, heads, biased, .. } = config;
        let part = |part: &str, inp, out, bias: bool| {
            let name = format!("{name}.{part}");
            if !bias {
                weights.unspoken(&format!("{name}.bias"))?;
            }
            linear(weights, &name, inp, out, bias)
        };
        let fused = part("attention.query_key_value", hidden, hidden.saturating_mul(3), biased)?;
        let norm = |part: &str| layer_norm(weights, &format!("{name}.{part}"), hidden, eps);
        Ok(Self {
            attention_norm: norm("input_layernorm")?,
            qkv: [taken(&fused, heads, 0)?, taken(&fused, heads, 1)?, taken(&fused, heads, 2)?],
            o: part("attention.dense", hidden, hidden, biased)?,
            ffn_norm: norm("post_attention_layernorm")?,
            up: part("mlp.dense_h_to_4h", hidden, ffn, true)?,
            down: part("mlp.dense_4h_to_h", ffn, hidden, true)?,
        })
    }
}

/// One of the three projections that lie in one matrix, head by head: its query's rows, its key's, its value's.
fn taken(fused: &Linear, heads: usize, which: usize) -> Result<Linear> {
    let rows = |tensor: &Tensor| {
        let (all, rest) = (tensor.dim(0)?, tensor.dims()[1..].iter().product::<usize>());
        let split = tensor.reshape((heads, 3, all / heads / 3, rest))?.narrow(1, which, 1)?.contiguous()?;
        let shape: Vec<usize> = std::iter::once(all / 3).chain(tensor.dims()[1..].iter().copied()).collect();
        split.reshape(shape)
    };
    Ok(Linear::new(rows(&*fused.weight()?)?, fused.bias().map(rows).transpose()?))
}

impl Family for GptNeoX {
    fn shape(&self) -> Shape {
        let Config { vocab, layers, heads, context, .. } = self.config;
        Shape { vocab, layers, q_heads: heads, context: self.config.rotary.reach(context), causal: true }
    }

    fn hidden(&self, ids: &[u32], run: &mut Run) -> Result<Tensor> {
        let Config { hidden, layers, heads: q_heads, activation, parallel, .. } = self.config;
        let head_dim = hidden / q_heads;
        let params = Params { causal: true, ..Params::for_head_dim(head_dim) };
        let turns = self.config.rotary.turns(&run.positions(ids.len()))?;
        let mut x = self.embedding.index_select(&Tensor::new(ids, &Device::Cpu)?, 0)?;
        for (layer, block) in self.blocks.iter().enumerate() {
            if run.skips(layer, &mut x)? {
                continue;
            }
            let h = block.attention_norm.forward(&x)?;
            let [q, k, v] = &block.qkv;
            let q = turns.apply(&heads(q, &h, q_heads, head_dim)?)?;
            let k = turns.apply(&heads(k, &h, q_heads, head_dim)?)?;
            let z = run.attend(layer, &q, &k, &heads(v, &h, q_heads, head_dim)?, &params)?;
            if !run.layer_done(layer, layers)? {
                break;
            }
            let attended = (&x + block.o.forward(&z)?)?;
            let read = if parallel { &x } else { &attended };
            let h = activation.on(&block.up.forward(&block.ffn_norm.forward(read)?)?)?;
            x = run.fed(attended, block.down.forward(&h)?)?;
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
