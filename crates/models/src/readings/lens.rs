use attnscope_inspect::TokenAt;
use candle_core::{Device, Tensor};
use serde::Serialize;

use super::{Looked, Looking};
use crate::attend::Keep;
use crate::effect::{Likely, divergence, log_softmax};
use crate::error::Result;
use crate::model::Model;

/// What the model would say after each of its layers, if the layer were the last. (nostalgebraist 2020, "logit lens")
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Lens {
    /// Where.
    pub position: TokenAt,
    /// What the model does say there: its likeliest token.
    pub said: Likely,
    /// Before the first layer, and after each.
    pub layers: Vec<LensLayer>,
}

/// The state of one layer, read by the model's last norm and head.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LensLayer {
    /// The layer that has been passed, from 0; null before the first.
    pub layer: Option<usize>,
    /// The likeliest tokens, the likeliest first.
    pub top: Vec<Likely>,
    /// How many tokens are likelier here than [`Lens::said`].
    pub rank: usize,
    /// Its probability here.
    pub prob: f64,
    /// Divergence of these probabilities from the model's own, sum of p ln(p / these), in nats.
    pub kl: f64,
}

impl Model {
    /// Reads what stands at a position after each layer by the model's own last norm and head, and names the `top`
    /// likeliest tokens. At the last layer that is what the model says itself.
    ///
    /// # Errors
    /// If the text cannot be read, the position is not there, or the model has no head that names words.
    pub fn lens(&self, looking: &Looking, top: usize) -> Result<Lens> {
        let Looked { position, stream, last, .. } = self.look(looking, Keep::Nothing)?;
        let own = Words::of(self.logits(&last)?)?;
        let said = own.order(1).first().copied().unwrap_or_default();
        let mut layers = Vec::with_capacity(stream.states.len());
        for (passed, state) in stream.states.into_iter().enumerate() {
            let here = Words::of(self.logits(&self.normed(state)?)?)?;
            layers.push(LensLayer {
                layer: passed.checked_sub(1),
                top: here.order(top).into_iter().map(|id| self.likely(&here, id)).collect(),
                rank: here.rank(said),
                prob: here.logs[said].exp(),
                kl: divergence(&own.logs, &here.logs),
            });
        }
        Ok(Lens { position, said: self.likely(&own, said), layers })
    }

    /// A state as the head reads one: (hidden) -> (1, hidden).
    fn normed(&self, state: Vec<f32>) -> Result<Tensor> {
        let hidden = state.len();
        let x = Tensor::from_vec(state, (1, hidden), &Device::Cpu)?;
        match self.family.last_norm() {
            Some(norm) => norm.forward(&x),
            None => Ok(x),
        }
    }

    pub(super) fn likely(&self, words: &Words, id: usize) -> Likely {
        let token = self.tokenizer().tokens(&[id as u32]).pop().map(|token| token.text).unwrap_or_default();
        Likely { token, id: id as u32, prob: words.logs[id].exp(), logit: words.logits[id] }
    }
}

/// Scores of the whole vocabulary at one position.
pub(super) struct Words {
    pub(super) logits: Vec<f32>,
    /// Natural logarithms of their probabilities.
    logs: Vec<f64>,
}

impl Words {
    /// Of (1, vocab).
    pub(super) fn of(logits: Tensor) -> Result<Self> {
        let logits: Vec<f32> = logits.flatten_all()?.to_vec1()?;
        Ok(Self { logs: log_softmax(&logits), logits })
    }

    /// The ids of the largest logits, the largest first; of equals the smaller id.
    fn order(&self, top: usize) -> Vec<usize> {
        let larger = |a: &usize, b: &usize| self.logits[*b].total_cmp(&self.logits[*a]).then(a.cmp(b));
        let mut ids: Vec<usize> = (0..self.logits.len()).collect();
        if top < ids.len() {
            ids.select_nth_unstable_by(top, larger);
            ids.truncate(top);
        }
        ids.sort_unstable_by(larger);
        ids
    }

    fn rank(&self, id: usize) -> usize {
        self.logits.iter().filter(|logit| **logit > self.logits[id]).count()
    }
}
