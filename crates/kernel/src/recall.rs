//! Any weight, on demand: exp(score - lse), with the score recomputed by the routine that the forward pass ran.

use std::ops::Range;

use fearless_simd::{Simd, dispatch};

use crate::error::{Error, argument, in_range};
use crate::exp::exp;
use crate::forward::{BLOCK_KV, Shape};
use crate::mask::{Hidden, Mask};
use crate::pack::{factor, lanes, pack};
use crate::scores::scores;
use crate::{Isa, Params, View};

/// One operation, remembered by its q, k and lse. Every question costs only the rows and columns it names.
#[derive(Clone, Copy, Debug)]
pub struct Recall<'a> {
    q: View<'a>,
    k: View<'a>,
    lse: &'a [f64],
    shape: Shape,
    mask: Mask,
    scale: f32,
    isa: Isa,
}

/// One cell of the attention matrix.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cell {
    /// scale * q . k, as it would be were nothing hidden.
    pub score: f64,
    /// Why the query does not see the key, where it does not.
    pub hidden: Option<Hidden>,
    /// The log-sum-exp of the row; -inf for a row that sees nothing.
    pub lse: f64,
    /// score - lse; -inf where the cell is hidden.
    pub log_weight: f64,
    /// exp(log_weight); exactly 0 where the cell is hidden.
    pub weight: f64,
}

/// A rectangle of the attention matrix, one row of keys after another.
#[derive(Clone, Debug, PartialEq)]
pub struct Tile {
    /// The queries it spans.
    pub queries: Range<usize>,
    /// The keys it spans.
    pub keys: Range<usize>,
    /// (queries x keys): the scores, as they would be were nothing hidden.
    pub scores: Vec<f64>,
    /// (queries x keys): the weights; exactly 0 where hidden.
    pub weights: Vec<f64>,
}

impl<'a> Recall<'a> {
    /// `q` (batch, q_len, q_heads, head_dim) and `k` (batch, kv_len, kv_heads, head_dim) as the forward pass read
    /// them, and the `lse` (batch, q_heads, q_len) that it left.
    ///
    /// # Errors
    /// If the shapes do not fit each other or a parameter is not finite.
    pub fn new(q: View<'a>, k: View<'a>, lse: &'a [f64], params: &Params, isa: Isa) -> Result<Self, Error> {
        params.check()?;
        let shape = Shape::of(q, k)?;
        let rows = shape.batch * shape.q_heads * shape.q_len;
        if lse.len() != rows {
            return argument("lse length", lse.len(), format!("{rows}, one a query row"));
        }
        let mask = Mask::new(params, shape.q_len, shape.kv_len);
        Ok(Self { q, k, lse, shape, mask, scale: params.scale, isa })
    }

    /// The mask of the operation.
    pub fn mask(&self) -> &Mask {
        &self.mask
    }

    /// The log-sum-exp of one row.
    ///
    /// # Errors
    /// If an index is out of range.
    pub fn lse(&self, batch: usize, head: usize, query: usize) -> Result<f64, Error> {
        in_range("batch", batch, self.shape.batch)?;
        in_range("head", head, self.shape.q_heads)?;
        in_range("query", query, self.shape.q_len)?;
        Ok(self.lse[(batch * self.shape.q_heads + head) * self.shape.q_len + query])
    }

    /// One cell, in O(head_dim).
    ///
    /// # Errors
    /// If an index is out of range.
    pub fn cell(&self, batch: usize, head: usize, query: usize, key: usize) -> Result<Cell, Error> {
        let lse = self.lse(batch, head, query)?;
        in_range("key", key, self.shape.kv_len)?;
        let score = self.tile(batch, head, query..query + 1, key..key + 1)?.scores[0];
        let hidden = self.mask.hidden(query, key);
        let log_weight = if hidden.is_some() { f64::NEG_INFINITY } else { score - lse };
        Ok(Cell { score, hidden, lse, log_weight, weight: exp(log_weight) })
    }

    /// A rectangle of one head, in O((queries + keys) * head_dim) memory beside the answer.
    ///
    /// # Errors
    /// If a range is empty, reversed or out of range.
    pub fn tile(&self, batch: usize, head: usize, queries: Range<usize>, keys: Range<usize>) -> Result<Tile, Error> {
        for (name, range, len) in [("queries", &queries, self.shape.q_len), ("keys", &keys, self.shape.kv_len)] {
            if range.start >= range.end || range.end > len {
                return argument(name, format!("{range:?}"), format!("a non-empty range within 0..{len}"));
            }
        }
        self.lse(batch, head, queries.start)?;
        let cells = queries.len() * keys.len();
        let mut tile = Tile { queries, keys, scores: vec![0.0; cells], weights: vec![0.0; cells] };
        dispatch!(self.isa.0, simd => self.fill(simd, batch, head, &mut tile));
        Ok(tile)
    }

