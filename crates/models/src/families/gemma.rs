//! Gemma 2 and Gemma 3: blocks with a norm before and after each part, and windows in most layers. Gemma 2 bounds its
//! scores and logits softly; Gemma 3 normalises queries and keys, and turns them on another base where there is a window.
//! (Gemma team 2024, 2025)

use attnscope_kernel::Params;
use candle_core::Tensor;
use candle_nn::{Module, ops};
use serde_json::{Value, json};

use super::activation::Activation;
use super::decoder_keys::Head;
use super::keys::Keys;
use super::layers::{Layers, Windows};
use super::rotary::{Rotary, Usual};
use super::{
    Build, Family, LanguageHead, Norm, Output, Unembedding, check_eps, check_heads, check_sizes, heads, language_head,
    linear, prefix,
};
use crate::attend::Run;
use crate::error::Result;
use crate::gguf::{self, Header, Names, Stored, Turning};
use crate::linear::{Linear, Matrix};
use crate::model::Shape;
use crate::weights::Weights;

/// Sizes and constants.
struct Config {
    vocab: usize,
    hidden: usize,
    layers: usize,
    q_heads: usize,
    kv_heads: usize,
    head_dim: usize,
    context: usize,
    ffn: usize,
    activation: Activation,
    eps: f64,
    /// What scores are multiplied by.
    scale: f32,
    /// What bounds scores, and what logits.
    softcap: Option<f64>,
    logit_softcap: Option<f64>,
    /// In layers that see the whole text, and in those with a window.
    rotary: Rotary,
    window_rotary: Rotary,
    windows: Windows,
    /// Whether the projections around attention have biases.
    biased: bool,
    /// Whether every query and key is normalised before it turns.
    qk_norm: bool,
    head: Head,
}

/// Reads the config.json of a Gemma 2.
pub(super) fn from_hf_2(config: &Value) -> Result<Build, String> {
    Config::read_2(&Keys(config))?.build()
}

/// Reads the config.json of a Gemma 3 for texts alone.
pub(super) fn from_hf_3(config: &Value) -> Result<Build, String> {
    Config::read_3(&Keys(config))?.build()
}

/// Gemma 2 in GGUF files.
pub(super) const GGUF_2: gguf::Dialect =
    gguf::Dialect { architectures: &["gemma2"], config: from_gguf_2, names: &NAMES };

/// Gemma 3 for texts in GGUF files; those that see keep what they see with in a file of its own.
pub(super) const GGUF_3: gguf::Dialect =
    gguf::Dialect { architectures: &["gemma3"], config: from_gguf_3, names: &NAMES };

const NAMES: Names = Names {
    blocks: "model.layers.",
    parts: &[
        ("input_layernorm", "attn_norm", Stored::Whole),
        ("self_attn.q_proj", "attn_q", Stored::Same),
        ("self_attn.k_proj", "attn_k", Stored::Same),
        ("self_attn.v_proj", "attn_v", Stored::Same),
        ("self_attn.o_proj", "attn_output", Stored::Same),
        ("self_attn.q_norm", "attn_q_norm", Stored::Whole),
        ("self_attn.k_norm", "attn_k_norm", Stored::Whole),
        ("post_attention_layernorm", "post_attention_norm", Stored::Whole),
        ("pre_feedforward_layernorm", "ffn_norm", Stored::Whole),
        ("mlp.gate_proj", "ffn_gate", Stored::Same),
        ("mlp.up_proj", "ffn_up", Stored::Same),
        ("mlp.down_proj", "ffn_down", Stored::Same),
        ("post_feedforward_layernorm", "post_ffw_norm", Stored::Whole),
    ],
    others: &[
        ("model.embed_tokens", "token_embd", Stored::Same),
        ("model.norm", "output_norm", Stored::Whole),
        ("lm_head", "output", Stored::Same),
    ],
};

fn from_gguf_2(header: &Header) -> Result<Value> {
    let mut config = from_gguf(header, Turning::USUAL, 46)?;
    config["attn_logit_softcapping"] = header.keys.optional_number(".attn_logit_softcapping")?.into();
    if config["sliding_window"].is_null() {
        config["sliding_window"] = 4096.into();
    }
    Ok(config)
}

