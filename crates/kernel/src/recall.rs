//! Any weight, on demand: exp(score - lse), with the score recomputed by the routine that the forward pass ran.

mod pooled;

pub use pooled::{Pooled, Rectangle};

use std::ops::Range;

use fearless_simd::{Simd, dispatch, f32x4};

use crate::error::{Error, argument, in_range};
use crate::forward::Shape;
use crate::params::{Hidden, Mask};
use crate::simd::{Lanes, exp::exp};
use crate::tile::BLOCK_KV;
use crate::tile::adjust::{adjust, cap};
use crate::tile::pack::{factor, pack, pack_keys};
use crate::tile::rows::Rows;
use crate::tile::scores::scores;
use crate::{Element, Isa, Params, View};

/// One operation, remembered by its q, k and lse. Every question costs only the rows and columns it names.
#[derive(Debug)]
pub struct Recall<'a, T = f32> {
    q: View<'a, T>,
    k: View<'a, T>,
    lse: &'a [f64],
    shape: Shape,
    mask: Mask<'a>,
    params: &'a Params,
    isa: Isa,
}

impl<T> Clone for Recall<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Recall<'_, T> {}

/// One cell of the attention matrix.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cell {
    /// The score, as it would be were nothing hidden.
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

/// How one score came about. Each number is the one that the tile loop had in hand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Steps {
    /// scale * q . k.
    pub scaled: f64,
    /// softcap * tanh(scaled / softcap); `None` without a softcap.
    pub capped: Option<f64>,
    /// What ALiBi added; `None` where there is no ALiBi.
    pub alibi: Option<f32>,
    /// What the relative-position table added.
    pub relative: Option<f32>,
    /// What the bias added.
    pub bias: Option<f32>,
    /// The sum: the score.
    pub score: f64,
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

impl<'a, T: Element> Recall<'a, T> {
    /// `q` (batch, q_len, q_heads, head_dim) and `k` (batch, kv_len, kv_heads, head_dim) as the forward pass read
    /// them, and the `lse` (batch, q_heads, q_len) that it left.
    ///
    /// # Errors
    /// If the shapes do not fit each other or the parameters.
    pub fn new(q: View<'a, T>, k: View<'a, T>, lse: &'a [f64], params: &'a Params, isa: Isa) -> Result<Self, Error> {
        let shape = Shape::of(q, k)?;
        params.check(&shape)?;
        let rows = shape.batch * shape.q_heads * shape.q_len;
        if lse.len() != rows {
            return argument("lse length", lse.len(), format!("{rows}, one a query row"));
        }
        let mask = Mask::new(params, shape.q_len, shape.kv_len);
        Ok(Self { q, k, lse, shape, mask, params, isa })
    }

