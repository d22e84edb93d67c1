//! Attention of a few queries over many keys: one new token, or a block of speculative ones, and a cache.
//!
//! What costs time is reading keys and values, so they are read once and in the order in which they lie: block after
//! block of keys, and in each block all kv heads, whose states are kept side by side. The query heads that share a kv
//! head share each number that is read of it. The keys are split among the threads, and the partial states of the
//! splits joined in the order of their keys ([`crate::merge`]); where the splits lie depends on sizes alone. (Dao et al.
//! 2023, Flash-Decoding)

mod online;
mod products;
mod source;
mod values;
mod views;

pub(crate) use products::{TILE, products};
pub(crate) use source::{Source, touch_pages};
pub(crate) use values::accumulate;
pub(crate) use views::Views;

use std::ops::Range;

use fearless_simd::{Simd, dispatch, f32x4, f32x8, f32x16};

use crate::alone::{alone, widened};
use crate::forward::Shape;
use crate::merge::{add, total};
use crate::params::{Block, Mask, Span};
use crate::share::found;
use crate::simd::Lanes;
use crate::tile::adjust::adjust;
use crate::tile::hide::hide;
use crate::tile::pack::{factor, pack};
use crate::tile::rows::Rows;
use crate::{Element, Isa, Params, View};
use online::Online;

/// Query rows of a kv head that are few: as many as the widest vector has lanes.
pub(crate) const FEW: usize = 16;
/// Keys in a block at most.
pub(crate) const MAX_BLOCK: usize = 128;
/// Keys in a split at least: less is not worth a task.
const MIN_SPLIT: usize = 256;
/// Splits at most, each of which leaves a state behind.
const MAX_SPLITS: usize = 64;

/// [`crate::forward`] where the query rows of each kv head are few: [`FEW`] at a time, into `out`, (batch, q_len,
/// q_heads, v_head_dim); gives lse. Everything is checked.
pub(crate) fn decode<Q: Element, O: Element, C: Source>(
    q: View<Q>,
    source: &C,
    shape: Shape,
    params: &Params,
    isa: Isa,
    out: &mut [O],
) -> Vec<f64> {
    let Shape { batch, q_len, q_heads, .. } = shape;
    let (rows, v_dim) = (shape.group() * q_len, source.dims().1);
    let mut all_lse = vec![f64::NEG_INFINITY; batch * q_heads * q_len];
    for first in (0..rows).step_by(FEW) {
        let range = first..rows.min(first + FEW);
        let step = Step { source, shape, params, mask: Mask::new(params, q_len, shape.kv_len), range };
        let panels = dispatch!(isa.0, simd => step.panels(simd, q));
        let q_row = |batch, query, head| widened(q.row(batch, query, head));
        for ((batch, query, head), lse, row) in step.run(isa, &panels, &q_row) {
            all_lse[(batch * q_heads + head) * q_len + query] = lse;
            let at = (batch * q_len + query) * q_heads + head;
            O::narrow(&row, &mut out[at * v_dim..(at + 1) * v_dim]);
        }
    }
    all_lse
}

/// Where a run of keys is cut, at multiples of `block`.
fn splits(reach: Range<usize>, block: usize) -> Vec<Range<usize>> {
    if reach.is_empty() {
        return Vec::new();
    }
    let blocks = reach.len().div_ceil(block);
    let step = blocks.div_ceil(MAX_SPLITS).max(MIN_SPLIT.div_ceil(block)) * block;
    let first = reach.start / block * block;
    (first..reach.end).step_by(step).map(|start| start.max(reach.start)..reach.end.min(start + step)).collect()
}

/// One walk over the keys, by a few rows of every kv head.
struct Step<'a, C> {
    source: &'a C,
    shape: Shape,
    params: &'a Params,
    mask: Mask<'a>,
    /// Which rows of each kv head: not none, and at most [`FEW`].
    range: Range<usize>,
}

/// What a split leaves behind, kv head after kv head, in each row after row.
struct State {
    /// (kv_heads x rows x v_head_dim).
    out: Vec<f32>,
    /// (kv_heads x rows).
    lse: Vec<f64>,
}

/// ((batch, query, q_head), lse, out).
type Row = ((usize, usize, usize), f64, Vec<f32>);

/// The query at (batch, query, q_head).
type QueryRow<'a> = dyn Fn(usize, usize, usize) -> Vec<f32> + Sync + 'a;

