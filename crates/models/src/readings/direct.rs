use attnscope_inspect::{Site, SiteKind, TokenAt};
use candle_core::{Device, Tensor};
use serde::Serialize;

use super::lens::Words;
use super::{Looked, Looking};
use crate::attend::Keep;
use crate::effect::Likely;
use crate::error::{Error, Result};
use crate::families::{Frozen, doubles};
use crate::model::Model;

/// What each head, and every other part of a model, adds to one logit by itself. (Elhage et al. 2021, "direct logit
/// attribution")
///
/// The last state is the sum of what the embedding, the heads, their biases and the feed-forward nets added to it; the last
/// norm, with its scale held at what it is in this run, is linear in it, and so is the head that follows. A part's share is
/// what it alone becomes on that way. LayerNorm's centring is done to each part; its bias stands apart. A norm between a
/// head and the sum (Gemma) is held likewise. Shares are of the logit before a softcap.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Direct {
    /// Where.
    pub position: TokenAt,
    /// The token whose logit it is, as the model has it there.
    pub token: Likely,
    /// c, where the logit is c tanh(uncapped / c); null without a softcap.
    pub softcap: Option<f64>,
    /// The logit before the softcap, of the model's own last vector.
    pub uncapped: f64,
    /// The sum of all parts below, which is `uncapped` but for rounding.
    pub sum: f64,
    /// What the embedding adds.
    pub embedding: f64,
    /// What each head adds, those with the largest shares first, whatever their sign.
    pub heads: Vec<Contribution>,
    /// What the biases behind all heads add.
    pub attention_biases: f64,
    /// What the feed-forward net of each layer adds.
    pub feed_forward: Vec<f64>,
    /// What the biases of the last norm and of the head add.
    pub last_biases: f64,
}

/// What one head adds to a logit.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Contribution {
    /// Which attention of the layer.
    pub site: SiteKind,
    /// The layer, from 0.
    pub layer: usize,
    /// The query head, from 0.
    pub head: usize,
    /// Its share of the logit.
    pub contribution: f64,
}

/// The way from a state to one logit, its norm held.
struct Way {
    norm: Option<Frozen>,
    /// (hidden): the token's row of the head.
    token: Vec<f64>,
    /// Of the norm and of the head.
    biases: f64,
}

impl Way {
    fn of(&self, part: &[f64]) -> f64 {
        match &self.norm {
            Some(norm) => dot(&norm.on(part), &self.token),
            None => dot(part, &self.token),
        }
    }
}

impl Model {
    /// What each head adds directly to the logit of a token at a position.
    ///
    /// # Errors
    /// If the text cannot be read, the position or the token is not there, or the model has no head in whose logits parts
    /// have shares.
    pub fn direct(&self, looking: &Looking, token: u32) -> Result<Direct> {
        let head = self.family.unembedding().map_err(|why| {
            Error::Text(format!("{}: {why}; a head's direct share of a logit is not defined", self.name()))
        })?;
        self.check_ids(&[token])?;
        let Looked { trace, position, stream, last } = self.look(looking, Keep::All)?;
        let words = Words::of(self.logits(&last)?)?;
        let (row, head_bias) = head.token(token)?;
        let (Some(first), Some(state)) = (stream.states.first(), stream.states.last()) else {
            return Err(Error::Compute("no state was kept".to_owned()));
        };
        let norm = self.family.last_norm().map(|norm| norm.frozen(&wide(state))).transpose()?;
        let norm_bias = norm.as_ref().and_then(|norm| norm.bias.as_ref()).map_or(0.0, |bias| dot(bias, &row));
        let way = Way { norm, biases: norm_bias + head_bias, token: row };
        let (mut heads, mut attention_biases) = (Vec::new(), 0.0);
        for site in trace.sites.iter().filter(|site| site.kind != SiteKind::Encoder) {
            attention_biases += self.shares(site, position.index, &way, &mut heads)?;
        }
        heads.sort_by(|a, b| b.contribution.abs().total_cmp(&a.contribution.abs()));
        let embedding = way.of(&wide(first));
        let feed_forward: Vec<f64> = stream.fed.iter().map(|added| way.of(&wide(added))).collect();
        let of_heads: f64 = heads.iter().map(|head| head.contribution).sum();
        let sum = embedding + of_heads + attention_biases + feed_forward.iter().sum::<f64>() + way.biases;
        Ok(Direct {
            position,
            token: self.likely(&words, token as usize),
            softcap: head.softcap,
            uncapped: dot(&doubles(&last)?, &way.token) + head_bias,
            sum,
            embedding,
            heads,
            attention_biases,
            feed_forward,
            last_biases: way.biases,
        })
    }

    /// Adds the shares of an attention's heads; the answer is that of their bias.
    fn shares(&self, site: &Site, position: usize, way: &Way, heads: &mut Vec<Contribution>) -> Result<f64> {
        let output = self.output_of(site.kind, site.layer)?;
        let [_, q_heads, dim] = site.out.shape;
        let z = &site.out.data[position * q_heads * dim..][..q_heads * dim];
        let bias = output.layer.bias().map(doubles).transpose()?;
        let mut parts = z
            .chunks(dim)
            .enumerate()
            .map(|(head, z)| doubles(&output.of_head(head, &Tensor::from_slice(z, (1, dim), &Device::Cpu)?)?))
            .collect::<Result<Vec<_>>>()?;
        parts.extend(bias.clone());
        if let Some(norm) = output.after {
            let mut whole = vec![0.0; parts.first().map_or(0, Vec::len)];
            parts.iter().for_each(|part| whole.iter_mut().zip(part).for_each(|(sum, x)| *sum += x));
            let norm = norm.frozen(&whole)?;
            parts.iter_mut().for_each(|part| *part = norm.on(part));
        }
        let bias = bias.and_then(|_| parts.pop()).map_or(0.0, |bias| way.of(&bias));
        heads.extend(parts.iter().enumerate().map(|(head, part)| Contribution {
            site: site.kind,
            layer: site.layer,
            head,
            contribution: way.of(part),
        }));
        Ok(bias)
    }
}

fn wide(x: &[f32]) -> Vec<f64> {
    x.iter().map(|x| f64::from(*x)).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
