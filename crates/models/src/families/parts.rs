//! What encoders are put together from: attention with its projections, norms, and the head that names masked words.

use attnscope_inspect::SiteKind;
use attnscope_kernel::Params;
use candle_core::Tensor;
use candle_nn::{LayerNorm, Module};
use serde_json::Value;

use super::keys::Keys;
use super::{Activation, Head, Output, even_heads, heads, layer_norm, linear};
use crate::attend::Run;
use crate::error::Result;
use crate::linear::Linear;
use crate::weights::Weights;

/// The projections around an attention. (Vaswani et al. 2017, section 3.2.2)
pub(crate) struct Attention {
    q: Linear,
    k: Linear,
    v: Linear,
    o: Linear,
    heads: usize,
    head_dim: usize,
}

/// Sizes of an attention: each of the four projections goes from or to `hidden`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Widths {
    pub(crate) hidden: usize,
    pub(crate) heads: usize,
    pub(crate) head_dim: usize,
    /// Whether the projections have biases.
    pub(crate) biased: bool,
}

impl Widths {
    /// Heads that share `hidden` evenly, with biases.
    pub(crate) fn even(hidden: usize, heads: usize) -> Result<Self, String> {
        Ok(Self { hidden, heads, head_dim: even_heads(hidden, heads)?, biased: true })
    }
}

impl Attention {
    /// `names` are those of the projections to queries, keys and values, and of the one back.
    pub(crate) fn load(weights: &Weights, names: [String; 4], widths: Widths) -> Result<Self> {
        let Widths { hidden, heads, head_dim, biased } = widths;
        let inner = heads.saturating_mul(head_dim);
        let [q, k, v, o] = names;
        let to = |name: &str| linear(weights, name, hidden, inner, biased);
        Ok(Self { q: to(&q)?, k: to(&k)?, v: to(&v)?, o: linear(weights, &o, inner, hidden, biased)?, heads, head_dim })
    }

    /// Of a text on itself: (len, hidden) -> (len, hidden).
    pub(crate) fn on(
        &self,
        x: &Tensor,
        (kind, layer): (SiteKind, usize),
        run: &mut Run,
        params: &Params,
    ) -> Result<Tensor> {
        let (k, v) = self.keys_and_values(x)?;
        Ok(self.o.forward(&run.attend_at((kind, layer), &self.queries(x)?, &k, &v, params)?)?)
    }

    /// Of a decoder's text on what the encoder made of another: `x` is (len, hidden).
    pub(crate) fn across(&self, x: &Tensor, layer: usize, run: &mut Run, params: &Params) -> Result<Tensor> {
        let memory = run.memory()?;
        let (k, v) = memory.keys_and_values(layer, |hidden| self.keys_and_values(hidden))?;
        Ok(self.o.forward(&run.attend_at((SiteKind::Cross, layer), &self.queries(x)?, &k, &v, params)?)?)
    }

    /// How its heads go back into the stream.
    pub(crate) fn output(&self) -> Output<'_> {
        Output::plain(&self.o)
    }

    /// What scores are scaled by, 1 / sqrt(head_dim), and nothing more.
    pub(crate) fn plain(&self) -> Params {
        Params::for_head_dim(self.head_dim)
    }

    fn queries(&self, x: &Tensor) -> Result<Tensor> {
        heads(&self.q, x, self.heads, self.head_dim)
    }

    fn keys_and_values(&self, x: &Tensor) -> Result<(Tensor, Tensor)> {
        Ok((heads(&self.k, x, self.heads, self.head_dim)?, heads(&self.v, x, self.heads, self.head_dim)?))
    }
}

/// A head that names masked words: a layer with its activation and norm, then a score for each word.
pub(crate) struct WordHead {
    pub(crate) dense: Linear,
    pub(crate) act: Activation,
    pub(crate) norm: LayerNorm,
    pub(crate) words: Linear,
}

/// How a checkpoint names the tensors of such a head.
pub(crate) struct WordHeadNames<'a> {
    pub(crate) dense: &'a str,
    pub(crate) norm: &'a str,
    /// Its weight is the embedding again where there is none.
    pub(crate) words: &'a str,
    /// Where its bias stands; if not there, then at `{words}.bias`.
    pub(crate) bias: &'a str,
}

impl WordHead {
    /// The head of a checkpoint that has one. `embedding` is (vocab, size).
    pub(crate) fn load(
        weights: &Weights,
        names: &WordHeadNames,
        hidden: usize,
        (act, eps): (Activation, f64),
        embedding: &Tensor,
    ) -> Result<Option<Self>> {
        if !weights.has(&format!("{}.weight", names.dense)) {
            return Ok(None);
        }
        let (vocab, size) = embedding.dims2()?;
        let own = format!("{}.weight", names.words);
        let words = if weights.has(&own) { weights.get(&own, &[vocab, size])? } else { embedding.clone() };
        let inner = format!("{}.bias", names.words);
        let bias = if weights.has(names.bias) || !weights.has(&inner) { names.bias } else { &inner };
        Ok(Some(Self {
            dense: linear(weights, names.dense, hidden, size, true)?,
            act,
            norm: layer_norm(weights, names.norm, size, eps)?,
            words: Linear::new(words, Some(weights.get(bias, &[vocab])?)),
        }))
    }

    /// (n, hidden) -> (n, vocab).
    pub(crate) fn logits(&self, hidden: &Tensor) -> Result<Tensor> {
        let h = self.norm.forward(&self.act.on(&self.dense.forward(hidden)?)?)?;
        Ok(self.words.forward(&h)?)
    }
}

/// The language head of an encoder-decoder, by the class that its configuration was saved from.
pub(crate) fn speaking_head(keys: &Keys, tied: bool) -> Result<Head, String> {
    let classes = keys.list("architectures")?.unwrap_or_default();
    let speaks = |name: &Value| name.as_str().is_some_and(|name| name.ends_with("ForConditionalGeneration"));
    Ok(match (classes.is_empty() || classes.iter().any(speaks), tied) {
        (false, _) => Head::Absent,
        (true, true) => Head::Tied,
        (true, false) => Head::Own,
    })
}
