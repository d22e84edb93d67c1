//! Everything that one chunk of keys has to do with: walk the blocks of queries that see it.

use fearless_simd::{Simd, SimdBase};

use super::alone::{self, finite};
use super::grade::{At, Scratch, grade};
use super::head::Heads;
use super::operands::{Operands, across};
use super::plan::{CHUNK, Queries, Task};
use crate::Element;
use crate::params::{Block, Span};
use crate::simd::Lanes;
use crate::tile::accumulate::accumulate;
use crate::tile::gradient::{Known, steepen};
use crate::tile::pack::unpack;
use crate::tile::rows::Rows;
use crate::tile::spread::spread;
use crate::tile::{BACK_KV, BACK_Q};

/// Picks the tiles that suit the registers, as the forward pass does.
#[inline(always)]
pub(super) fn chunk_of<S: Simd, T: Element, G: Element>(
    simd: S,
    operands: Operands<T, G>,
    heads: &Heads,
    blocks: &[Queries],
    room: &mut Room,
    task: Task,
) {
    simd.vectorize(
        #[inline(always)]
        || match <S::f32s as SimdBase<S>>::LEN {
            16 => chunk::<S, T, G, S::f32s, 2, 2, 8, { across(16) }>(simd, operands, heads, blocks, room, task),
            _ => chunk::<S, T, G, S::f32s, 2, 1, 4, { across(8) }>(simd, operands, heads, blocks, room, task),
        },
    );
}

/// Everything that one chunk of keys has to do with.
#[inline(always)]
fn chunk<S, T, G, F, const N: usize, const Q: usize, const D: usize, const R: usize>(
    simd: S,
    operands: Operands<T, G>,
    heads: &Heads,
    blocks: &[Queries],
    room: &mut Room,
    task: Task,
) where
    S: Simd,
    T: Element,
    G: Element,
    F: Lanes<S>,
{
    let Operands { shape, k, v, params, mask, .. } = operands;
    let Task { batch, kv_head, chunk, dk, dv } = task;
    let at = batch * shape.kv_heads + kv_head;
    let head = heads.get(&operands, batch, kv_head);
    let lanes = N * F::LEN;
    let (dim, v_dim) = (k.dim(), v.dim());
    let [q_strips, d_strips] = operands.strips(F::LEN);
    let rows = Rows { group: shape.group(), kv_head };
    let count = shape.group() * shape.q_len;
    let keys = chunk * CHUNK..shape.kv_len.min((chunk + 1) * CHUNK);
    let padded = keys.len().next_multiple_of(BACK_KV);
    let Room { dk: dk_strips, dv: dv_strips, dq, weights, gradients, scratch } = room;
    let clear = |numbers: &mut Vec<f32>, len: usize| {
        numbers.clear();
        numbers.resize(len, 0.0);
    };
    clear(dk_strips, padded * q_strips.width());
    clear(dv_strips, padded * d_strips.width());
    for cells in [&mut *weights, &mut *gradients] {
        cells.resize(BACK_KV * BACK_Q, 0.0);
    }
    scratch.fit(lanes, params);
    let mut seen = vec![0..0; BACK_Q / lanes];
    let mut begun = vec![false; BACK_Q / lanes];
    let head_blocks = count.div_ceil(BACK_Q);
    // From the last queries on: so that, under a causal mask, every chunk begins with the block that all see, and threads
    // at neighbouring chunks follow each other through the sums.
    for (block, sum) in blocks[at * head_blocks..(at + 1) * head_blocks].iter().enumerate().rev() {
        if !sum.terms().contains(&chunk) {
            continue;
        }
        // What it holds is not read before it is written.
        dq.resize(BACK_Q * dim, 0.0);
        begun.fill(false);
        for first in keys.clone().step_by(BACK_KV) {
            let end = keys.end.min(first + BACK_KV);
            let cells = weights.chunks_exact_mut(BACK_KV * lanes).zip(gradients.chunks_exact_mut(BACK_KV * lanes));
            for (panel, (cells, seen)) in cells.zip(&mut seen).enumerate() {
                *seen = 0..0;
                let start = block * BACK_Q + panel * lanes;
                let range = start.min(count)..count.min(start + lanes);
                if range.is_empty() {
                    continue;
                }
                let span = Span { batch, heads: rows.heads(), queries: rows.queries(range.clone()) };
                let reach = mask.reach(span.queries.clone());
                // Keys lie in fours.
                let near = reach.start.max(first) / 4 * 4..reach.end.next_multiple_of(4).min(end);
                if near.is_empty() {
                    continue;
                }
                let visibility = mask.block(&span, near.clone());
                if visibility == Block::Skip {
                    continue;
                }
                *seen = near.start - first..near.end - first;
                let fours = seen.start * lanes..seen.end.next_multiple_of(4) * lanes;
                let cells = [&mut cells.0[fours.clone()], &mut cells.1[fours]];
                let whole = start..start + lanes;
                let panels = [head.q.panel(whole.clone(), dim), head.d_out.panel(whole.clone(), v_dim)];
                let tiles = (panels, head.fours(near.start, near.end));
                let (lse, delta) = head.known(whole);
                let known = Known::<F, N>::load(simd, lse, delta);
                let at = At { rows, range, span: &span, visibility, keys: near.clone() };
                let [weights, gradients] = cells;
                grade::<S, F, N, Q>(simd, (params, &mask), at, tiles, known, scratch, [weights, gradients]);
                let gradients = &mut gradients[..near.len() * lanes];
                if params.softcap.is_some() {
                    steepen::<S, F>(simd, &scratch.slopes, gradients);
                }
                let dq = &mut dq[panel * lanes * dim..(panel + 1) * lanes * dim];
                let keys = head.keys(near.start, near.end);
                let more = begun[panel].then_some([F::splat(simd, 1.0); N]);
                accumulate::<S, F, N, D>(simd, gradients, keys, more, dq, || ());
                begun[panel] = true;
            }
            let place = (first - keys.start, padded);
            let d_out = (head.d_out.strips(block, d_strips), d_strips);
            spread::<S, F, N, R>(simd, weights, &seen, d_out, place, dv_strips);
            let q = (head.q.strips(block, q_strips), q_strips);
            spread::<S, F, N, R>(simd, gradients, &seen, q, place, dk_strips);
        }
        let panels = dq.chunks_exact_mut((lanes * dim).max(1));
        panels.zip(&begun).filter(|(_, begun)| !**begun).for_each(|(panel, _)| panel.fill(0.0));
        if let Some((dq, place)) = sum.add(chunk, dq) {
            finish(simd, &operands, (batch, rows, block * BACK_Q), lanes, &dq, place);
        }
    }
    heads.done(at, head);

    let whole = finite(dk_strips) && finite(dv_strips);
    for ((at, dk), dv) in (0..).zip(dk).zip(dv) {
        q_strips.read(dk_strips, at, padded, params.scale, dk);
        d_strips.read(dv_strips, at, padded, 1.0, dv);
        if !whole {
            alone::key(&operands, (batch, kv_head, keys.start + at), dk, dv);
        }
    }
}

