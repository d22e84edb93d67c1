use std::ops::Range;

use attnscope_kernel::{Isa, Recall};
use rayon::prelude::*;
use serde::Serialize;

use crate::{Error, Site, SiteKind, Trace, Wanted};

/// Queries whose weights are held at a time, and cells: of a long text fewer queries, so that a block takes milliseconds
/// and whoever leaves does not have to wait for it.
const ROWS: usize = 32;
const CELLS: usize = 1 << 18;

/// What one head does, in a few numbers. Means are over the queries that see something.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HeadStats {
    /// Which attention of the layer.
    pub site: SiteKind,
    /// The layer, from 0.
    pub layer: usize,
    /// The query head, from 0.
    pub head: usize,
    /// Mean entropy of a row, in nats.
    pub entropy: f64,
    /// Mean weight on the first token.
    pub first: f64,
    /// Mean weight on the query's own token; null for cross-attention.
    #[serde(rename = "self")]
    pub own: Option<f64>,
    /// Mean weight on the token before the query's own, from the second query on; null for cross-attention, and where no query
    /// that sees something has a token before it.
    pub previous: Option<f64>,
    /// Mean of |p - j| weighted by attention; null for cross-attention.
    pub distance: Option<f64>,
    /// That the weights shown are the ones that made the output.
    pub proof: Proof,
}

/// The proof of a head: its weights by the query path against its output by the fast one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Proof {
    /// max over rows of |sum of weights, and of the sink's, - 1|; a row that sees nothing counts 0.
    pub row_sum_error: f64,
    /// max |sum of A_ij v_j - out_i| / max |out|.
    pub output_error: f64,
}

impl Proof {
    /// Errors that rounding may leave.
    pub const WITHIN: f64 = 1e-5;

    /// Whether the weights shown are proven to be the ones that made the output. Errors that are no numbers prove nothing.
    pub fn holds(&self) -> bool {
        self.row_sum_error <= Self::WITHIN && self.output_error <= Self::WITHIN
    }
}

/// Sums over some rows of a head, which add up.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    rows: f64,
    rows_from_second: f64,
    entropy: f64,
    first: f64,
    own: f64,
    previous: f64,
    distance: f64,
    row_sum_error: f64,
    difference: f64,
    largest: f64,
}

impl Trace {
    /// Statistics and proof of every head of every layer, or of one layer. All cores; O(n) memory a head.
    ///
    /// # Errors
    /// If there is no such layer.
    pub fn heads(&self, layer: Option<usize>) -> Result<Vec<HeadStats>, Error> {
        self.heads_with(layer, Wanted::ALWAYS, |_| {})
    }

    /// As [`Trace::heads`], for as long as it is wanted, calling `done` with each head as it is finished, in no
    /// particular order.
    ///
    /// # Errors
    /// If there is no such layer, or it is wanted no longer.
    pub fn heads_with(
        &self,
        layer: Option<usize>,
        wanted: Wanted,
        done: impl Fn(&HeadStats) + Sync,
    ) -> Result<Vec<HeadStats>, Error> {
        let asked = |site: &&Site| layer.is_none_or(|layer| site.layer == layer);
        if let Some(layer) = layer
            && !self.sites.iter().any(|site| site.layer == layer)
        {
            self.site(SiteKind::SelfAttention, layer)?;
        }
        let heads: Vec<(&Site, usize)> = self
            .sites
            .iter()
            .filter(asked)
            .flat_map(|site| (0..site.q_heads()).map(move |head| (site, head)))
            .collect();
        heads
            .into_par_iter()
            .map(|(site, head)| {
                let stats = stats(site, head, wanted)?;
                done(&stats);
                Ok(stats)
            })
            .collect()
    }
}

fn stats(site: &Site, head: usize, wanted: Wanted) -> Result<HeadStats, Error> {
    let recall = site.recall(Isa::detect())?;
    let step = (CELLS / site.kv_len().max(1)).clamp(1, ROWS);
    let starts: Vec<usize> = (0..site.q_len()).step_by(step).collect();
    let parts: Vec<Sums> = starts
        .into_par_iter()
        .map(|start| {
            wanted.check()?;
            site.check_file()?;
            rows(site, &recall, head, start..site.q_len().min(start + step))
        })
        .collect::<Result<_, _>>()?;
    // Added in the order of the text, so that the last digits do not depend on which thread was first.
    let sums = parts.into_iter().fold(Sums::default(), Sums::add);
    let mean = |sum: f64, rows: f64| if rows > 0.0 { sum / rows } else { 0.0 };
    let placed = |value: f64| (site.kind != SiteKind::Cross).then_some(value);
    Ok(HeadStats {
        site: site.kind,
        layer: site.layer,
        head,
        entropy: mean(sums.entropy, sums.rows),
        first: mean(sums.first, sums.rows),
        own: placed(mean(sums.own, sums.rows)),
        previous: placed(mean(sums.previous, sums.rows_from_second)).filter(|_| sums.rows_from_second > 0.0),
        distance: placed(mean(sums.distance, sums.rows)),
        proof: Proof {
            row_sum_error: sums.row_sum_error,
            output_error: if sums.largest > 0.0 { sums.difference / sums.largest } else { sums.difference },
        },
    })
}

