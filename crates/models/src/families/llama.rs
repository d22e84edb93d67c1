//! Llama: pre-norm blocks with RMSNorm, rotary embedding, grouped-query attention and a gated SiLU feed-forward.
//! (Touvron et al. 2023)

use attnscope_kernel::Params;
use candle_core::{Device, Tensor};
use candle_nn::{Linear, Module, ops, rotary_emb};
use serde_json::Value;

use super::{Family, check_eps, check_sizes, heads, linear};
use crate::attend::Run;
use crate::error::Result;
use crate::model::Shape;
use crate::weights::Weights;

/// Sizes and constants.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Number of token ids.
    pub vocab: usize,
    /// Length of a token's vector.
    pub hidden: usize,
    /// Number of blocks.
    pub layers: usize,
    /// Query heads.
    pub q_heads: usize,
    /// Key and value heads; divides `q_heads`.
    pub kv_heads: usize,
    /// Length of a query, a key and a value; even.
    pub head_dim: usize,
    /// Width of the feed-forward layer.
    pub ffn: usize,
    /// Added to the mean square in RMSNorm.
    pub norm_eps: f64,
    /// Base of the rotary frequencies.
    pub rope_theta: f64,
    /// Longest text it was made for, in tokens.
    pub context: usize,
    /// Whether the head may be the embedding again, where the checkpoint has no head of its own.
    pub tied: bool,
    /// How the checkpoint names its tensors.
    pub names: Names,
}

/// How a checkpoint names its tensors, and how it orders the rows of q and k.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Names {
    /// `model.layers.0.self_attn.q_proj`: each half of a head's rows rotates with the other half.
    Hf,
    /// `blk.0.attn_q`: each even row rotates with the odd one after it.
    Gguf,
}

impl Config {
    /// Reads a Hugging Face config.json.
    pub(crate) fn from_hf(config: &Value) -> Result<Self, String> {
        let size = |key: &str| match config.get(key) {
            Some(value) => {
                value.as_u64().map(|n| n as usize).ok_or(format!("{key} must be a whole number, not {value}"))
            }
            None => Err(format!("{key} is missing")),
        };
        let optional = |key: &str, default: usize| match config.get(key) {
            None | Some(Value::Null) => Ok(default),
            Some(_) => size(key),
        };
        let number = |key: &str, default: f64| match config.get(key) {
            None | Some(Value::Null) => Ok(default),
            Some(value) => value.as_f64().ok_or(format!("{key} must be a number, not {value}")),
        };
        // Newer configurations keep everything rotary in one place.
        let rope = config.get("rope_parameters").filter(|value| value.is_object());
        let scaling = rope.or_else(|| config.get("rope_scaling").filter(|value| value.is_object()));
        let kind =
            scaling.and_then(|value| value.get("rope_type").or_else(|| value.get("type"))).and_then(Value::as_str);
        if let Some(kind) = kind.filter(|kind| *kind != "default") {
            return Err(format!("rotary scaling {kind:?} is not supported yet"));
        }
        for (key, supported) in [("attention_bias", false), ("mlp_bias", false)] {
            if config.get(key).and_then(Value::as_bool).is_some_and(|value| value != supported) {
                return Err(format!("{key} is not supported yet"));
            }
        }
        if let Some(act) = config.get("hidden_act").and_then(Value::as_str).filter(|act| *act != "silu") {
            return Err(format!("hidden_act {act:?} is not supported yet; \"silu\" is"));
        }
        let theta = rope.and_then(|value| value.get("rope_theta")).and_then(Value::as_f64);
        let (hidden, q_heads) = (size("hidden_size")?, size("num_attention_heads")?);
        let config = Self {
            vocab: size("vocab_size")?,
            hidden,
            layers: size("num_hidden_layers")?,
            q_heads,
            kv_heads: optional("num_key_value_heads", q_heads)?,
            head_dim: optional("head_dim", hidden.checked_div(q_heads).unwrap_or(0))?,
            ffn: size("intermediate_size")?,
            norm_eps: number("rms_norm_eps", 1e-6)?,
            rope_theta: theta.map_or_else(|| number("rope_theta", 10_000.0), Ok)?,
            context: size("max_position_embeddings")?,
            tied: config.get("tie_word_embeddings").and_then(Value::as_bool).unwrap_or(true),
            names: Names::Hf,
        };
        config.check()?;
        Ok(config)
    }

