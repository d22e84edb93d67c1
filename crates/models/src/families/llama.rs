//! Llama: pre-norm blocks with RMSNorm, rotary embedding, grouped-query attention and a gated feed-forward layer.
//! (Touvron et al. 2023) Mistral, Qwen2, Qwen3, SmolLM3 and Phi-3 are the same with other options of [`Config`].

use attnscope_inspect::SiteKind;
use attnscope_kernel::Params;
use candle_core::{Device, Tensor};
use candle_nn::{Linear, ops};
use serde_json::Value;

use super::activation::Activation;
use super::decoder_keys::Head;
use super::keys::Keys;
use super::layers::{Layers, Windows};
use super::rotary::{Rotary, Usual};
use super::{
    Build, Family, Layer, Norm, Output, Unembedding, check_eps, check_heads, check_sizes, heads, in_pieces,
    language_head, linear, prefix,
};
use crate::attend::Run;
use crate::error::Result;
use crate::model::Shape;
use crate::weights::Weights;

/// Sizes and constants.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Config {
    /// Number of token ids.
    pub(crate) vocab: usize,
    /// Length of a token's vector.
    pub(crate) hidden: usize,
    /// Number of blocks.
    pub(crate) layers: usize,
    /// Query heads.
    pub(crate) q_heads: usize,
    /// Key and value heads; divides `q_heads`.
    pub(crate) kv_heads: usize,
    /// Length of a query, a key and a value.
    pub(crate) head_dim: usize,
    /// Width of the feed-forward layer.
    pub(crate) ffn: usize,
    /// What bends it.
    pub(crate) activation: Activation,
    /// Added to the mean square in RMSNorm.
    pub(crate) norm_eps: f64,
    /// How queries and keys turn, in the layers in which they do.
    pub(crate) rotary: Rotary,
    pub(crate) rotated: Layers,
    /// Which layers see only so far back.
    pub(crate) windows: Windows,
    /// Which projections have biases.
    pub(crate) biases: Biases,
    /// Whether every query and key is normalised before it turns.
    pub(crate) qk_norm: bool,
    /// Longest text it was made for, in tokens.
    pub(crate) context: usize,
    pub(crate) head: Head,
    /// How the checkpoint names its tensors.
    pub(crate) names: Names,
}

/// Which projections have biases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Biases {
    /// To queries, keys and values.
    pub(crate) qkv: bool,
    /// From all heads back.
    pub(crate) o: bool,
    /// Those of the feed-forward layer.
    pub(crate) ffn: bool,
}

/// How a checkpoint names its tensors, and how it orders the rows of q and k.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Names {
    /// `layers.0.self_attn.q_proj`: each half of a head's rows turns with the other half.
    Hf,
    /// The same with q, k and v in one matrix, `qkv_proj`, and gate and up in another, `gate_up_proj`.
    HfFused,
    /// `blk.0.attn_q`: each even row turns with the odd one after it.
    Gguf,
}

/// Reads a Hugging Face config.json.
pub(super) fn from_hf(config: &Value) -> Result<Build, String> {
    read(config)?.build()
}

fn read(config: &Value) -> Result<Config, String> {
    let keys = Keys(config);
    let (attention, ffn) = (keys.flag_or("attention_bias", false)?, keys.flag_or("mlp_bias", false)?);
    let config = Config::from_hf(&keys)?;
    let rotary = Rotary::from_hf(&keys, &Usual::for_head_dim(config.head_dim))?;
    Ok(Config { rotary, biases: Biases { qkv: attention, o: attention, ffn }, head: keys.head(false)?, ..config })
}

impl Config {
    /// What all families of this kind call the same in their config.json; the rest is off, as in the first Llama.
    pub(super) fn from_hf(keys: &Keys) -> Result<Self, String> {
        let (hidden, q_heads) = (keys.size("hidden_size")?, keys.size("num_attention_heads")?);
        check_sizes(&[("hidden size", hidden), ("heads", q_heads)])?;
        let head_dim = keys.size_or("head_dim", hidden / q_heads)?;
        Ok(Self {
            vocab: keys.size("vocab_size")?,
            hidden,
            layers: keys.size("num_hidden_layers")?,
            q_heads,
            kv_heads: keys.size_or("num_key_value_heads", q_heads)?,
            head_dim,
            ffn: keys.size("intermediate_size")?,
            activation: Activation::read(keys, "hidden_act", "silu")?,
            norm_eps: keys.number_or("rms_norm_eps", 1e-6)?,
            rotary: Rotary::plain(head_dim, 10_000.0),
            rotated: Layers::All,
            windows: Windows::NONE,
            biases: Biases::default(),
            qk_norm: false,
            context: keys.size("max_position_embeddings")?,
            head: Head::Own,
            names: Names::Hf,
        })
    }

    /// A model of this kind, if the sizes can belong to one.
    pub(super) fn build(self) -> Result<Build, String> {
        self.check()?;
        Ok(Box::new(move |weights| Ok(Box::new(Llama::load(self, weights)?))))
    }

