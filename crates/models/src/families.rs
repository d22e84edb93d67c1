//! One file a family: its configuration, its weights, its forward pass.

mod activation;
mod albert;
mod bart;
mod bert;
mod decoder_keys;
mod distilbert;
mod embedding;
mod gemma;
mod gpt2;
mod gpt_neox;
mod keys;
mod layers;
mod llama;
mod mistral;
mod modernbert;
mod output;
mod parts;
mod phi3;
mod post_norm;
mod qwen2;
mod qwen3;
mod roberta;
mod rotary;
mod smollm3;
mod t5;
mod table;

use candle_core::Tensor;
use candle_nn::{LayerNorm, Module};

use crate::attend::Run;
use crate::error::Result;
use crate::linear::{Linear, Matrix};
use crate::model::Shape;
use crate::weights::Weights;

pub(crate) use activation::Activation;
pub(crate) use decoder_keys::Head;
pub(crate) use output::{Frozen, LanguageHead, Norm, Output, Unembedding, doubles};
pub(crate) use table::{Build, gguf_architectures, model_types};
pub use table::{Entry, FAMILIES};

/// A constant added under a root, by either norm: not negative, and finite.
pub(crate) fn check_eps(eps: f64) -> Result<(), String> {
    match eps.is_finite() && eps >= 0.0 {
        true => Ok(()),
        false => Err(format!("its configuration says {eps} for the norm's epsilon, which must be 0 or a little more")),
    }
}

/// Sizes with their names, none of which may be 0.
pub(crate) fn check_sizes(sizes: &[(&str, usize)]) -> Result<(), String> {
    match sizes.iter().find(|(_, size)| *size == 0) {
        Some((name, _)) => Err(format!("its configuration says {name} 0, which no model has")),
        None => Ok(()),
    }
}

/// That query heads can share kv heads, and that their widths can be counted.
pub(crate) fn check_heads(q_heads: usize, kv_heads: usize, head_dim: usize) -> Result<(), String> {
    if kv_heads == 0 || !q_heads.is_multiple_of(kv_heads) {
        return Err(format!(
            "its configuration says {q_heads} query heads on {kv_heads} kv heads, which do not divide"
        ));
    }
    // q, k and v may stand in one matrix.
    if q_heads.checked_mul(head_dim).and_then(|width| width.checked_mul(3)).is_none() {
        return Err(format!("its configuration says {q_heads} heads of {head_dim} dimensions, which is too large"));
    }
    Ok(())
}

/// The length of each vector of `heads` heads that share `hidden` evenly.
pub(crate) fn even_heads(hidden: usize, heads: usize) -> Result<usize, String> {
    match hidden.checked_rem(heads) {
        Some(0) => Ok(hidden / heads),
        _ => Err(format!("its configuration says {heads} heads in a hidden size of {hidden}, which do not divide")),
    }
}

/// A model of some family, ready to run.
pub(crate) trait Family: Send + Sync {
    /// Its sizes.
    fn shape(&self) -> Shape;

    /// Reads tokens, which follow whatever the run's cache holds. The answer is (len, hidden), after the final norm.
    fn hidden(&self, ids: &[u32], run: &mut Run) -> Result<Tensor>;

    /// What makes scores of tokens of the last vectors; none for a model without a language head.
    fn head(&self) -> Option<LanguageHead<'_>>;

    /// Through what the heads of a layer's attention on its own text go back into the stream; none where there is no such
    /// layer.
    fn output(&self, layer: usize) -> Option<Output<'_>>;

    /// The norm between the last state and what [`Family::head`] reads; none where every state has passed one.
    fn last_norm(&self) -> Option<Norm<'_>> {
        None
    }

    /// How the last vectors become logits, where each part of the last state adds its own to them; else why not.
    fn unembedding(&self) -> Result<Unembedding<'_>, &'static str> {
        LanguageHead::unembedding(self.head())
    }

    /// How many token types it knows: 1 where it does not tell sentences apart.
    fn types(&self) -> usize {
        1
    }

    /// The encoder of an encoder-decoder, whose decoder all of the above is; none for other families.
    fn encoder(&self) -> Option<&dyn Encoder> {
        None
    }
}

