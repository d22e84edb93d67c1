use attnscope_kernel::Isa;
use serde::Serialize;

use crate::{At, Error, SiteKind, TokenAt, Trace, tokens};

/// How many of the strongest keys an answer names.
const STRONGEST: usize = 20;

/// One row of the attention matrix: how a query spends its unit of attention.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// The layer, from 0.
    pub layer: usize,
    /// The query head, from 0.
    pub head: usize,
    /// Which attention of the layer.
    pub site: SiteKind,
    /// Who asks.
    pub query: TokenAt,
    /// One number a key; exactly 0 where hidden.
    pub weights: Vec<f64>,
    /// One number a key, before the mask hides anything.
    pub scores: Vec<f64>,
    /// One a key: why it is hidden, or null.
    pub mask: Vec<Option<&'static str>>,
    /// Natural log of the row's sum of exponentials; null for a row that sees nothing.
    pub lse: Option<f64>,
    /// The sum of the weights: 1, or 0 for a row that sees nothing.
    pub row_sum: f64,
    /// -sum of A ln A, in nats.
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
        let visible = recall.mask().visible(query);
        let tile = recall.tile(0, at.head, query..query + 1, 0..site.kv_len())?;
        let mut order: Vec<usize> = visible.clone().collect();
        order.sort_by(|a, b| tile.weights[*b].total_cmp(&tile.weights[*a]));
        let strong = |index: usize| Strong { index, token: self.token(index).token, weight: tile.weights[index] };
        Ok(Row {
            layer: at.layer,
            head: at.head,
            site: at.site,
            query: self.token(query),
            mask: (0..site.kv_len()).map(|key| recall.mask().hidden(query, key).map(|hidden| hidden.name())).collect(),
            lse: lse.is_finite().then_some(lse),
            row_sum: tile.weights.iter().sum(),
            entropy: entropy(&tile.weights[visible.clone()], &tile.scores[visible.clone()], lse),
            visible: visible.len(),
            strongest: order.into_iter().take(STRONGEST).map(strong).collect(),
            scores: tile.scores,
            weights: tile.weights,
        })
    }
}

/// H = sum of A (lse - s) over the visible keys of a row; every term is positive, so nothing cancels.
pub(crate) fn entropy(weights: &[f64], scores: &[f64], lse: f64) -> f64 {
    let terms = weights.iter().zip(scores).filter(|(weight, _)| **weight > 0.0);
    terms.map(|(weight, score)| weight * (lse - score)).sum::<f64>().max(0.0)
}
