//! What shapes the scores of one attention operation, and which cells it hides.

mod bias;
mod knockout;
mod mask;
mod padding;
mod segments;

pub use bias::{Bias, RelativeBias};
pub use knockout::Knockout;
pub use mask::{Hidden, Mask};
pub use padding::KeyPadding;
pub use segments::Segments;

pub(crate) use mask::{Block, Span};

use std::sync::Arc;

use crate::error::{Error, argument};
use crate::forward::Shape;

/// Everything beside q, k and v that one attention operation depends on. What is off is `None`.
///
/// ```text
/// s_ij = softcap( scale * q_i . k_j ) + alibi + relative bias + bias      softcap(x) = c tanh(x / c)
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Params {
    /// What q . k is multiplied by, normally 1 / sqrt(head_dim).
    pub scale: f32,
    /// Bounds every scaled score softly to +-c: c tanh(s / c). (Gemma 2)
    pub softcap: Option<f32>,
    /// Whether a query is kept from keys that come after it. Aligned bottom-right: query i stands at key
    /// position kv_len - q_len + i.
    pub causal: bool,
    /// How far a query sees to either side, if that is limited.
    pub window: Option<Window>,
    /// Texts packed one after another, which do not see each other.
    pub segments: Option<Segments>,
    /// Keys that are padding and no part of any text.
    pub key_padding: Option<KeyPadding>,
    /// A number added to every score.
    pub bias: Option<Bias>,
    /// One slope a query head: -slope |p - j| is added to the score of key j for the query at key position p. (Press et
    /// al. 2022)
    pub alibi_slopes: Option<Arc<[f32]>>,
    /// A learned number for each head and distance, by buckets of distances. (Raffel et al. 2020, T5)
    pub relative_bias: Option<RelativeBias>,
    /// One score a query head that takes part in the softmax of every row and mixes nothing. (gpt-oss)
    pub sinks: Option<Arc<[f32]>>,
    /// Cells cut out by hand: an experiment's.
    pub knockouts: Vec<Knockout>,
}

/// A sliding window: the query at key position p sees key j iff p - left <= j <= p + right.
///
/// A checkpoint's `sliding_window` W is left = W - 1, right = 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// How many keys before its own position a query sees; 0 is itself alone.
    pub left: usize,
    /// How many after it.
    pub right: usize,
}

impl Params {
    /// Bidirectional attention at the usual scale, 1 / sqrt(head_dim). (Vaswani et al. 2017, eq. 1)
    pub fn for_head_dim(head_dim: usize) -> Self {
        Self {
            scale: 1.0 / (head_dim.max(1) as f32).sqrt(),
            softcap: None,
            causal: false,
            window: None,
            segments: None,
            key_padding: None,
            bias: None,
            alibi_slopes: None,
            relative_bias: None,
            sinks: None,
            knockouts: Vec::new(),
        }
    }

    /// That everything is finite and has the sizes of the tensors it goes with.
    pub(crate) fn check(&self, shape: &Shape) -> Result<(), Error> {
        if !crate::tile::pack::factor(self.scale).is_finite() {
            return argument("scale", self.scale, "a finite number below 2e38 in size");
        }
        if let Some(softcap) = self.softcap
            && !(softcap.is_finite() && softcap > 0.0)
        {
            return argument("softcap", softcap, "a finite number above 0");
        }
        for (name, per_head) in [("alibi_slopes", &self.alibi_slopes), ("sinks", &self.sinks)] {
            let Some(per_head) = per_head else { continue };
            if per_head.len() != shape.q_heads {
                return argument(
                    name,
                    format!("{} numbers", per_head.len()),
                    format!("{}, one a q head", shape.q_heads),
                );
            }
            if let Some(x) = per_head.iter().find(|x| !x.is_finite()) {
                return argument(name, x, "finite numbers");
            }
        }
        if let Some(segments) = &self.segments {
            segments.check(shape)?;
        }
        if let Some(padding) = &self.key_padding {
            padding.check(shape)?;
        }
        if let Some(bias) = &self.bias {
            bias.check(shape)?;
        }
        if let Some(table) = &self.relative_bias {
            table.check(shape)?;
        }
        self.knockouts.iter().try_for_each(|knockout| knockout.check(shape))
    }

    /// Whether a score is anything else than scale * q . k.
    pub(crate) fn adjusts(&self) -> bool {
        self.softcap.is_some() || self.biased()
    }

    /// Whether something is added to the scores.
    pub(crate) fn biased(&self) -> bool {
        self.bias.is_some() || self.alibi_slopes.is_some() || self.relative_bias.is_some()
    }

    /// What ALiBi adds to a head's score for a key that lies `ahead` of the query's position (negative: behind it).
    pub fn alibi(&self, head: usize, ahead: i64) -> f32 {
        self.alibi_slopes.as_ref().map_or(0.0, |slopes| -slopes[head] * ahead.unsigned_abs() as f32)
    }

    /// What the relative-position table adds there.
    pub fn relative(&self, head: usize, ahead: i64) -> f32 {
        self.relative_bias.as_ref().map_or(0.0, |table| table.at(head, ahead))
    }
}