    /// That the sizes can belong to one model.
    pub(crate) fn check(&self) -> Result<(), String> {
        let Self { q_heads, kv_heads, head_dim, .. } = *self;
        check_sizes(&[
            ("vocab", self.vocab),
            ("hidden size", self.hidden),
            ("layers", self.layers),
            ("heads", q_heads),
            ("feed-forward size", self.ffn),
            ("context", self.context),
        ])?;
        check_eps(self.norm_eps)?;
        self.rotary.check()?;
        check_heads(q_heads, kv_heads, head_dim)
    }
}

/// The model: token embedding, blocks, final norm, and the head, where it has one.
pub(crate) struct Llama {
    config: Config,
    /// (vocab, hidden).
    embedding: Tensor,
    blocks: Vec<Block>,
    norm: Tensor,
    head: Option<Linear>,
}

/// One block.
struct Block {
    attention_norm: Tensor,
    q: Linear,
    k: Linear,
    v: Linear,
    o: Linear,
    /// Weights of the norms of queries and of keys, (head_dim) each.
    qk_norms: Option<(Tensor, Tensor)>,
    ffn_norm: Tensor,
    gate: Linear,
    up: Linear,
    down: Linear,
}

impl Llama {
    pub(crate) fn load(config: Config, weights: &Weights) -> Result<Self> {
        let Config { vocab, hidden, layers, names, .. } = config;
        let [embedding, norm, head] = names.top();
        // A base model that was saved alone has no prefix.
        let prefix = if names == Names::Gguf { "" } else { prefix(weights, &["model.", ""], embedding) };
        let embedding = weights.get(&format!("{prefix}{embedding}"), &[vocab, hidden])?;
        let head = language_head(weights, config.head, head, &embedding)?;
        weights.refuse("rope_freqs.weight")?;
        let next = names.part(prefix, layers, "input_layernorm", "attn_norm");
        weights.no_more_layers(layers, &format!("{next}.weight"))?;
        let norm = weights.get(&format!("{prefix}{norm}"), &[hidden])?;
        // A damaged count must not be believed before the tensors are seen to be there.
        let blocks = (0..layers).map(|layer| Block::load(&config, weights, prefix, layer)).collect::<Result<_>>()?;
        Ok(Self { embedding, blocks, norm, head, config })
    }
}

impl Names {
    /// The names of the embedding, the final norm and the head.
    fn top(self) -> [&'static str; 3] {
        match self {
            Self::Hf | Self::HfFused => ["embed_tokens.weight", "norm.weight", "lm_head.weight"],
            Self::Gguf => ["token_embd.weight", "output_norm.weight", "output.weight"],
        }
    }

    /// The name of a part of a block, given as (HF, GGUF).
    fn part(self, prefix: &str, layer: usize, hf: &str, gguf: &str) -> String {
        match self {
            Self::Hf | Self::HfFused => format!("{prefix}layers.{layer}.{hf}"),
            Self::Gguf => format!("blk.{layer}.{gguf}"),
        }
    }
}

impl Block {
    fn load(config: &Config, weights: &Weights, prefix: &str, layer: usize) -> Result<Self> {
        let &Config { hidden, q_heads, kv_heads, head_dim, ffn, names, biases, qk_norm, .. } = config;
        let name = |hf: &str, gguf: &str| names.part(prefix, layer, hf, gguf);
        let part = |hf, gguf, inp, out, bias: bool| {
            let name = name(hf, gguf);
            match names {
                _ if bias => {}
                // Its header has no word for biases.
                Names::Gguf => weights.refuse(&format!("{name}.bias"))?,
                Names::Hf | Names::HfFused => weights.unspoken(&format!("{name}.bias"))?,
            }
            linear(weights, &name, inp, out, bias)
        };
        let norm = |hf, gguf, size| weights.get(&format!("{}.weight", name(hf, gguf)), &[size]);
        let (q_width, kv_width) = (q_heads * head_dim, kv_heads * head_dim);
        let [q, k, v] = match names {
            Names::HfFused => split(
                &part("self_attn.qkv_proj", "", hidden, q_width + 2 * kv_width, biases.qkv)?,
                [q_width, kv_width, kv_width],
            )?,
            _ => [
                in_halves(part("self_attn.q_proj", "attn_q", hidden, q_width, biases.qkv)?, q_heads, names)?,
                in_halves(part("self_attn.k_proj", "attn_k", hidden, kv_width, biases.qkv)?, kv_heads, names)?,
                part("self_attn.v_proj", "attn_v", hidden, kv_width, biases.qkv)?,
            ],
        };
        let [gate, up] = match names {
            Names::HfFused => {
                split(&part("mlp.gate_up_proj", "", hidden, ffn.saturating_mul(2), biases.ffn)?, [ffn, ffn])?
            }
            _ => [
                part("mlp.gate_proj", "ffn_gate", hidden, ffn, biases.ffn)?,
                part("mlp.up_proj", "ffn_up", hidden, ffn, biases.ffn)?,
            ],
        };
        let (q_norm, k_norm) = (("self_attn.q_norm", "attn_q_norm"), ("self_attn.k_norm", "attn_k_norm"));
        let qk_norms = match qk_norm {
            true => Some((norm(q_norm.0, q_norm.1, head_dim)?, norm(k_norm.0, k_norm.1, head_dim)?)),
            false => {
                weights.refuse(&format!("{}.weight", name(q_norm.0, q_norm.1)))?;
                None
            }
        };
        Ok(Self {
            attention_norm: norm("input_layernorm", "attn_norm", hidden)?,
            q,
            k,
            v,
            o: part("self_attn.o_proj", "attn_output", q_width, hidden, biases.o)?,
            qk_norms,
            ffn_norm: norm("post_attention_layernorm", "ffn_norm", hidden)?,
            gate,
            up,
            down: part("mlp.down_proj", "ffn_down", ffn, hidden, biases.ffn)?,
        })
    }
}

