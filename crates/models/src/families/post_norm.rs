//! The block of BERT and its kin: attention, then a feed-forward net, each added to what came in and then normalised.
//! (Vaswani et al. 2017, section 3.1)

use attnscope_inspect::SiteKind;
use candle_core::Tensor;
use candle_nn::{LayerNorm, Module};

use super::parts::{Attention, Widths};
use super::{Activation, Output, layer_norm, linear};
use crate::attend::Run;
use crate::error::Result;
use crate::linear::Linear;
use crate::weights::Weights;

/// One block.
pub(crate) struct Block {
    attention: Attention,
    attention_norm: LayerNorm,
    net: Net,
}

/// How a checkpoint names the parts of a block, after the block's own name.
pub(crate) struct Names {
    pub(crate) q: &'static str,
    pub(crate) k: &'static str,
    pub(crate) v: &'static str,
    pub(crate) o: &'static str,
    pub(crate) attention_norm: &'static str,
    pub(crate) up: &'static str,
    pub(crate) down: &'static str,
    pub(crate) norm: &'static str,
}

/// Sizes and constants of a block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    pub(crate) attention: Widths,
    pub(crate) ffn: usize,
    pub(crate) act: Activation,
    pub(crate) eps: f64,
}

impl Block {
    /// The block `name`.
    pub(crate) fn load(weights: &Weights, name: &str, names: &Names, sizes: Sizes) -> Result<Self> {
        let Sizes { attention, eps, .. } = sizes;
        let full = |part: &str| format!("{name}.{part}");
        let projections = [names.q, names.k, names.v, names.o].map(full);
        Ok(Self {
            attention: Attention::load(weights, projections, attention)?,
            attention_norm: layer_norm(weights, &full(names.attention_norm), attention.hidden, eps)?,
            net: Net::load(weights, [full(names.up), full(names.down), full(names.norm)], sizes)?,
        })
    }

    /// How its heads go back into the stream.
    pub(crate) fn output(&self) -> Output<'_> {
        self.attention.output()
    }

    /// (len, hidden) -> (len, hidden), as the attention `kind` of a layer.
    pub(crate) fn forward(&self, x: &Tensor, kind: SiteKind, layer: usize, run: &mut Run) -> Result<Tensor> {
        let z = self.attention.on(x, (kind, layer), run, &self.attention.plain())?;
        self.net.forward(&self.attention_norm.forward(&(x + z)?)?)
    }
}

/// The feed-forward half of a block.
pub(crate) struct Net {
    up: Linear,
    act: Activation,
    down: Linear,
    norm: LayerNorm,
}

impl Net {
    /// `names` are those of the layer up, the layer down and the norm.
    pub(crate) fn load(weights: &Weights, names: [String; 3], sizes: Sizes) -> Result<Self> {
        let Sizes { attention: Widths { hidden, .. }, ffn, act, eps } = sizes;
        let [up, down, norm] = names;
        Ok(Self {
            up: linear(weights, &up, hidden, ffn, true)?,
            act,
            down: linear(weights, &down, ffn, hidden, true)?,
            norm: layer_norm(weights, &norm, hidden, eps)?,
        })
    }

    pub(crate) fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let h = self.act.on(&self.up.forward(x)?)?;
        Ok(self.norm.forward(&(x + self.down.forward(&h)?)?)?)
    }
}
