//! BART: an encoder-decoder of post-norm blocks with learned positions, of which the first two are never used.
//! (Lewis et al. 2019)

use attnscope_inspect::SiteKind;
use attnscope_kernel::Params;
use candle_core::{Device, Tensor};
use candle_nn::{LayerNorm, Module};
use serde_json::Value;

use super::keys::Keys;
use super::output::NORMED;
use super::parts::{Attention, Widths, speaking_head};
use super::post_norm::{Net, Sizes};
use super::{
    Activation, Build, Encoder, Family, Head, LanguageHead, Output, Unembedding, check_sizes, language_head,
    layer_norm, prefix,
};
use crate::attend::Run;
use crate::error::Result;
use crate::linear::Linear;
use crate::model::Shape;
use crate::weights::Weights;

/// Of every norm; no configuration says another.
const EPS: f64 = 1e-5;
/// Text begins at this row of the table of positions.
const FIRST: usize = 2;

/// Sizes and constants, as config.json names them.
#[derive(Clone, Debug)]
struct Config {
    vocab: usize,
    context: usize,
    encoder: (usize, Sizes),
    decoder: (usize, Sizes),
    /// What the vectors of words are multiplied by.
    embed_scale: f64,
    /// The id with which the decoder's texts begin.
    start: u32,
    head: Head,
}

impl Config {
    fn read(config: &Value) -> Result<Self, String> {
        let keys = Keys(config);
        let (vocab, hidden) = (keys.size("vocab_size")?, keys.size("d_model")?);
        let context = keys.size("max_position_embeddings")?;
        check_sizes(&[("vocab", vocab), ("d_model", hidden), ("context", context)])?;
        // What a few of its relatives switch, which are other models under the same name.
        for (key, supported) in [
            ("normalize_before", false),
            ("add_final_layer_norm", false),
            ("normalize_embedding", true),
            ("static_position_embeddings", false),
        ] {
            keys.only(key, supported)?;
        }
        let act = Activation::read(&keys, "activation_function", "gelu")?;
        let half = |half: &str| -> Result<(usize, Sizes), String> {
            let key = |part: &str| format!("{half}_{part}");
            let (layers, ffn) = (keys.size(&key("layers"))?, keys.size(&key("ffn_dim"))?);
            let heads = keys.size(&key("attention_heads"))?;
            check_sizes(&[(&key("layers"), layers), (&key("ffn_dim"), ffn)])?;
            let attention = Widths::even(hidden, heads).map_err(|error| format!("{half}: {error}"))?;
            Ok((layers, Sizes { attention, ffn, act, eps: EPS }))
        };
        let scaled = keys.flag_or("scale_embedding", false)?;
        let end = keys.id_or("eos_token_id", 2)?;
        Ok(Self {
            vocab,
            context,
            encoder: half("encoder")?,
            decoder: half("decoder")?,
            embed_scale: if scaled { (hidden as f64).sqrt() } else { 1.0 },
            start: keys.id_or("decoder_start_token_id", end)?,
            head: speaking_head(&keys, keys.flag_or("tie_word_embeddings", true)?)?,
        })
    }
}

/// The model: the embedding that both halves share, the halves, and the head, which may be the embedding again.
struct Bart {
    config: Config,
    /// (vocab, hidden).
    words: Tensor,
    encoder: Stack,
    decoder: Stack,
    head: Option<Linear>,
}

/// One half.
struct Stack {
    /// (2 + context, hidden).
    positions: Tensor,
    embedding_norm: LayerNorm,
    blocks: Vec<Block>,
}

/// One block; the encoder's have no cross-attention.
struct Block {
    attention: Attention,
    attention_norm: LayerNorm,
    cross: Option<(Attention, LayerNorm)>,
    net: Net,
}

/// Reads a Hugging Face config.json.
pub(super) fn from_hf(config: &Value) -> Result<Build, String> {
    let config = Config::read(config)?;
    Ok(Box::new(move |weights| load(config, weights)))
}

fn load(config: Config, weights: &Weights) -> Result<Box<dyn Family>> {
    let prefix = prefix(weights, &["", "model."], "shared.weight");
    let shape = [config.vocab, config.decoder.1.attention.hidden];
    let words = weights.get(&format!("{prefix}shared.weight"), &shape)?;
    let encoder = Stack::load(&config, weights, &format!("{prefix}encoder"), config.encoder, false)?;
    let decoder = Stack::load(&config, weights, &format!("{prefix}decoder"), config.decoder, true)?;
    let head = match language_head(weights, config.head, "lm_head.weight", &words.clone().into())? {
        Some(head) if weights.has("final_logits_bias") => {
            let bias = weights.get("final_logits_bias", &[1, config.vocab])?.flatten_all()?;
            Some(Linear::new(head.weight()?.into_owned(), Some(bias)))
        }
        head => head,
    };
    Ok(Box::new(Bart { config, words, encoder, decoder, head }))
}

