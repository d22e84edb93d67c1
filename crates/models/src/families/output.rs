//! How an attention's heads go back into the stream of vectors that the layers add to, and how the last of these vectors
//! become logits: what it takes to follow one head alone.

use candle_core::Tensor;
use candle_nn::{LayerNorm, Module, ops};

use super::parts::WordHead;
use crate::error::Result;
use crate::linear::Linear;

/// Said of models that end in no scores of tokens.
const NO_HEAD: &str = "it has no language head";
/// Said of heads that name masked words.
const BENT: &str =
    "its head that names words has an activation in it, so that no part of the last vector has a share of its own";
/// Said of encoder-decoders whose norms stand behind every sum.
pub(crate) const NORMED: &str =
    "a norm follows each of its attentions and nets, so that what a head adds is changed by every layer after it";

/// The projection of all heads of an attention back into the stream, W_O.
#[derive(Clone, Copy)]
pub(crate) struct Output<'a> {
    /// (hidden, q_heads * v_head_dim).
    pub(crate) layer: &'a Linear,
    /// What its sum over the heads passes before it is added.
    pub(crate) after: Option<Norm<'a>>,
}

impl<'a> Output<'a> {
    /// One whose result is added as it is.
    pub(crate) fn plain(layer: &'a Linear) -> Self {
        Self { layer, after: None }
    }

    /// What one head makes of vectors by its slice of the projection: (n, v_head_dim) -> (n, hidden), without the bias.
    pub(crate) fn of_head(&self, head: usize, x: &Tensor) -> Result<Tensor> {
        let dim = x.dim(1)?;
        let slice = self.layer.weight()?.narrow(1, head * dim, dim)?;
        Ok(x.matmul(&slice.t()?)?)
    }
}

/// A norm, by whichever rule.
#[derive(Clone, Copy)]
pub(crate) enum Norm<'a> {
    /// w x / sqrt(mean of x^2 + eps), with w of (hidden). (Zhang and Sennrich 2019)
    Rms(&'a Tensor, f64),
    /// w (x - mean of x) / sqrt(variance of x + eps) + b. (Ba et al. 2016)
    Layer(&'a LayerNorm),
}

impl Norm<'_> {
    /// (n, hidden) -> (n, hidden).
    pub(crate) fn forward(self, x: &Tensor) -> Result<Tensor> {
        Ok(match self {
            Self::Rms(weight, eps) => ops::rms_norm(x, weight, eps as f32)?,
            Self::Layer(norm) => norm.forward(x)?,
        })
    }

    /// The norm as it is at one vector, its scale held: then every part of that vector has a share of the result.
    pub(crate) fn frozen(self, at: &[f64]) -> Result<Frozen> {
        let (weight, eps, centred, bias) = match self {
            Self::Rms(weight, eps) => (weight, eps, false, None),
            Self::Layer(norm) => (norm.weight(), norm.eps(), norm.remove_mean(), norm.bias()),
        };
        let mean = if centred { mean(at.iter().copied()) } else { 0.0 };
        let size = (mean_of_squares(at, mean) + eps).sqrt();
        let factors = doubles(weight)?.into_iter().map(|weight| weight / size).collect();
        Ok(Frozen { factors, centred, bias: bias.map(doubles).transpose()? })
    }
}

/// A norm whose scale is held: a linear map, and a bias.
pub(crate) struct Frozen {
    factors: Vec<f64>,
    centred: bool,
    /// (hidden); none where the norm has none.
    pub(crate) bias: Option<Vec<f64>>,
}

impl Frozen {
    /// What becomes of a part of the vector, without the bias.
    pub(crate) fn on(&self, part: &[f64]) -> Vec<f64> {
        let mean = if self.centred { mean(part.iter().copied()) } else { 0.0 };
        part.iter().zip(&self.factors).map(|(x, factor)| (x - mean) * factor).collect()
    }
}

/// What makes scores of tokens of the last vectors.
#[derive(Clone, Copy)]
pub(crate) enum LanguageHead<'a> {
    /// A matrix, and what its scores pass.
    Linear(Unembedding<'a>),
    /// A layer of its own before the matrix: the head that names masked words.
    Words(&'a WordHead),
}

impl<'a> LanguageHead<'a> {
    /// One that is a matrix and nothing else.
    pub(crate) fn plain(layer: &'a Linear) -> Self {
        Self::Linear(Unembedding { layer, scale: 1.0, softcap: None })
    }

    /// (n, hidden) -> (n, vocab).
    pub(crate) fn logits(self, hidden: &Tensor) -> Result<Tensor> {
        match self {
            Self::Linear(head) => head.logits(hidden),
            Self::Words(head) => head.logits(hidden),
        }
    }

    /// It as one in whose scores each part of the last vector has a share; else why it is none.
    pub(crate) fn unembedding(head: Option<Self>) -> Result<Unembedding<'a>, &'static str> {
        match head.ok_or(NO_HEAD)? {
            Self::Linear(head) => Ok(head),
            Self::Words(_) => Err(BENT),
        }
    }
}

/// How last vectors become logits: linear, but for a softcap.
#[derive(Clone, Copy)]
pub(crate) struct Unembedding<'a> {
    /// (vocab, hidden).
    pub(crate) layer: &'a Linear,
    /// What vectors are multiplied by first.
    pub(crate) scale: f64,
    /// c, where logits are then c tanh(logit / c).
    pub(crate) softcap: Option<f64>,
}

impl Unembedding<'_> {
    /// (n, hidden) -> (n, vocab).
    fn logits(&self, hidden: &Tensor) -> Result<Tensor> {
        let logits = match self.scale {
            1.0 => self.layer.forward(hidden)?,
            scale => self.layer.forward(&(hidden * scale)?)?,
        };
        Ok(match self.softcap {
            Some(cap) => ((logits / cap)?.tanh()? * cap)?,
            None => logits,
        })
    }

    /// A token's row, (hidden), by which its logit is read off a vector, and its bias.
    pub(crate) fn token(&self, id: u32) -> Result<(Vec<f64>, f64)> {
        let row = doubles(&self.layer.rows(&[id])?)?;
        let bias = match self.layer.bias() {
            Some(bias) => f64::from(bias.get(id as usize)?.to_scalar::<f32>()?),
            None => 0.0,
        };
        Ok((row.into_iter().map(|x| x * self.scale).collect(), bias))
    }
}

/// The numbers of a tensor of any shape.
pub(crate) fn doubles(tensor: &Tensor) -> Result<Vec<f64>> {
    Ok(tensor.flatten_all()?.to_vec1::<f32>()?.into_iter().map(f64::from).collect())
}

fn mean(x: impl ExactSizeIterator<Item = f64>) -> f64 {
    let len = x.len();
    x.sum::<f64>() / len as f64
}

fn mean_of_squares(x: &[f64], from: f64) -> f64 {
    mean(x.iter().map(|x| (x - from) * (x - from)))
}