fn from_gguf_3(header: &Header) -> Result<Value> {
    header.keys.refuse(".attn_logit_softcapping", 0.0)?;
    // Every converter says the base, and 10,000 would be that of layers with a window.
    let mut config = from_gguf(header, Turning { theta: None, ..Turning::USUAL }, 62)?;
    let local = header.keys.optional_number(".rope.freq_base_swa")?.unwrap_or(10_000.0);
    let global = config["rope_parameters"].take();
    config["rope_parameters"] = json!({"full_attention": global, "sliding_attention": {"rope_theta": local}});
    Ok(config)
}

/// What both say. The largest model of each, which has `largest` layers, scales scores otherwise than the others do, and no
/// header says so.
fn from_gguf(header: &Header, turning: Turning, largest: usize) -> Result<Value> {
    let keys = &header.keys;
    let mut config = Value::Object(header.decoder(turning)?);
    config["query_pre_attn_scalar"] = match keys.optional_number(".attention.scale")? {
        Some(scale) if scale > 0.0 && (scale * scale).recip().is_finite() => (scale * scale).recip().into(),
        Some(scale) => {
            let key = format!("{}.attention.scale", keys.architecture);
            return Err(keys.fail(format!("{key} is {scale}, which must be above 0")));
        }
        None if keys.size(".block_count")? == largest => header.share()?.into(),
        None => header.head_dim()?.into(),
    };
    config["attention_bias"] = header.has("blk.0.attn_q.bias").into();
    config["final_logit_softcapping"] = keys.optional_number(".final_logit_softcapping")?.into();
    config["sliding_window"] = header.window()?.into();
    config["layer_types"] = header.layer_types()?.into();
    Ok(config)
}

impl Config {
    fn read_2(keys: &Keys) -> Result<Self, String> {
        let head_dim = keys.size_or("head_dim", 256)?;
        let rotary = Rotary::from_hf(keys, &Usual::for_head_dim(head_dim))?;
        let config = Self::read(keys, head_dim, [rotary.clone(), rotary], Layers::AllButEvery(2))?;
        Ok(Self {
            softcap: keys.switched_number("attn_logit_softcapping", Some(50.0))?,
            logit_softcap: keys.switched_number("final_logit_softcapping", Some(30.0))?,
            ..config
        })
    }

    fn read_3(keys: &Keys) -> Result<Self, String> {
        let head_dim = keys.size_or("head_dim", 256)?;
        let pattern = keys.size_or("sliding_window_pattern", 6)?;
        if pattern == 0 {
            return Err("sliding_window_pattern is 0".to_owned());
        }
        if keys.get("attn_logit_softcapping").is_some() {
            return Err("attn_logit_softcapping is not supported in Gemma 3; null is".to_owned());
        }
        let global = Usual { theta: ("rope_theta", 1_000_000.0), ..Usual::for_head_dim(head_dim) };
        let local = Usual { theta: ("rope_local_base_freq", 10_000.0), ..Usual::for_head_dim(head_dim) };
        // Newer configurations have rotary settings for each type of layer; in older ones a scaling is that of the layers
        // without a window.
        let nothing = &Value::Null;
        let both = keys.part("rope_parameters")?;
        let of = |kind: &str| both.get(kind).unwrap_or(nothing);
        let rotary = match keys.get("rope_scaling") {
            Some(scaling) => Rotary::within(keys, ("rope_scaling", scaling), &global)?,
            None => Rotary::within(keys, ("rope_parameters.full_attention", of("full_attention")), &global)?,
        };
        let window = Rotary::within(keys, ("rope_parameters.sliding_attention", of("sliding_attention")), &local)?;
        let config = Self::read(keys, head_dim, [rotary, window], Layers::AllButEvery(pattern))?;
        Ok(Self {
            softcap: None,
            logit_softcap: keys.switched_number("final_logit_softcapping", None)?,
            qk_norm: true,
            ..config
        })
    }