fn rows(site: &Site, recall: &Recall, head: usize, queries: Range<usize>) -> Result<Sums, Error> {
    let mut sums = Sums::default();
    // Both ends of what a query sees grow with the query, so the first and last bound them all.
    let mask = recall.mask();
    let keys = mask.span(queries.start).start..mask.span(queries.end - 1).end;
    for query in queries.clone() {
        for x in site.out.row(query, head) {
            sums.largest = larger(sums.largest, f64::from(x.abs()));
        }
    }
    if keys.is_empty() {
        sums.difference = sums.largest;
        return Ok(sums);
    }
    let tile = recall.tile(0, head, queries.clone(), keys.clone())?;
    let mixed = recall.mix(0, head, &tile, site.v.view()?)?;
    for query in queries.clone() {
        let at = query - queries.start;
        let mixed = &mixed[at * site.v_head_dim()..][..site.v_head_dim()];
        for (mixed, out) in mixed.iter().zip(site.out.row(query, head)) {
            sums.difference = larger(sums.difference, (mixed - f64::from(*out)).abs());
        }
        let visible = mask.span(query);
        if mask.sees_nothing(0, head, query) {
            continue;
        }
        let cells = at * keys.len() + visible.start - keys.start..at * keys.len() + visible.end - keys.start;
        let (weights, scores) = (&tile.weights[cells.clone()], &tile.scores[cells]);
        let weight_of = |key: i64| match usize::try_from(key) {
            Ok(key) if visible.contains(&key) => weights[key - visible.start],
            _ => 0.0,
        };
        // Where there are more queries than keys, the first ones stand before the first key.
        let position = site.kv_len() as i64 - site.q_len() as i64 + query as i64;
        let whole = whole_row(weights, scores, recall.lse(0, head, query)?, position as f64 - visible.start as f64);
        let sink = site.sink_weight(head, recall.lse(0, head, query)?).unwrap_or(0.0);
        sums.rows += 1.0;
        sums.entropy += no_less_than_0(whole.entropy);
        sums.first += weight_of(0);
        sums.row_sum_error = larger(sums.row_sum_error, (whole.sum + sink - 1.0).abs());
        if site.kind != SiteKind::Cross {
            sums.own += weight_of(position);
            sums.distance += whole.distance;
            if position > 0 {
                sums.rows_from_second += 1.0;
                sums.previous += weight_of(position - 1);
            }
        }
    }
    Ok(sums)
}

/// What needs every weight of a row.
#[derive(Default)]
struct Whole {
    sum: f64,
    entropy: f64,
    distance: f64,
}

/// One pass over the visible cells of a row, in four independent sums. `position` is the query's own, counted from the
/// first of the keys given.
fn whole_row(weights: &[f64], scores: &[f64], lse: f64, position: f64) -> Whole {
    let mut lanes: [Whole; 4] = Default::default();
    let mut key = 0.0;
    for (weights, scores) in weights.chunks(4).zip(scores.chunks(4)) {
        for ((lane, weight), score) in lanes.iter_mut().zip(weights).zip(scores) {
            lane.sum += weight;
            // A weight that has rounded to 0 adds 0, however low its score.
            lane.entropy += if *weight != 0.0 { weight * (lse - score) } else { 0.0 };
            lane.distance += weight * (position - key).abs();
            key += 1.0;
        }
    }
    lanes.into_iter().fold(Whole::default(), |a, b| Whole {
        sum: a.sum + b.sum,
        entropy: a.entropy + b.entropy,
        distance: a.distance + b.distance,
    })
}

impl Sums {
    fn add(self, other: Self) -> Self {
        Self {
            rows: self.rows + other.rows,
            rows_from_second: self.rows_from_second + other.rows_from_second,
            entropy: self.entropy + other.entropy,
            first: self.first + other.first,
            own: self.own + other.own,
            previous: self.previous + other.previous,
            distance: self.distance + other.distance,
            row_sum_error: larger(self.row_sum_error, other.row_sum_error),
            difference: larger(self.difference, other.difference),
            largest: larger(self.largest, other.largest),
        }
    }
}

/// Rounding may leave an entropy a hair below 0, and a sum of nothing is -0; a NaN stays one.
pub(crate) fn no_less_than_0(x: f64) -> f64 {
    if x <= 0.0 { 0.0 } else { x }
}

/// The larger of two errors, where NaN is the largest: a proof must not pass over one.
fn larger(a: f64, b: f64) -> f64 {
    if a.is_nan() || a > b { a } else { b }
}