impl Stack {
    fn load(
        config: &Config,
        weights: &Weights,
        name: &str,
        (layers, sizes): (usize, Sizes),
        decodes: bool,
    ) -> Result<Self> {
        let hidden = sizes.attention.hidden;
        let rows = config.context.saturating_add(FIRST);
        let block = |layer| format!("{name}.layers.{layer}");
        weights.no_more_layers(layers, &format!("{}.fc1.weight", block(layers)))?;
        Ok(Self {
            positions: weights.get(&format!("{name}.embed_positions.weight"), &[rows, hidden])?,
            embedding_norm: layer_norm(weights, &format!("{name}.layernorm_embedding"), hidden, EPS)?,
            blocks: (0..layers)
                .map(|layer| Block::load(weights, &block(layer), sizes, decodes))
                .collect::<Result<_>>()?,
        })
    }

    /// Of the rows of words, (len, hidden), of tokens that follow `offset` others.
    fn placed(&self, words: &Tensor, offset: usize) -> Result<Tensor> {
        let positions = self.positions.narrow(0, FIRST + offset, words.dim(0)?)?;
        Ok(self.embedding_norm.forward(&(words + positions)?)?)
    }
}

impl Block {
    fn load(weights: &Weights, name: &str, sizes: Sizes, decodes: bool) -> Result<Self> {
        let hidden = sizes.attention.hidden;
        let attention = |part: &str| -> Result<(Attention, LayerNorm)> {
            let names = ["q_proj", "k_proj", "v_proj", "out_proj"].map(|proj| format!("{name}.{part}.{proj}"));
            let norm = layer_norm(weights, &format!("{name}.{part}_layer_norm"), hidden, EPS)?;
            Ok((Attention::load(weights, names, sizes.attention)?, norm))
        };
        let (own, attention_norm) = attention("self_attn")?;
        Ok(Self {
            attention: own,
            attention_norm,
            cross: if decodes { Some(attention("encoder_attn")?) } else { None },
            net: Net::load(weights, ["fc1", "fc2", "final_layer_norm"].map(|part| format!("{name}.{part}")), sizes)?,
        })
    }

    /// (len, hidden) -> (len, hidden).
    fn forward(&self, x: &Tensor, kind: SiteKind, layer: usize, run: &mut Run) -> Result<Tensor> {
        let params = Params { causal: self.cross.is_some(), ..self.attention.plain() };
        let z = self.attention.on(x, (kind, layer), run, &params)?;
        let mut x = self.attention_norm.forward(&(x + z)?)?;
        if let Some((cross, norm)) = &self.cross {
            let z = cross.across(&x, layer, run, &cross.plain())?;
            x = norm.forward(&(x + z)?)?;
        }
        self.net.forward(&x)
    }
}

impl Bart {
    fn embed(&self, ids: &[u32]) -> Result<Tensor> {
        Ok((self.words.index_select(&Tensor::new(ids, &Device::Cpu)?, 0)? * self.config.embed_scale)?)
    }

    fn layers(&self) -> usize {
        self.config.encoder.0.saturating_add(self.config.decoder.0)
    }
}

impl Family for Bart {
    fn shape(&self) -> Shape {
        let Config { vocab, context, decoder: (layers, sizes), .. } = self.config;
        Shape { vocab, layers, q_heads: sizes.attention.heads, context, causal: true }
    }

    fn hidden(&self, ids: &[u32], run: &mut Run) -> Result<Tensor> {
        let mut x = self.decoder.placed(&self.embed(ids)?, run.offset())?;
        for (layer, block) in self.decoder.blocks.iter().enumerate() {
            if run.skips(layer, &mut x)? {
                continue;
            }
            x = block.forward(&x, SiteKind::SelfAttention, layer, run)?;
            run.passed(self.config.encoder.0 + layer + 1, self.layers())?;
        }
        run.state(&x)?;
        Ok(x)
    }

    fn head(&self) -> Option<LanguageHead<'_>> {
        self.head.as_ref().map(LanguageHead::plain)
    }

    fn output(&self, layer: usize) -> Option<Output<'_>> {
        self.decoder.blocks.get(layer).map(|block| block.attention.output())
    }

    fn unembedding(&self) -> Result<Unembedding<'_>, &'static str> {
        Err(NORMED)
    }

    fn encoder(&self) -> Option<&dyn Encoder> {
        Some(self)
    }
}

impl Encoder for Bart {
    fn encode(&self, ids: &[u32], run: &mut Run) -> Result<Tensor> {
        let mut x = self.encoder.placed(&self.embed(ids)?, 0)?;
        for (layer, block) in self.encoder.blocks.iter().enumerate() {
            x = block.forward(&x, SiteKind::Encoder, layer, run)?;
            run.passed(layer + 1, self.layers())?;
        }
        Ok(x)
    }

    fn output(&self, layer: usize) -> Option<Output<'_>> {
        self.encoder.blocks.get(layer).map(|block| block.attention.output())
    }

    fn cross_output(&self, layer: usize) -> Option<Output<'_>> {
        self.decoder.blocks.get(layer)?.cross.as_ref().map(|(cross, _)| cross.output())
    }

    fn start(&self) -> u32 {
        self.config.start
    }

    fn layers(&self) -> usize {
        self.config.encoder.0
    }

    fn heads(&self) -> usize {
        self.config.encoder.1.attention.heads
    }
}
