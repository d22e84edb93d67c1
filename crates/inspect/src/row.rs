use attnscope_kernel::Isa;
use serde::Serialize;

use crate::heads::no_less_than_0;
use crate::{At, Error, Pick, SiteKind, Token, TokenAt, Trace, budget, tokens};

/// How many of the strongest keys an answer names.
const STRONGEST: usize = 20;

/// One row of the attention matrix: how a query spends its unit of attention.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// The layer, from 0.
    pub layer: usize,
    /// The query head, from 0, or `mean`.
    pub head: Pick,
    /// Which attention of the layer.
    pub site: SiteKind,
    /// Who asks.
    pub query: TokenAt,
    /// One number a key; exactly 0 where hidden.
    pub weights: Vec<f64>,
    /// One number a key, before the mask hides anything; null for a mean, which has none.
    pub scores: Option<Vec<f64>>,
    /// One a key: why it is hidden, or null.
    pub mask: Vec<Option<&'static str>>,
    /// Natural log of the row's sum of exponentials; null for a mean, and for a row that sees nothing.
    pub lse: Option<f64>,
    /// The sum of the weights: 1 less what a sink takes, or 0 for a row that sees nothing.
    pub row_sum: f64,
    /// The weight that the head's sink takes; null where there is none.
    pub sink: Option<f64>,
    /// What the weights and the sink must sum to: 1, or 0 for a row that sees nothing and has no sink; for a mean, the
    /// mean of that.
    #[serde(skip)]
    pub due: f64,
    /// -sum of A ln A, in nats. Of a row with a sink it is the keys' part alone; see [`Row::effective`].
    pub entropy: f64,
    /// How many keys it sees.
    pub visible: usize,
    /// The keys with the largest weights, the largest first.
    pub strongest: Vec<Strong>,
}

/// A key and its weight.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Strong {
    /// Position of the key.
    pub index: usize,
    /// Its display text.
    pub token: String,
    /// Its weight.
    pub weight: f64,
}

impl Row {
    /// As spread out as so many keys with equal weights: exp of the entropy of the weights as shares of their sum, which
    /// is exp of [`Row::entropy`] where they sum to 1. None for a row without any weight.
    pub fn effective(&self) -> Option<f64> {
        budget::effective(&self.weights)
    }

    /// Why the weights cannot be those of the run, in words; none where they can.
    pub fn doubt(&self) -> Option<String> {
        budget::doubt(self.row_sum, self.sink, self.due)
    }
}

impl Trace {
    /// One row, in O(n head_dim).
    ///
    /// # Errors
    /// If the layer, head or query is out of range.
    pub fn row(&self, at: At, query: usize) -> Result<Row, Error> {
        let site = self.head_site(at)?;
        tokens::check(site.q_len(), "query", query)?;
        let recall = site.recall(Isa::detect())?;
        let lse = recall.lse(0, at.head, query)?;
        let mut tile = recall.tile(0, at.head, query..query + 1, 0..site.kv_len())?;
        let mask: Vec<_> = (0..site.kv_len()).map(|key| recall.mask().hidden(0, at.head, query, key)).collect();
        for key in (0..mask.len()).filter(|key| mask[*key].is_none()) {
            tile.weights[key] = budget::number(tile.weights[key], tile.scores[key], lse);
        }
        let visible = || (0..mask.len()).filter(|key| mask[*key].is_none());
        Ok(Row {
            layer: at.layer,
            head: Pick::Head(at.head),
            site: at.site,
            query: self.query_at(at.site, query),
            lse: lse.is_finite().then_some(lse),
            row_sum: tile.weights.iter().sum(),
            sink: site.sink_weight(at.head, lse),
            due: site.due(&recall, at.head, query),
            entropy: entropy(&tile.weights, &tile.scores, lse),
            visible: visible().count(),
            strongest: strongest(self.key_tokens(at.site), &tile.weights, visible()),
            mask: mask.iter().map(|hidden| hidden.map(|hidden| hidden.name())).collect(),
            scores: Some(tile.scores),
            weights: tile.weights,
        })
    }

    /// One row of one head, or the mean of a layer's heads.
    ///
    /// # Errors
    /// As [`Trace::row`].
    pub fn picked_row(&self, site: SiteKind, layer: usize, pick: Pick, query: usize) -> Result<Row, Error> {
        let places = pick.places(self, site, layer)?;
        let rows = places.into_iter().map(|at| self.row(at, query)).collect::<Result<Vec<_>, _>>()?;
        let Some((first, rest)) = rows.split_first() else { return Err(self.no_site(site)) };
        if pick != Pick::Mean {
            return Ok(first.clone());
        }
        let mut mean = first.clone();
        for row in rest {
            mean.weights.iter_mut().zip(&row.weights).for_each(|(sum, weight)| *sum += weight);
            // A key that any head sees is seen.
            mean.mask.iter_mut().zip(&row.mask).for_each(|(mask, other)| *mask = mask.and(*other));
        }
        mean.weights.iter_mut().for_each(|sum| *sum /= rows.len() as f64);
        let seen = |key: &usize| mean.mask[*key].is_none();
        let visible = (0..mean.weights.len()).filter(seen).collect::<Vec<_>>();
        Ok(Row {
            head: pick,
            scores: None,
            lse: None,
            row_sum: mean.weights.iter().sum(),
            sink: first.sink.map(|_| rows.iter().filter_map(|row| row.sink).sum::<f64>() / rows.len() as f64),
            due: rows.iter().map(|row| row.due).sum::<f64>() / rows.len() as f64,
            visible: visible.len(),
            entropy: no_less_than_0(
                mean.weights.iter().filter(|weight| **weight != 0.0).map(|weight| -weight * weight.ln()).sum(),
            ),
            strongest: strongest(self.key_tokens(site), &mean.weights, visible),
            ..mean
        })
    }
}

/// The visible tokens with the largest weights.
pub(crate) fn strongest(tokens: &[Token], weights: &[f64], visible: impl IntoIterator<Item = usize>) -> Vec<Strong> {
    let mut order: Vec<usize> = visible.into_iter().collect();
    order.sort_by(|a, b| weights[*b].total_cmp(&weights[*a]));
    let text = |index: usize| tokens.get(index).map(|token| token.text.clone()).unwrap_or_default();
    let strong = |index: usize| Strong { index, token: text(index), weight: weights[index] };
    order.into_iter().take(STRONGEST).map(strong).collect()
}

/// H = sum of A (lse - s) over the keys of a row, where hidden ones have no weight; every term is positive, so nothing cancels.
fn entropy(weights: &[f64], scores: &[f64], lse: f64) -> f64 {
    let terms = weights.iter().zip(scores).filter(|(weight, _)| **weight != 0.0);
    no_less_than_0(terms.map(|(weight, score)| weight * (lse - score)).sum::<f64>())
}