/// The half of an encoder-decoder that reads a text for the other half.
pub(crate) trait Encoder: Sync {
    /// Reads a text. The answer is (len, hidden), after the last norm.
    fn encode(&self, ids: &[u32], run: &mut Run) -> Result<Tensor>;

    /// The id with which every text of the decoder begins.
    fn start(&self) -> u32;

    /// As [`Family::output`], of its own layers.
    fn output(&self, layer: usize) -> Option<Output<'_>>;

    /// As [`Family::output`], of the decoder's attention to what this half read.
    fn cross_output(&self, layer: usize) -> Option<Output<'_>>;

    /// Its number of layers.
    fn layers(&self) -> usize;

    /// Query heads of each.
    fn heads(&self) -> usize;
}

/// A linear layer: `{name}.weight` (out, inp), and `{name}.bias` (out) where there is one. A bias that the configuration does
/// not speak of is refused.
pub(crate) fn linear(weights: &Weights, name: &str, inp: usize, out: usize, bias: bool) -> Result<Linear> {
    let weight = weights.matrix(&format!("{name}.weight"), [out, inp])?;
    let name = format!("{name}.bias");
    if !bias {
        weights.unspoken(&name)?;
        return Ok(Linear::new(weight, None));
    }
    Ok(Linear::new(weight, Some(weights.get(&name, &[out])?)))
}

/// Applies a linear layer and splits the result into heads: (len, inp) -> (1, len, heads, head_dim).
pub(crate) fn heads(layer: &Linear, x: &Tensor, heads: usize, head_dim: usize) -> Result<Tensor> {
    let len = x.dim(0)?;
    Ok(layer.forward(x)?.reshape((1, len, heads, head_dim))?)
}

/// Applies a layer that looks at each token alone, (len, hidden) -> (len, hidden). What is wide within it is never there for
/// more than a few hundred tokens at once.
pub(crate) fn in_pieces(x: &Tensor, layer: impl Fn(&Tensor) -> Result<Tensor>) -> Result<Tensor> {
    const PIECE: usize = 512;
    let len = x.dim(0)?;
    if len <= PIECE {
        return layer(x);
    }
    let piece = |start: usize| layer(&x.narrow(0, start, PIECE.min(len - start))?);
    Ok(Tensor::cat(&(0..len).step_by(PIECE).map(piece).collect::<Result<Vec<_>>>()?, 0)?)
}

/// `{name}.weight` and `{name}.bias`, (size); files that came from TensorFlow call them `gamma` and `beta`.
pub(crate) fn layer_norm(weights: &Weights, name: &str, size: usize, eps: f64) -> Result<LayerNorm> {
    let part = |part: &str, older: &str| {
        let older = format!("{name}.{older}");
        let name = if weights.has(&older) { older } else { format!("{name}.{part}") };
        weights.get(&name, &[size])
    };
    Ok(LayerNorm::new(part("weight", "gamma")?, part("bias", "beta")?, eps))
}

/// The prefix under which a checkpoint has a tensor; the first where it has it under none.
pub(crate) fn prefix<'a>(weights: &Weights, prefixes: &[&'a str], name: &str) -> &'a str {
    let there = prefixes.iter().find(|prefix| weights.has(&format!("{prefix}{name}")));
    there.or(prefixes.first()).copied().unwrap_or_default()
}

/// What turns the last vectors into logits, (vocab, hidden); `embedding` is (vocab, hidden).
pub(crate) fn language_head(weights: &Weights, head: Head, name: &str, embedding: &Matrix) -> Result<Option<Linear>> {
    let weight = match head {
        Head::Absent => return Ok(None),
        Head::Tied if !weights.has(name) => embedding.clone(),
        Head::Own if !weights.has(name) => {
            let why = "and its configuration does not say that it is the embedding (tie_word_embeddings)";
            return Err(weights.fail(format!("tensor {name} is missing, {why}")));
        }
        Head::Tied | Head::Own => weights.matrix(name, embedding.dims2()?.into())?,
    };
    Ok(Some(Linear::new(weight, None)))
}
