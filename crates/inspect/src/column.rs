use attnscope_kernel::Isa;
use serde::Serialize;

use crate::row::strongest;
use crate::{At, Error, Pick, SiteKind, Strong, TokenAt, Trace, budget, tokens};

/// One column of the attention matrix: who listens to a token.
///
/// A column is no budget: its weights come from different rows and need not sum to anything.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Column {
    /// The layer, from 0.
    pub layer: usize,
    /// The query head, from 0, or `mean`.
    pub head: Pick,
    /// Which attention of the layer.
    pub site: SiteKind,
    /// Who is asked.
    pub key: TokenAt,
    /// One number a query; exactly 0 where hidden.
    pub weights: Vec<f64>,
    /// One a query: why the key is hidden from it, or null.
    pub mask: Vec<Option<&'static str>>,
    /// The sum of the weights.
    pub received: f64,
    /// How many queries see the key.
    pub visible: usize,
    /// The queries with the largest weights, the largest first.
    pub strongest: Vec<Strong>,
}

impl Trace {
    /// One column of one head, or the mean of a layer's heads, in O(n head_dim) for each head.
    ///
    /// # Errors
    /// If the layer, head or key is out of range.
    pub fn column(&self, site: SiteKind, layer: usize, pick: Pick, key: usize) -> Result<Column, Error> {
        let places = pick.places(self, site, layer)?;
        let mut weights = Vec::new();
        for at in &places {
            let one = self.column_weights(*at, key)?;
            weights.resize(one.len(), 0.0);
            weights.iter_mut().zip(one).for_each(|(sum, weight)| *sum += weight / places.len() as f64);
        }
        let found = self.site(site, layer)?;
        let recall = found.recall(Isa::detect())?;
        let heads: Vec<usize> = places.iter().map(|at| at.head).collect();
        let mask: Vec<_> = (0..found.q_len())
            .map(|query| recall.mask().hidden_from_all(0, &heads, query, key).map(|hidden| hidden.name()))
            .collect();
        let seeing: Vec<usize> = (0..found.q_len()).filter(|query| mask[*query].is_none()).collect();
        Ok(Column {
            layer,
            head: pick,
            site,
            key: self.key_at(site, key),
            received: weights.iter().sum(),
            visible: seeing.len(),
            strongest: strongest(self.query_tokens(site), &weights, seeing),
            mask,
            weights,
        })
    }

    fn column_weights(&self, at: At, key: usize) -> Result<Vec<f64>, Error> {
        let site = self.head_site(at)?;
        tokens::check(site.kv_len(), "key", key)?;
        let recall = site.recall(Isa::detect())?;
        let mut tile = recall.tile(0, at.head, 0..site.q_len(), key..key + 1)?;
        for query in (0..site.q_len()).filter(|query| recall.mask().hidden(0, at.head, *query, key).is_none()) {
            let lse = recall.lse(0, at.head, query)?;
            tile.weights[query] = budget::number(tile.weights[query], tile.scores[query], lse);
        }
        Ok(tile.weights)
    }
}