    /// The mask of the operation.
    pub fn mask(&self) -> Mask<'a> {
        self.mask
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
        let hidden = self.mask.hidden(batch, head, query, key);
        let log_weight = if hidden.is_some() { f64::NEG_INFINITY } else { score - lse };
        Ok(Cell { score, hidden, lse, log_weight, weight: exp(log_weight) })
    }

    /// How the score of one cell came about.
    ///
    /// # Errors
    /// If an index is out of range.
    pub fn steps(&self, batch: usize, head: usize, query: usize, key: usize) -> Result<Steps, Error> {
        let score = self.cell(batch, head, query, key)?.score;
        let natural = |base2: f32| f64::from(base2) * std::f64::consts::LN_2;
        let rows = Rows { group: 1, kv_head: head };
        let (scaled, capped) = dispatch!(self.isa.0, simd => simd.vectorize(
            #[inline(always)]
            || {
                let mut products = [0.0; 16];
                self.products::<_, f32x4<_>, 1, 1>(simd, batch, rows, query..query + 1, key..key + 1, &mut products);
                let scaled = products[0];
                if let Some(softcap) = self.params.softcap {
                    cap::<_, f32x4<_>>(simd, softcap, &mut products);
                }
                (natural(scaled), natural(products[0]))
            }
        ));
        let ahead = key as i64 - self.mask.position(query);
        Ok(Steps {
            scaled,
            capped: self.params.softcap.map(|_| capped),
            alibi: self.params.alibi_slopes.as_ref().map(|_| self.params.alibi(head, ahead)),
            relative: self.params.relative_bias.as_ref().map(|_| self.params.relative(head, ahead)),
            bias: self.params.bias.as_ref().map(|bias| bias.row(batch, head, query)[key]),
            score,
        })
    }

    /// A rectangle of one head, in O((queries + keys) * head_dim) memory beside the answer. A row is `i..i + 1` by
    /// `0..kv_len`, a column `0..q_len` by `j..j + 1`; what is larger than a picture, [`Recall::pooled`] makes small.
    ///
    /// # Errors
    /// If a range is empty, reversed or out of range.
    pub fn tile(&self, batch: usize, head: usize, queries: Range<usize>, keys: Range<usize>) -> Result<Tile, Error> {
        self.check_ranges(&queries, &keys)?;
        self.lse(batch, head, queries.start)?;
        let cells = queries.len() * keys.len();
        let mut tile = Tile { queries, keys, scores: vec![0.0; cells], weights: vec![0.0; cells] };
        dispatch!(self.isa.0, simd => self.fill(simd, batch, head, &mut tile));
        Ok(tile)
    }

    fn check_ranges(&self, queries: &Range<usize>, keys: &Range<usize>) -> Result<(), Error> {
        for (name, range, len) in [("queries", queries, self.shape.q_len), ("keys", keys, self.shape.kv_len)] {
            if range.start >= range.end || range.end > len {
                return argument(name, format!("{range:?}"), format!("a non-empty range within 0..{len}"));
            }
        }
        Ok(())
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

    /// The base-2 scaled products of a few queries of one head (at most a panel) and a run of keys: (keys x lanes), the
    /// keys filled up to a multiple of four.
    #[inline(always)]
    fn products<S: Simd, F: Lanes<S>, const N: usize, const Q: usize>(
        &self,
        simd: S,
        batch: usize,
        head: Rows,
        queries: Range<usize>,
        keys: Range<usize>,
        out: &mut [f32],
    ) {
        let lanes = N * F::LEN;
        let dim = self.shape.head_dim;
        let mut panel = vec![0.0; dim * lanes];
        let rows = queries.map(|query| self.q.row(batch, query, head.kv_head));
        pack(simd, rows, factor(self.params.scale), lanes, &mut panel);
        let kv_head = head.kv_head / self.shape.group();
        let mut fours = vec![[0.0; 4]; keys.len().div_ceil(4) * dim];
        pack_keys(simd, keys.map(|key| self.k.row(batch, key, kv_head)), dim, &mut fours);
        scores::<S, F, N, Q>(simd, &panel, &fours, out, || ());
    }

    #[inline(always)]
    fn fill<S: Simd>(&self, simd: S, batch: usize, head: usize, tile: &mut Tile) {
        simd.vectorize(
            #[inline(always)]
            || match tile.queries.len() {
                0..5 => self.fill_with::<S, f32x4<S>, 1, 2>(simd, batch, head, tile),
                _ => self.fill_with::<S, S::f32s, 2, 1>(simd, batch, head, tile),
            },
        );
    }

    #[inline(always)]
    fn fill_with<S: Simd, F: Lanes<S>, const N: usize, const Q: usize>(
        &self,
        simd: S,
        batch: usize,
        head: usize,
        tile: &mut Tile,
    ) {
        let lanes = N * F::LEN;
        let width = tile.keys.len();
        // One head: its rows are its queries.
        let rows = Rows { group: 1, kv_head: head };
        let mut block_scores = vec![0.0; BLOCK_KV.min(width.next_multiple_of(4)) * lanes];
        for first in tile.queries.clone().step_by(lanes) {
            let queries = first..tile.queries.end.min(first + lanes);
            for start in tile.keys.clone().step_by(BLOCK_KV) {
                let block = start..tile.keys.end.min(start + BLOCK_KV);
                self.products::<S, F, N, Q>(simd, batch, rows, queries.clone(), block.clone(), &mut block_scores);
                let scored = &mut block_scores[..block.len() * lanes];
                if self.params.adjusts() {
                    let at = (batch, rows, queries.clone());
                    adjust::<S, F>(simd, (self.params, &self.mask), at, block.clone(), lanes, scored);
                }
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
            let span = self.mask.span(query);
            let within = |key: usize| key.clamp(tile.keys.start, tile.keys.end) - tile.keys.start;
            let seen = within(span.start)..within(span.end);
            for (weight, score) in weights[seen.clone()].iter_mut().zip(&scores[seen.clone()]) {
                *weight = exp(score - lse);
            }
            if self.mask.has_holes() {
                for at in seen {
                    if self.mask.holed(batch, head, query, tile.keys.start + at) {
                        weights[at] = 0.0;
                    }
                }
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