    /// That the sizes can belong to one model.
    pub(crate) fn check(&self) -> Result<(), String> {
        let Self { q_heads, kv_heads, head_dim, rope_theta, .. } = *self;
        check_sizes(&[
            ("vocab", self.vocab),
            ("hidden size", self.hidden),
            ("layers", self.layers),
            ("heads", q_heads),
            ("feed-forward size", self.ffn),
            ("context", self.context),
        ])?;
        check_eps(self.norm_eps)?;
        if !(rope_theta.is_finite() && rope_theta > 0.0) {
            return Err(format!("its configuration says {rope_theta} for the base of the rotary frequencies"));
        }
        if kv_heads == 0 || !q_heads.is_multiple_of(kv_heads) {
            return Err(format!(
                "its configuration says {q_heads} query heads on {kv_heads} kv heads, which do not divide"
            ));
        }
        if head_dim == 0 || !head_dim.is_multiple_of(2) {
            return Err(format!("its configuration says head_dim {head_dim}, but rotary embedding needs an even one"));
        }
        if q_heads.checked_mul(head_dim).is_none() {
            return Err(format!("its configuration says {q_heads} heads of {head_dim} dimensions, which is too large"));
        }
        Ok(())
    }
}

/// The model: token embedding, blocks, final norm, and the head, which may be the embedding again.
pub(crate) struct Llama {
    config: Config,
    /// (vocab, hidden).
    embedding: Tensor,
    blocks: Vec<Block>,
    norm: Tensor,
    head: Linear,
}

/// One block.
struct Block {
    attention_norm: Tensor,
    q: Linear,
    k: Linear,
    v: Linear,
    o: Linear,
    ffn_norm: Tensor,
    gate: Linear,
    up: Linear,
    down: Linear,
}

impl Llama {
    pub(crate) fn load(config: Config, weights: &Weights) -> Result<Self> {
        let Config { vocab, hidden, layers, .. } = config;
        let top = |name: &str, shape: &[usize]| weights.get(&config.names.top(name), shape);
        let embedding = top("embedding", &[vocab, hidden])?;
        let head = config.names.top("head");
        let own = weights.has(&head) || !config.tied;
        let head = if own { weights.get(&head, &[vocab, hidden])? } else { embedding.clone() };
        weights.refuse("rope_freqs.weight")?;
        weights.no_more_layers(
            layers,
            &format!("{}.weight", config.names.block(layers, "input_layernorm", "attn_norm")),
        )?;
        let norm = top("norm", &[hidden])?;
        // A damaged count must not be believed before the tensors are seen to be there.
        let blocks = (0..layers).map(|layer| Block::load(&config, weights, layer)).collect::<Result<_>>()?;
        Ok(Self { embedding, blocks, norm, head: Linear::new(head, None), config })
    }

    /// cos and sin of the rotary angles, (len, head_dim / 2), in the f32 arithmetic that these models were trained
    /// with. (Su et al. 2021)
    fn rotary(&self, offset: usize, len: usize) -> Result<(Tensor, Tensor)> {
        let (dim, theta) = (self.config.head_dim, self.config.rope_theta as f32);
        let frequency = |t: usize| 1.0 / theta.powf((2 * t) as f32 / dim as f32);
        let frequencies: Vec<f32> = (0..dim / 2).map(frequency).collect();
        let angles = (offset..offset + len).flat_map(|position| frequencies.iter().map(move |f| position as f32 * f));
        let angles = Tensor::from_iter(angles, &Device::Cpu)?.reshape((len, dim / 2))?;
        Ok((angles.cos()?, angles.sin()?))
    }
}

impl Names {
    fn top(self, what: &str) -> String {
        let name = match (self, what) {
            (Self::Hf, "embedding") => "model.embed_tokens.weight",
            (Self::Hf, "norm") => "model.norm.weight",
            (Self::Hf, _) => "lm_head.weight",
            (Self::Gguf, "embedding") => "token_embd.weight",
            (Self::Gguf, "norm") => "output_norm.weight",
            (Self::Gguf, _) => "output.weight",
        };
        name.to_owned()
    }