    /// What both call the same.
    fn read(keys: &Keys, head_dim: usize, rotary: [Rotary; 2], windowed: Layers) -> Result<Self, String> {
        keys.only("use_bidirectional_attention", false)?;
        let layers = keys.size("num_hidden_layers")?;
        let (q_heads, kv_heads) = (keys.size("num_attention_heads")?, keys.size("num_key_value_heads")?);
        let scalar = keys.number_or("query_pre_attn_scalar", 256.0)?;
        if !(scalar.is_finite() && scalar > 0.0) {
            return Err(format!("query_pre_attn_scalar is {scalar}, which must be above 0"));
        }
        let [rotary, window_rotary] = rotary;
        let width = keys.switched_size("sliding_window", Some(4096))?;
        let windowed = if width.is_some() { windowed } else { Layers::Listed(Vec::new()) };
        Ok(Self {
            vocab: keys.size("vocab_size")?,
            hidden: keys.size("hidden_size")?,
            layers,
            q_heads,
            kv_heads,
            head_dim,
            context: keys.size("max_position_embeddings")?,
            ffn: keys.size("intermediate_size")?,
            activation: Activation::read(keys, "hidden_activation", "gelu_pytorch_tanh")?,
            eps: keys.number_or("rms_norm_eps", 1e-6)?,
            scale: (1.0 / scalar.sqrt()) as f32,
            softcap: None,
            logit_softcap: None,
            rotary,
            window_rotary,
            windows: Windows::from_hf(keys, layers, width, windowed)?,
            biased: keys.flag_or("attention_bias", false)?,
            qk_norm: false,
            head: keys.head(true)?,
        })
    }

    fn build(self) -> Result<Build, String> {
        self.check()?;
        Ok(Box::new(move |weights| Ok(Box::new(Gemma::load(self, weights)?))))
    }

    /// That the sizes can belong to one model.
    fn check(&self) -> Result<(), String> {
        let Self { q_heads, kv_heads, head_dim, .. } = *self;
        check_sizes(&[
            ("vocab", self.vocab),
            ("hidden size", self.hidden),
            ("layers", self.layers),
            ("heads", q_heads),
            ("feed-forward size", self.ffn),
            ("context", self.context),
        ])?;
        check_eps(self.eps)?;
        for (key, cap) in [("attn", self.softcap), ("final", self.logit_softcap)] {
            if let Some(cap) = cap.filter(|cap| !(cap.is_finite() && *cap > 0.0)) {
                return Err(format!("{key}_logit_softcapping is {cap}, which must be above 0, or null"));
            }
        }
        check_heads(q_heads, kv_heads, head_dim)
    }
}

/// The model: token embedding, blocks, final norm, and the head, where it has one.
struct Gemma {
    config: Config,
    /// (vocab, hidden).
    embedding: Matrix,
    blocks: Vec<Block>,
    norm: Tensor,
    head: Option<Linear>,
}

/// One block.
struct Block {
    before_attention: Tensor,
    q: Linear,
    k: Linear,
    v: Linear,
    o: Linear,
    /// Weights of the norms of queries and of keys, (head_dim) each.
    qk_norms: Option<(Tensor, Tensor)>,
    after_attention: Tensor,
    before_ffn: Tensor,
    gate: Linear,
    up: Linear,
    down: Linear,
    after_ffn: Tensor,
}

impl Gemma {
    fn load(config: Config, weights: &Weights) -> Result<Self> {
        let Config { vocab, hidden, layers, .. } = config;
        let prefix = prefix(weights, &["model.", ""], "embed_tokens.weight");
        let embedding = weights.matrix(&format!("{prefix}embed_tokens.weight"), [vocab, hidden])?;
        let head = language_head(weights, config.head, "lm_head.weight", &embedding)?;
        weights.no_more_layers(layers, &format!("{prefix}layers.{layers}.input_layernorm.weight"))?;
        let norm = norm(weights, &format!("{prefix}norm"), hidden)?;
        let block = |layer| Block::load(&config, weights, &format!("{prefix}layers.{layer}"));
        let blocks = (0..layers).map(block).collect::<Result<_>>()?;
        Ok(Self { embedding, blocks, norm, head, config })
    }
}

/// The weight of an RMSNorm: here the file holds by how much it differs from 1.
fn norm(weights: &Weights, name: &str, size: usize) -> Result<Tensor> {
    Ok((weights.get(&format!("{name}.weight"), &[size])? + 1.0)?)
}

