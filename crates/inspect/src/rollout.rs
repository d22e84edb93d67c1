use std::ops::Range;

use attnscope_kernel::{Isa, Recall};
use rayon::prelude::*;
use serde::Serialize;

use crate::row::strongest;
use crate::{Error, Site, SiteKind, Strong, TokenAt, Trace, Wanted, tokens};

/// Queries whose weights are held at a time, and cells.
const ROWS: usize = 32;
const CELLS: usize = 1 << 18;

/// Where what stands at a query after all layers would come from, if every layer passed on one half of what is there and
/// one half of the mean of what its heads attend to. (Abnar and Zuidema 2020, section 4)
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Rollout {
    /// Which attention of the layers.
    pub site: SiteKind,
    /// How many layers it goes back through.
    pub layers: usize,
    /// Whose.
    pub query: TokenAt,
    /// One number a token: its share.
    pub weights: Vec<f64>,
    /// The sum of the shares: 1, less what sinks take and what rows that see nothing do not pass on.
    pub sum: f64,
    /// The tokens with the largest shares, the largest first.
    pub strongest: Vec<Strong>,
}

impl Trace {
    /// Attention rollout of one query: its row of the product of (A + I) / 2 over all layers, A the mean of a layer's heads.
    ///
    /// The row is taken back from the last layer to the first, each time as a row times a matrix whose weights are recalled a
    /// few rows at a time: O(n) memory, and the time of as many forward passes of attention as one.
    ///
    /// # Errors
    /// If the attention is not of a text on itself, not every layer is in the trace, the query is out of range, or the answer
    /// is wanted no longer.
    pub fn rollout(&self, kind: SiteKind, query: usize, wanted: Wanted) -> Result<Rollout, Error> {
        let sites = self.stack(kind)?;
        let len = sites.first().map_or(0, |site| site.q_len());
        tokens::check(len, "query", query)?;
        let mut weights = vec![0.0; len];
        weights[query] = 1.0;
        for site in sites.iter().rev() {
            weights = back(site, &weights, wanted)?;
        }
        Ok(Rollout {
            site: kind,
            layers: sites.len(),
            query: self.query_at(kind, query),
            sum: weights.iter().sum(),
            strongest: strongest(self.key_tokens(kind), &weights, 0..len),
            weights,
        })
    }

    /// Every layer's attention of a text on itself, the first layer first.
    fn stack(&self, kind: SiteKind) -> Result<Vec<&Site>, Error> {
        if kind == SiteKind::Cross {
            let why = "rollout goes from layer to layer of one text; cross-attention is from one text to another; choose \
                       `self` or `encoder`";
            return Err(Error::Undefined(why.to_owned()));
        }
        let mut sites: Vec<&Site> = self.sites.iter().filter(|site| site.kind == kind).collect();
        sites.sort_by_key(|site| site.layer);
        let Some(last) = sites.last() else { return Err(self.no_site(kind)) };
        let len = last.q_len();
        if let Some(gap) = (0..sites.len()).find(|layer| sites[*layer].layer != *layer) {
            return Err(Error::Undefined(format!(
                "rollout goes through every layer, and this trace has no layer {gap}"
            )));
        }
        match sites.iter().find(|site| (site.q_len(), site.kv_len()) != (len, len)) {
            None => Ok(sites),
            Some(site) => Err(Error::Undefined(format!(
                "rollout needs the queries of the whole text in every layer; layer {} has {} queries and {} keys",
                site.layer,
                site.q_len(),
                site.kv_len()
            ))),
        }
    }
}

/// row (A + I) / 2, with A the mean of the layer's heads.
fn back(site: &Site, row: &[f64], wanted: Wanted) -> Result<Vec<f64>, Error> {
    let recall = site.recall(Isa::detect())?;
    let step = (CELLS / row.len().max(1)).clamp(1, ROWS);
    let through = |head: usize| -> Result<Vec<f64>, Error> {
        let mut mixed = vec![0.0; row.len()];
        for start in (0..row.len()).step_by(step) {
            let queries = start..row.len().min(start + step);
            if row[queries.clone()].iter().any(|share| *share != 0.0) {
                wanted.check()?;
                site.check_file()?;
                add(&recall, head, queries, row, &mut mixed)?;
            }
        }
        Ok(mixed)
    };
    let heads = (0..site.q_heads()).into_par_iter().map(through).collect::<Result<Vec<_>, Error>>()?;
    let mut passed: Vec<f64> = row.iter().map(|share| share / 2.0).collect();
    for head in &heads {
        let share = 0.5 / heads.len() as f64;
        passed.iter_mut().zip(head).for_each(|(sum, mixed)| *sum += share * mixed);
    }
    Ok(passed)
}

/// Adds the rows of some queries, each times its share.
fn add(recall: &Recall, head: usize, queries: Range<usize>, row: &[f64], mixed: &mut [f64]) -> Result<(), Error> {
    // Both ends of what a query sees grow with the query, so the first and last bound them all.
    let mask = recall.mask();
    let keys = mask.span(queries.start).start..mask.span(queries.end - 1).end;
    if keys.is_empty() {
        return Ok(());
    }
    let tile = recall.tile(0, head, queries.clone(), keys.clone())?;
    for (query, weights) in queries.zip(tile.weights.chunks(keys.len())) {
        mixed[keys.clone()].iter_mut().zip(weights).for_each(|(sum, weight)| *sum += row[query] * weight);
    }
    Ok(())
}
