//! T5: an encoder-decoder whose scores have a learned number for each distance, and no scale. Pre-norm blocks with RMSNorm,
//! no biases. (Raffel et al. 2020; the gated net of T5 1.1: Shazeer 2020)

use attnscope_inspect::SiteKind;
use attnscope_kernel::{Params, RelativeBias};
use candle_core::{Device, Tensor};
use candle_nn::{Module, ops};
use serde_json::Value;

use super::keys::Keys;
use super::parts::{Attention, Widths, speaking_head};
use super::{
    Activation, Build, Encoder, Family, Head, LanguageHead, Norm, Output, Unembedding, check_eps, check_sizes,
    language_head, linear,
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
    encoder_layers: usize,
    decoder_layers: usize,
    attention: Widths,
    ffn: usize,
    act: Activation,
    /// Whether the net has a gate.
    gated: bool,
    /// Buckets of distances, and the distance from which on all share the last.
    buckets: usize,
    max_distance: usize,
    eps: f64,
    /// The id with which the decoder's texts begin.
    start: u32,
    /// Its language head; what goes into one that is the embedding again is scaled by 1 / sqrt(hidden).
    head: Head,
}

impl Config {
    fn read(config: &Value) -> Result<Self, String> {
        let keys = Keys(config);
        let (vocab, hidden, head_dim) = (keys.size("vocab_size")?, keys.size("d_model")?, keys.size("d_kv")?);
        let (ffn, heads, encoder_layers) = (keys.size("d_ff")?, keys.size("num_heads")?, keys.size("num_layers")?);
        let decoder_layers = keys.size_or("num_decoder_layers", encoder_layers)?;
        let buckets = keys.size_or("relative_attention_num_buckets", 32)?;
        let eps = keys.number_or("layer_norm_epsilon", 1e-6)?;
        check_sizes(&[
            ("vocab", vocab),
            ("d_model", hidden),
            ("d_kv", head_dim),
            ("d_ff", ffn),
            ("heads", heads),
            ("layers", encoder_layers),
            ("num_decoder_layers", decoder_layers),
            ("relative_attention_num_buckets", buckets),
        ])?;
        check_eps(eps)?;
        let (gated, act) = net(&keys)?;
        let tied = keys.flag_or("tie_word_embeddings", true)?;
        Ok(Self {
            vocab,
            encoder_layers,
            decoder_layers,
            attention: Widths { hidden, heads, head_dim, biased: false },
            ffn,
            act,
            gated,
            buckets,
            max_distance: keys.size_or("relative_attention_max_distance", 128)?,
            eps,
            start: keys.id_or("decoder_start_token_id", keys.id_or("pad_token_id", 0)?)?,
            // Newer configurations say that every head is tied, and under another key what the older ones said here.
            head: speaking_head(&keys, keys.flag_or("scale_decoder_outputs", tied)?)?,
        })
    }
}

/// Whether the feed-forward net has a gate, and its activation.
fn net(keys: &Keys) -> Result<(bool, Activation), String> {
    let known = [
        ("relu", (false, Activation::Relu)),
        ("gelu", (false, Activation::Gelu)),
        // By this name alone the approximation is meant.
        ("gated-gelu", (true, Activation::GeluTanh)),
        ("gated-relu", (true, Activation::Relu)),
        ("gated-silu", (true, Activation::Silu)),
    ];
    keys.one_of("feed_forward_proj", "relu", &known)
}

/// The model: the embedding that both halves share, the halves, and the head, which may be the embedding again.
struct T5 {
    config: Config,
    /// (vocab, hidden).
    words: Tensor,
    encoder: Stack,
    decoder: Stack,
    head: Option<Linear>,
}

/// One half.
struct Stack {
    blocks: Vec<Block>,
    norm: Tensor,
    /// What shapes the scores of every layer's attention on its own text.
    params: Params,
}

/// One block; the encoder's have no cross-attention.
struct Block {
    attention_norm: Tensor,
    attention: Attention,
    cross: Option<(Tensor, Attention)>,
    norm: Tensor,
    /// Two where there is a gate.
    up: Vec<Linear>,
    down: Linear,
}

/// Reads a Hugging Face config.json.
pub(super) fn from_hf(config: &Value) -> Result<Build, String> {
    let config = Config::read(config)?;
    Ok(Box::new(move |weights| load(config, weights)))
}

fn load(config: Config, weights: &Weights) -> Result<Box<dyn Family>> {
    let shape = [config.vocab, config.attention.hidden];
    let words = weights.get("shared.weight", &shape)?;
    let encoder = Stack::load(&config, weights, "encoder", config.encoder_layers)?;
    let decoder = Stack::load(&config, weights, "decoder", config.decoder_layers)?;
    let head = language_head(weights, config.head, "lm_head.weight", &words.clone().into())?;
    Ok(Box::new(T5 { config, words, encoder, decoder, head }))
}

impl Stack {
    fn load(config: &Config, weights: &Weights, name: &str, layers: usize) -> Result<Self> {
        let Widths { hidden, heads, head_dim, .. } = config.attention;
        let decodes = name == "decoder";
        let block = |layer| format!("{name}.block.{layer}");
        weights.no_more_layers(layers, &format!("{}.layer.0.layer_norm.weight", block(layers)))?;
        let table = format!("{}.layer.0.SelfAttention.relative_attention_bias.weight", block(0));
        let table = weights.get(&table, &[config.buckets, heads])?.flatten_all()?.to_vec1::<f32>()?;
        let bias = RelativeBias::new(table, config.buckets, config.max_distance, !decodes)
            .map_err(|error| weights.fail(format!("its configuration: {error}")))?;
        Ok(Self {
            blocks: (0..layers)
                .map(|layer| Block::load(config, weights, &block(layer), decodes))
                .collect::<Result<_>>()?,
            norm: weights.get(&format!("{name}.final_layer_norm.weight"), &[hidden])?,
            params: Params { causal: decodes, relative_bias: Some(bias), ..unscaled(head_dim) },
        })
    }
}