    /// The name of a part of a block, given as (HF, GGUF).
    fn block(self, layer: usize, hf: &str, gguf: &str) -> String {
        match self {
            Self::Hf => format!("model.layers.{layer}.{hf}"),
            Self::Gguf => format!("blk.{layer}.{gguf}"),
        }
    }
}

impl Block {
    fn load(config: &Config, weights: &Weights, layer: usize) -> Result<Self> {
        let &Config { hidden, q_heads, kv_heads, head_dim, ffn, names, .. } = config;
        let part = |hf, gguf, inp, out| {
            let name = names.block(layer, hf, gguf);
            weights.refuse(&format!("{name}.bias"))?;
            linear(weights, &name, inp, out, false)
        };
        let norm = |hf, gguf| weights.get(&format!("{}.weight", names.block(layer, hf, gguf)), &[hidden]);
        let q = part("self_attn.q_proj", "attn_q", hidden, q_heads * head_dim)?;
        let k = part("self_attn.k_proj", "attn_k", hidden, kv_heads * head_dim)?;
        Ok(Self {
            attention_norm: norm("input_layernorm", "attn_norm")?,
            q: in_halves(q, q_heads, names)?,
            k: in_halves(k, kv_heads, names)?,
            v: part("self_attn.v_proj", "attn_v", hidden, kv_heads * head_dim)?,
            o: part("self_attn.o_proj", "attn_output", q_heads * head_dim, hidden)?,
            ffn_norm: norm("post_attention_layernorm", "ffn_norm")?,
            gate: part("mlp.gate_proj", "ffn_gate", hidden, ffn)?,
            up: part("mlp.up_proj", "ffn_up", hidden, ffn)?,
            down: part("mlp.down_proj", "ffn_down", ffn, hidden)?,
        })
    }
}

/// Puts the rows of each head into the order in which halves rotate together: GGUF interleaves them.
fn in_halves(layer: Linear, heads: usize, names: Names) -> Result<Linear> {
    if names == Names::Hf {
        return Ok(layer);
    }
    let (rows, columns) = layer.weight().dims2()?;
    let pairs = layer.weight().reshape((heads, rows / heads / 2, 2, columns))?;
    Ok(Linear::new(pairs.transpose(1, 2)?.contiguous()?.reshape((rows, columns))?, None))
}

impl Family for Llama {
    fn shape(&self) -> Shape {
        let Config { vocab, layers, q_heads, context, .. } = self.config;
        Shape { vocab, layers, q_heads, context, causal: true }
    }

    fn hidden(&self, ids: &[u32], run: &mut Run) -> Result<Tensor> {
        let &Config { q_heads, kv_heads, head_dim, layers, .. } = &self.config;
        let eps = self.config.norm_eps as f32;
        let params = Params { causal: true, ..Params::for_head_dim(head_dim) };
        let (cos, sin) = self.rotary(run.offset(), ids.len())?;
        let mut x = self.embedding.index_select(&Tensor::new(ids, &Device::Cpu)?, 0)?;
        for (layer, block) in self.blocks.iter().enumerate() {
            run.state(&x);
            let h = ops::rms_norm(&x, &block.attention_norm, eps)?;
            let q = rotary_emb::rope_thd(&heads(&block.q, &h, q_heads, head_dim)?, &cos, &sin)?;
            let k = rotary_emb::rope_thd(&heads(&block.k, &h, kv_heads, head_dim)?, &cos, &sin)?;
            let v = heads(&block.v, &h, kv_heads, head_dim)?;
            let z = run.attend(layer, &q, &k, &v, &params)?;
            if !run.layer_done(layer, layers)? {
                break;
            }
            x = (x + block.o.forward(&z)?)?;
            let h = ops::rms_norm(&x, &block.ffn_norm, eps)?;
            let gated = (ops::silu(&block.gate.forward(&h)?)? * block.up.forward(&h)?)?;
            x = (x + block.down.forward(&gated)?)?;
        }
        run.state(&x);
        Ok(ops::rms_norm(&x, &self.norm, eps)?)
    }

    fn logits(&self, hidden: &Tensor) -> Result<Option<Tensor>> {
        Ok(Some(self.head.forward(hidden)?))
    }
}