/// What one thread works in, task after task.
#[derive(Default)]
pub(super) struct Room {
    /// [`Strips`] of the chunk's keys and values.
    dk: Vec<f32>,
    dv: Vec<f32>,
    /// Panels (dim x lanes) of the block's queries.
    dq: Vec<f32>,
    /// (panels x keys x lanes).
    weights: Vec<f32>,
    gradients: Vec<f32>,
    scratch: Scratch,
}

/// Lays the whole gradients of a block of queries, panels of (dim x lanes), where they belong: (batch, rows, first row).
#[inline(always)]
fn finish<S: Simd, T: Element, G: Element>(
    simd: S,
    operands: &Operands<T, G>,
    (batch, rows, first): (usize, Rows, usize),
    lanes: usize,
    panels: &[f32],
    place: Vec<&mut [f32]>,
) {
    let dim = operands.q.dim();
    let mut four = vec![0.0; 4 * dim];
    let mut place = (first..).zip(place);
    for panel in panels.chunks_exact((lanes * dim).max(1)) {
        for first in (0..lanes).step_by(4) {
            unpack(simd, panel, lanes, first, [operands.params.scale; 4], &mut four);
            for (from, (row, dq)) in four.chunks_exact(dim).zip(&mut place) {
                dq.copy_from_slice(from);
                if !finite(from) {
                    let (query, head) = rows.at(row);
                    alone::query(operands, (batch, head, query), dq);
                }
            }
        }
    }
}