impl<C: Source> Step<'_, C> {
    fn rows(&self, kv_head: usize) -> Rows {
        Rows { group: self.shape.group(), kv_head }
    }

    /// Lanes of the vectors whose lanes are rows.
    fn lanes(&self) -> usize {
        self.range.len().next_power_of_two().max(4)
    }

    fn run(&self, isa: Isa, panels: &[f32], q_row: &QueryRow) -> Vec<Row> {
        let Shape { batch, kv_heads, .. } = self.shape;
        let reach = self.mask.reach(self.rows(0).queries(self.range.clone()));
        let splits = splits(reach, self.source.block());
        let tasks: Vec<_> = (0..batch).flat_map(|batch| splits.iter().map(move |keys| (batch, keys.clone()))).collect();
        let split = |at: usize| {
            let (batch, keys) = tasks[at].clone();
            dispatch!(isa.0, simd => self.split(simd, panels, batch, keys))
        };
        let states = found(tasks.len(), 1, || (), |(), at| split(at));
        let rows = batch * kv_heads * self.range.len();
        found(rows, 8, || (), |(), at| self.join(&states, splits.len(), at, q_row))
    }

    /// The queries of every kv head, (batch, kv_heads, head_dim, lanes).
    #[inline(always)]
    fn panels<S: Simd, Q: Element>(&self, simd: S, q: View<Q>) -> Vec<f32> {
        let Shape { batch, kv_heads, head_dim, .. } = self.shape;
        let lanes = self.lanes();
        let mut panels = vec![0.0; batch * kv_heads * head_dim * lanes];
        simd.vectorize(
            #[inline(always)]
            || {
                for (at, panel) in panels.chunks_exact_mut((head_dim * lanes).max(1)).enumerate() {
                    let rows = self.rows(at % kv_heads);
                    let queries = self.range.clone().map(|row| {
                        let (query, head) = rows.at(row);
                        q.row(at / kv_heads, query, head)
                    });
                    pack(simd, queries, factor(self.params.scale), lanes, panel);
                }
            },
        );
        panels
    }

    /// The `at`-th row of all batches and kv heads, from the states of `splits` splits a batch.
    fn join(&self, states: &[State], splits: usize, at: usize, q_row: &QueryRow) -> Row {
        let (rows, v_dim) = (self.range.len(), self.source.dims().1);
        let (batch, kv_head) = (at / rows / self.shape.kv_heads, at / rows % self.shape.kv_heads);
        let (query, head) = self.rows(kv_head).at(self.range.start + at % rows);
        let states = &states[batch * splits..(batch + 1) * splits];
        let row = kv_head * rows + at % rows;
        let sink = self.params.sinks.as_ref().map(|sinks| f64::from(sinks[head]));
        let lse = total(states.iter().map(|state| state.lse[row]).chain(sink));
        let mut mixed = vec![0.0; v_dim];
        for state in states {
            add(&mut mixed, &state.out[row * v_dim..(row + 1) * v_dim], state.lse[row], lse);
        }
        let mut out: Vec<f32> = mixed.iter().map(|x| *x as f32).collect();
        if out.iter().any(|x| !x.is_finite()) {
            let q_row = q_row(batch, query, head);
            let key = |key| self.source.key(batch, key, kv_head);
            let value = |key| self.source.value(batch, key, kv_head);
            alone((self.params, &self.mask), (batch, head, query), &q_row, key, value, &mut out);
        }
        ((batch, query, head), lse, out)
    }

    #[inline(always)]
    fn split<S: Simd>(&self, simd: S, panels: &[f32], batch: usize, keys: Range<usize>) -> State {
        simd.vectorize(
            #[inline(always)]
            || match self.lanes() {
                4 => self.split_in::<S, f32x4<S>>(simd, panels, batch, keys),
                8 => self.split_in::<S, f32x8<S>>(simd, panels, batch, keys),
                _ => self.split_in::<S, f32x16<S>>(simd, panels, batch, keys),
            },
        )
    }

    #[inline(always)]
    fn split_in<S: Simd, F: Lanes<S>>(&self, simd: S, panels: &[f32], batch: usize, keys: Range<usize>) -> State {
        let (lanes, kv_heads) = (F::LEN, self.shape.kv_heads);
        let (dim, v_dim) = self.source.dims();
        let (range, rows) = (self.range.clone(), self.range.len());
        let mut acc = vec![0.0; kv_heads * rows * v_dim];
        let mut online = vec![Online::new(); kv_heads];
        let of_head = self.source.block() * lanes;
        let mut scores = vec![0.0; kv_heads * of_head];
        let mut bounds = vec![0.0; 2 * lanes];
        let mut room = Vec::new();
        let mut visible = vec![Block::Skip; kv_heads];
        let mut shrinks = vec![[1.0; FEW]; kv_heads];
        let span = |at: Rows| Span { batch, heads: at.heads(), queries: at.queries(range.clone()) };

        // Blocks begin at multiples of 16. Keys before the split's first come with the first that any query sees: hidden.
        let mut first = keys.start / 16 * 16;
        while first < keys.end {
            let block = first..keys.end.min((first / self.source.block() + 1) * self.source.block());
            for head in 0..kv_heads {
                visible[head] = self.mask.block(&span(self.rows(head)), block.clone());
            }
            // Every head's part of a few keys, then of the next few: so they lie.
            for start in block.clone().step_by(self.source.part()) {
                let part = start..block.end.min(start + self.source.part());
                for head in 0..kv_heads {
                    if visible[head] == Block::Skip {
                        continue;
                    }
                    let panel = &panels[(batch * kv_heads + head) * dim * lanes..][..dim * lanes];
                    let first_of_part = head * of_head + (start - block.start) * lanes;
                    let out = &mut scores[first_of_part..first_of_part + part.len() * lanes];
                    self.source.products::<S, F>(simd, (panel, rows), (batch, head), part.clone(), &mut room, out);
                }
            }
            let padded = block.len().next_multiple_of(4) * lanes;
            for head in 0..kv_heads {
                if visible[head] == Block::Skip {
                    continue;
                }
                let scores = &mut scores[head * of_head..head * of_head + padded];
                let (scored, rest) = scores.split_at_mut(block.len() * lanes);
                let at = self.rows(head);
                if self.params.adjusts() {
                    let all = (batch, at, range.clone());
                    adjust::<S, F>(simd, (self.params, &self.mask), all, block.clone(), lanes, scored);
                }
                if visible[head] == Block::Partial {
                    let all = (at, range.clone(), &span(at));
                    hide::<S, F, 1>(simd, &self.mask, all, block.clone(), &mut bounds, scored);
                }
                rest.fill(f32::NEG_INFINITY);
                shrinks[head] = online[head].block(simd, lanes, scores);
            }
            for start in block.clone().step_by(self.source.part()) {
                let part = start..block.end.min(start + self.source.part());
                for head in 0..kv_heads {
                    if visible[head] == Block::Skip {
                        continue;
                    }
                    let first_of_part = head * of_head + (start - block.start) * lanes;
                    let probs = (&scores[first_of_part..first_of_part + part.len() * lanes], lanes);
                    let acc = &mut acc[head * rows * v_dim..(head + 1) * rows * v_dim];
                    self.source.mix(simd, (batch, head), part.clone(), probs, &shrinks[head][..rows], acc);
                    shrinks[head] = [1.0; FEW];
                }
            }
            first = block.end;
        }

        let mut lse = Vec::with_capacity(kv_heads * rows);
        for online in &online {
            for (max, sum) in online.row_max.iter().zip(online.row_sum).take(rows) {
                let seen = f64::from(*max) * std::f64::consts::LN_2 + f64::from(sum).ln();
                lse.push(if sum == 0.0 { f64::NEG_INFINITY } else { seen });
            }
        }
        for (row, out) in acc.chunks_exact_mut(v_dim.max(1)).enumerate() {
            let norm = 1.0 / online[row / rows].row_sum[row % rows];
            out.iter_mut().for_each(|x| *x *= norm);
        }
        State { out: acc, lse }
    }
}

#[cfg(test)]
mod tests {
    use super::splits;

    #[test]
    fn splits_cover_the_reach_and_depend_on_sizes_alone() {
        for (reach, block) in [(0..1, 16), (0..65536, 16), (5..300, 64), (1000..9000, 128), (130..131, 128), (7..7, 16)]
        {
            let splits = splits(reach.clone(), block);
            assert!(splits.len() <= super::MAX_SPLITS + 1);
            let mut end = reach.start;
            for split in &splits {
                assert!(split.start == end && split.end > split.start);
                assert!(split.start == reach.start || split.start % block == 0);
                end = split.end;
            }
            assert!(splits.is_empty() || end == reach.end);
        }
    }
}