impl Block {
    fn load(config: &Config, weights: &Weights, name: &str) -> Result<Self> {
        let &Config { hidden, q_heads, kv_heads, head_dim, ffn, biased, qk_norm, .. } = config;
        let part = |part: &str, inp, out, bias: bool| {
            let name = format!("{name}.{part}");
            if !bias {
                weights.unspoken(&format!("{name}.bias"))?;
            }
            linear(weights, &name, inp, out, bias)
        };
        let norm = |part: &str, size| norm(weights, &format!("{name}.{part}"), size);
        let qk_norms = match qk_norm {
            true => Some((norm("self_attn.q_norm", head_dim)?, norm("self_attn.k_norm", head_dim)?)),
            false => {
                weights.refuse(&format!("{name}.self_attn.q_norm.weight"))?;
                None
            }
        };
        Ok(Self {
            before_attention: norm("input_layernorm", hidden)?,
            q: part("self_attn.q_proj", hidden, q_heads * head_dim, biased)?,
            k: part("self_attn.k_proj", hidden, kv_heads * head_dim, biased)?,
            v: part("self_attn.v_proj", hidden, kv_heads * head_dim, biased)?,
            o: part("self_attn.o_proj", q_heads * head_dim, hidden, biased)?,
            qk_norms,
            after_attention: norm("post_attention_layernorm", hidden)?,
            before_ffn: norm("pre_feedforward_layernorm", hidden)?,
            gate: part("mlp.gate_proj", hidden, ffn, false)?,
            up: part("mlp.up_proj", hidden, ffn, false)?,
            down: part("mlp.down_proj", ffn, hidden, false)?,
            after_ffn: norm("post_feedforward_layernorm", hidden)?,
        })
    }
}

impl Family for Gemma {
    fn shape(&self) -> Shape {
        let Config { vocab, layers, q_heads, context, .. } = self.config;
        Shape { vocab, layers, q_heads, context: self.config.rotary.reach(context), causal: true }
    }

    fn hidden(&self, ids: &[u32], run: &mut Run) -> Result<Tensor> {
        let Config { hidden, q_heads, kv_heads, head_dim, layers, activation, scale, .. } = self.config;
        let eps = self.config.eps as f32;
        let softcap = self.config.softcap.map(|cap| cap as f32);
        let positions = run.positions(ids.len());
        let turns = self.config.rotary.turns(&positions)?;
        let window_turns = self.config.window_rotary.turns(&positions)?;
        let mut x = (self.embedding.rows(ids)? * (hidden as f64).sqrt())?;
        for (layer, block) in self.blocks.iter().enumerate() {
            if run.skips(layer, &mut x)? {
                continue;
            }
            let h = ops::rms_norm(&x, &block.before_attention, eps)?;
            let mut q = heads(&block.q, &h, q_heads, head_dim)?;
            let mut k = heads(&block.k, &h, kv_heads, head_dim)?;
            let v = heads(&block.v, &h, kv_heads, head_dim)?;
            if let Some((q_norm, k_norm)) = &block.qk_norms {
                (q, k) = (ops::rms_norm(&q, q_norm, eps)?, ops::rms_norm(&k, k_norm, eps)?);
            }
            let window = self.config.windows.of(layer);
            let turns = if window.is_some() { &window_turns } else { &turns };
            let params = Params { causal: true, scale, softcap, window, ..Params::for_head_dim(head_dim) };
            let z = run.attend(layer, &turns.apply(&q)?, &turns.apply(&k)?, &v, &params)?;
            if !run.layer_done(layer, layers)? {
                break;
            }
            x = (x + ops::rms_norm(&block.o.forward(&z)?, &block.after_attention, eps)?)?;
            let h = ops::rms_norm(&x, &block.before_ffn, eps)?;
            let gated = activation.gated(&block.gate.forward(&h)?, &block.up.forward(&h)?)?;
            x = run.fed(x, ops::rms_norm(&block.down.forward(&gated)?, &block.after_ffn, eps)?)?;
        }
        run.state(&x)?;
        Ok(ops::rms_norm(&x, &self.norm, eps)?)
    }

    fn head(&self) -> Option<LanguageHead<'_>> {
        let layer = self.head.as_ref()?;
        Some(LanguageHead::Linear(Unembedding { layer, scale: 1.0, softcap: self.config.logit_softcap }))
    }

    fn output(&self, layer: usize) -> Option<Output<'_>> {
        let block = self.blocks.get(layer)?;
        Some(Output { layer: &block.o, after: Some(Norm::Rms(&block.after_attention, self.config.eps)) })
    }

    fn last_norm(&self) -> Option<Norm<'_>> {
        Some(Norm::Rms(&self.norm, self.config.eps))
    }
}