impl Block {
    /// (len, hidden) -> (len, hidden).
    fn feed_forward(&self, h: &Tensor, activation: Activation) -> Result<Tensor> {
        let gate = activation.on(&self.gate.forward(h)?)?;
        Ok(self.down.forward(&(gate * self.up.forward(h)?)?)?)
    }
}

/// Takes layers apart that lie in one matrix, one below the other.
fn split<const N: usize>(fused: &Linear, widths: [usize; N]) -> Result<[Linear; N]> {
    let mut start = 0;
    let mut parts = Vec::with_capacity(N);
    for width in widths {
        let rows = |tensor: &Tensor| tensor.narrow(0, start, width);
        parts.push(Linear::new(rows(fused.weight())?, fused.bias().map(rows).transpose()?));
        start += width;
    }
    let parts = parts.try_into();
    Ok(parts.unwrap_or_else(|_| unreachable!("there is a part for each width")))
}

/// Puts the rows of each head into the order in which halves turn together: GGUF interleaves them.
fn in_halves(layer: Linear, heads: usize, names: Names) -> Result<Linear> {
    if names != Names::Gguf {
        return Ok(layer);
    }
    let (rows, columns) = layer.weight().dims2()?;
    let pairs = layer.weight().reshape((heads, rows / heads / 2, 2, columns))?;
    Ok(Linear::new(pairs.transpose(1, 2)?.contiguous()?.reshape((rows, columns))?, None))
}

impl Family for Llama {
    fn shape(&self) -> Shape {
        let Config { vocab, layers, q_heads, context, .. } = self.config;
        Shape { vocab, layers, q_heads, context: self.config.rotary.reach(context), causal: true }
    }

    fn hidden(&self, ids: &[u32], run: &mut Run) -> Result<Tensor> {
        let Config { q_heads, kv_heads, head_dim, layers, activation, .. } = self.config;
        let eps = self.config.norm_eps as f32;
        let turns = self.config.rotary.turns(&run.positions(ids.len()))?;
        let mut x = self.embedding.index_select(&Tensor::new(ids, &Device::Cpu)?, 0)?;
        for (layer, block) in self.blocks.iter().enumerate() {
            if run.skips(layer, &mut x)? {
                continue;
            }
            let h = ops::rms_norm(&x, &block.attention_norm, eps)?;
            let mut q = heads(&block.q, &h, q_heads, head_dim)?;
            let mut k = heads(&block.k, &h, kv_heads, head_dim)?;
            let v = heads(&block.v, &h, kv_heads, head_dim)?;
            if let Some((q_norm, k_norm)) = &block.qk_norms {
                (q, k) = (ops::rms_norm(&q, q_norm, eps)?, ops::rms_norm(&k, k_norm, eps)?);
            }
            if self.config.rotated.has(layer) {
                (q, k) = (turns.apply(&q)?, turns.apply(&k)?);
            }
            let window = self.config.windows.of(layer);
            let params = Params { causal: true, window, ..Params::for_head_dim(head_dim) };
            let z = run.attend(layer, &q, &k, &v, &params)?;
            // A long text's vectors take room that the feed-forward layer can use.
            drop((h, q, k, v));
            if !run.layer_done(layer, layers)? {
                break;
            }
            x = (x + block.o.forward(&z)?)?;
            let h = ops::rms_norm(&x, &block.ffn_norm, eps)?;
            x = run.fed(x, in_pieces(&h, |h| block.feed_forward(h, activation))?)?;
        }
        run.state(&x)?;
        Ok(ops::rms_norm(&x, &self.norm, eps)?)
    }

    fn logits(&self, hidden: &Tensor) -> Result<Option<Tensor>> {
        Ok(self.head.as_ref().map(|head| head.forward(hidden)).transpose()?)
    }

    fn output(&self, kind: SiteKind, layer: usize) -> Option<Output<'_>> {
        let block = self.blocks.get(layer).filter(|_| kind == SiteKind::SelfAttention)?;
        Some(Output::plain(&block.o))
    }

    fn last_norm(&self) -> Option<Norm<'_>> {
        Some(Norm::Rms(&self.norm, self.config.norm_eps))
    }

    fn unembedding(&self) -> Result<Unembedding<'_>, &'static str> {
        Unembedding::plain(&self.head)
    }
}