    /// What a tile's weights make of the values, in f64: (queries x v_head_dim) sums of weight * v. A tile that spans
    /// every visible key of a row gives its output, by the query path instead of the fast one.
    ///
    /// # Errors
    /// If `v` is not (batch, kv_len, kv_heads, v_head_dim), or an index is out of range.
    pub fn mix(&self, batch: usize, head: usize, tile: &Tile, v: View) -> Result<Vec<f64>, Error> {
        let want = [self.shape.batch, self.shape.kv_len, self.shape.kv_heads, v.dim()];
        if v.shape() != want {
            return argument("v shape", format!("{:?}", v.shape()), format!("{want:?}"));
        }
        self.lse(batch, head, tile.queries.start)?;
        let kv_head = head / self.shape.group();
        let mut mixed = vec![0.0; tile.queries.len() * v.dim()];
        dispatch!(self.isa.0, simd => simd.vectorize(
            #[inline(always)]
            || {
                let rows = mixed.chunks_exact_mut(v.dim().max(1)).zip(tile.weights.chunks_exact(tile.keys.len()));
                for (mixed, weights) in rows {
                    for (group, weights) in weights.chunks(4).enumerate() {
                        let key = tile.keys.start + group * 4;
                        let values = std::array::from_fn(|i| v.row(batch, (key + i).min(tile.keys.end - 1), kv_head));
                        let weights = std::array::from_fn(|i| weights.get(i).copied().unwrap_or(0.0));
                        add_weighted(mixed, weights, values);
                    }
                }
            }
        ));
        Ok(mixed)
    }

    #[inline(always)]
    fn fill<S: Simd>(&self, simd: S, batch: usize, head: usize, tile: &mut Tile) {
        let lanes = lanes::<S>();
        let width = tile.keys.len();
        let kv_head = head / self.shape.group();
        let mut panel = vec![0.0; self.shape.head_dim * lanes];
        let mut block_scores = vec![0.0; BLOCK_KV.min(width) * lanes];
        for first in tile.queries.clone().step_by(lanes) {
            let queries = first..tile.queries.end.min(first + lanes);
            let rows = queries.clone().map(|query| self.q.row(batch, query, head));
            pack(rows, factor(self.scale), lanes, &mut panel);
            for start in tile.keys.clone().step_by(BLOCK_KV) {
                let block = start..tile.keys.end.min(start + BLOCK_KV);
                let keys: Vec<&[f32]> = block.clone().map(|key| self.k.row(batch, key, kv_head)).collect();
                let scored = &mut block_scores[..block.len() * lanes];
                scores(simd, &panel, &keys, scored);
                for lane in 0..queries.len() {
                    let at = (first + lane - tile.queries.start) * width + (start - tile.keys.start);
                    for (score, base2) in tile.scores[at..].iter_mut().zip(scored[lane..].iter().step_by(lanes)) {
                        *score = f64::from(*base2) * std::f64::consts::LN_2;
                    }
                }
            }
        }
        let rows = tile.scores.chunks_exact(width).zip(tile.weights.chunks_exact_mut(width));
        for (query, (scores, weights)) in tile.queries.clone().zip(rows) {
            let lse = self.lse[(batch * self.shape.q_heads + head) * self.shape.q_len + query];
            let visible = self.mask.visible(query);
            let seen =
                visible.start.clamp(tile.keys.start, tile.keys.end)..visible.end.clamp(tile.keys.start, tile.keys.end);
            let seen = seen.start - tile.keys.start..seen.end - tile.keys.start;
            for (weight, score) in weights[seen.clone()].iter_mut().zip(&scores[seen]) {
                *weight = exp(score - lse);
            }
        }
    }
}

/// Adds four weighted values to a sum. A weight of 0 takes its value out, even one that is not finite.
#[inline(always)]
fn add_weighted(sum: &mut [f64], weights: [f64; 4], values: [&[f32]; 4]) {
    if weights.contains(&0.0) {
        for (weight, value) in weights.iter().zip(values).filter(|(weight, _)| **weight != 0.0) {
            for (sum, v) in sum.iter_mut().zip(value) {
                *sum += weight * f64::from(*v);
            }
        }
        return;
    }
    let ([a, b, c, d], values) = (weights, values.map(|value| &value[..sum.len()]));
    for (t, sum) in sum.iter_mut().enumerate() {
        let [p, q, r, s] = values.map(|value| f64::from(value[t]));
        *sum += (a * p + b * q) + (c * r + d * s);
    }
}