/// Scores are q . k alone.
fn unscaled(head_dim: usize) -> Params {
    Params { scale: 1.0, ..Params::for_head_dim(head_dim) }
}

impl Block {
    fn load(config: &Config, weights: &Weights, name: &str, decodes: bool) -> Result<Self> {
        let Widths { hidden, .. } = config.attention;
        let norm = |layer: usize| weights.get(&format!("{name}.layer.{layer}.layer_norm.weight"), &[hidden]);
        let attention = |layer: usize, kind: &str| {
            let names = ["q", "k", "v", "o"].map(|part| format!("{name}.layer.{layer}.{kind}.{part}"));
            Attention::load(weights, names, config.attention)
        };
        let last = if decodes { 2 } else { 1 };
        let net = |part: &str, inp, out| {
            linear(weights, &format!("{name}.layer.{last}.DenseReluDense.{part}"), inp, out, false)
        };
        let up: &[&str] = if config.gated { &["wi_0", "wi_1"] } else { &["wi"] };
        Ok(Self {
            attention_norm: norm(0)?,
            attention: attention(0, "SelfAttention")?,
            cross: if decodes { Some((norm(1)?, attention(1, "EncDecAttention")?)) } else { None },
            norm: norm(last)?,
            up: up.iter().map(|part| net(part, hidden, config.ffn)).collect::<Result<_>>()?,
            down: net("wo", config.ffn, hidden)?,
        })
    }
}

impl T5 {
    fn embed(&self, ids: &[u32]) -> Result<Tensor> {
        Ok(self.words.index_select(&Tensor::new(ids, &Device::Cpu)?, 0)?)
    }

    fn norm(&self, x: &Tensor, weight: &Tensor) -> Result<Tensor> {
        Ok(ops::rms_norm(x, weight, self.config.eps as f32)?)
    }

    /// One block: (len, hidden) -> (len, hidden).
    fn block(&self, stack: &Stack, x: Tensor, kind: SiteKind, layer: usize, run: &mut Run) -> Result<Tensor> {
        let block = &stack.blocks[layer];
        let h = self.norm(&x, &block.attention_norm)?;
        let mut x = (x + block.attention.on(&h, (kind, layer), run, &stack.params)?)?;
        if let Some((norm, cross)) = &block.cross {
            let h = self.norm(&x, norm)?;
            x = (&x + cross.across(&h, layer, run, &unscaled(self.config.attention.head_dim))?)?;
        }
        let h = self.norm(&x, &block.norm)?;
        let inner = block.up[0].forward(&h)?;
        let inner = match block.up.get(1) {
            Some(gate) => self.config.act.gated(&inner, &gate.forward(&h)?)?,
            None => self.config.act.on(&inner)?,
        };
        run.fed(x, block.down.forward(&inner)?)
    }

    /// What last vectors are multiplied by before a head that is the embedding again.
    fn scale(&self) -> f64 {
        if self.config.head == Head::Tied { (self.config.attention.hidden as f64).sqrt().recip() } else { 1.0 }
    }

    fn layers(&self) -> usize {
        self.config.encoder_layers.saturating_add(self.config.decoder_layers)
    }
}

impl Family for T5 {
    fn shape(&self) -> Shape {
        let Config { vocab, decoder_layers: layers, .. } = self.config;
        Shape { vocab, layers, q_heads: self.config.attention.heads, context: Shape::ENDLESS, causal: true }
    }

    fn hidden(&self, ids: &[u32], run: &mut Run) -> Result<Tensor> {
        let mut x = self.embed(ids)?;
        for layer in 0..self.config.decoder_layers {
            if run.skips(layer, &mut x)? {
                continue;
            }
            x = self.block(&self.decoder, x, SiteKind::SelfAttention, layer, run)?;
            run.passed(self.config.encoder_layers + layer + 1, self.layers())?;
        }
        run.state(&x)?;
        self.norm(&x, &self.decoder.norm)
    }

    fn head(&self) -> Option<LanguageHead<'_>> {
        let layer = self.head.as_ref()?;
        Some(LanguageHead::Linear(Unembedding { layer, scale: self.scale(), softcap: None }))
    }

    fn output(&self, layer: usize) -> Option<Output<'_>> {
        self.decoder.blocks.get(layer).map(|block| block.attention.output())
    }

    fn last_norm(&self) -> Option<Norm<'_>> {
        Some(Norm::Rms(&self.decoder.norm, self.config.eps))
    }

    fn encoder(&self) -> Option<&dyn Encoder> {
        Some(self)
    }
}

impl Encoder for T5 {
    fn encode(&self, ids: &[u32], run: &mut Run) -> Result<Tensor> {
        let mut x = self.embed(ids)?;
        for layer in 0..self.config.encoder_layers {
            x = self.block(&self.encoder, x, SiteKind::Encoder, layer, run)?;
            run.passed(layer + 1, self.layers())?;
        }
        self.norm(&x, &self.encoder.norm)
    }

    fn output(&self, layer: usize) -> Option<Output<'_>> {
        self.encoder.blocks.get(layer).map(|block| block.attention.output())
    }

    fn cross_output(&self, layer: usize) -> Option<Output<'_>> {
        self.decoder.blocks.get(layer)?.cross.as_ref().map(|(_, cross)| cross.output())
    }

    fn start(&self) -> u32 {
        self.config.start
    }

    fn layers(&self) -> usize {
        self.config.encoder_layers
    }

    fn heads(&self) -> usize {
        self.config.attention.heads
    }
}
