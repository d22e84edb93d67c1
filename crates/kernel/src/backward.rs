//! The gradients, with every weight recomputed from lse: O(n) memory, like the forward pass.
//!
//! Dao 2023 (FlashAttention-2), algorithm 2. For each chunk of keys walk the blocks of queries that see it:
//!
//! ```text
//! P   = exp(S - lse)               S by the routine of the forward pass
//! dP  = dO V^T                     by the same routine
//! dS  = P * (dP - delta)           delta_i = out_i . d_out_i; times softcap's 1 - tanh^2
//! dQ += dS K                       the forward pass's product with the values
//! dV += P^T dO,  dK += dS^T Q      the other way round, over a block of queries
//! ```
//!
//! The keys' gradients belong to one chunk alone. A query's are summed over the chunks, always in their order
//! ([`ordered`]), so that no result depends on how many threads there are.

mod alone;
mod bias;
mod head;
mod ordered;

use std::ops::Range;

use fearless_simd::{Simd, SimdBase, dispatch};
use rayon::prelude::*;

use crate::error::{Error, argument};
use crate::forward::Shape;
use crate::params::{Block, Mask, Span};
use crate::simd::Lanes;
use crate::tile::accumulate::accumulate;
use crate::tile::adjust::{add, cap};
use crate::tile::gradient::{Known, gradient, slopes, steepen};
use crate::tile::hide::hide;
use crate::tile::pack::unpack;
use crate::tile::rows::Rows;
use crate::tile::scores::scores;
use crate::tile::spread::spread;
use crate::tile::strips::Strips;
use crate::tile::{BACK_KV, BACK_Q};
use crate::view::size;
use crate::{Element, Isa, Params, View};
use alone::finite;
use head::Heads;
use ordered::Ordered;

/// Keys of which one task sums the gradients: they and theirs stay in the second-level cache.
const CHUNK: usize = 256;

/// The gradients of a loss by what attention was computed from. All contiguous.
#[derive(Clone, Debug, PartialEq)]
pub struct Gradients<F = f32> {
    /// (batch, q_len, q_heads, head_dim). 0 where a row sees nothing.
    pub dq: Vec<F>,
    /// (batch, kv_len, kv_heads, head_dim), summed over the query heads that share a kv head.
    pub dk: Vec<F>,
    /// (batch, kv_len, kv_heads, v_head_dim), summed likewise.
    pub dv: Vec<F>,
    /// In the shape of the bias, summed over what shares it; `None` without a bias.
    pub d_bias: Option<Vec<F>>,
    /// (q_heads); `None` without sinks.
    pub d_sinks: Option<Vec<F>>,
}

/// The gradients of attention, on all cores, in O(n) memory beside them.
///
/// `q`, `k` and `v` are what [`crate::forward`] read, `out` (batch, q_len, q_heads, v_head_dim) and `lse` (batch, q_heads,
/// q_len) what it left, and `d_out` is the gradient of the loss by `out`. The weights are recomputed from lse, on the
/// instruction set of the forward pass as the very numbers it had. The result does not depend on the number of threads.
///
/// An `out` rounded to a half type makes the gradients as coarse as it is: keep the f32 one.
///
/// ```
/// use attnscope_kernel::{Isa, Params, View, backward, forward};
///
/// let x: Vec<f32> = (0..5 * 2 * 4).map(|i| (i as f32 * 0.37).sin()).collect();
/// let view = View::new(&x, [1, 5, 2, 4])?; // (batch, len, heads, head_dim)
/// let params = Params { causal: true, ..Params::for_head_dim(4) };
/// let done = forward(view, view, view, &params, Isa::detect())?;
///
/// // The loss is half the sum of the squared outputs: its gradient by the output is the output.
/// let out = View::new(&done.out, [1, 5, 2, 4])?;
/// let d = backward(view, view, view, out, &done.lse, out, &params, Isa::detect())?;
/// assert_eq!(d.dq.len(), x.len());
/// assert!(d.dq[..8].iter().all(|x| x.abs() < 1e-6)); // the first query sees one key: its weight is 1 whatever q is
/// # Ok::<(), attnscope_kernel::Error>(())
/// ```
///
/// # Errors
/// If the shapes do not fit each other or the parameters, or if there are knockouts.
#[expect(clippy::too_many_arguments, reason = "what the forward pass read, what it left, and what came back")]
pub fn backward<T: Element, O: Element, G: Element>(
    q: View<T>,
    k: View<T>,
    v: View<T>,
    out: View<O>,
    lse: &[f64],
    d_out: View<G>,
    params: &Params,
    isa: Isa,
) -> Result<Gradients, Error> {
    let shape = Shape::of(q, k)?;
    check(&shape, v, &[("out shape", out.shape()), ("d_out shape", d_out.shape())], params)?;
    let rows = shape.batch * shape.q_heads * shape.q_len;
    if lse.len() != rows {
        return argument("lse length", lse.len(), format!("{rows}, one a query row"));
    }
    let len = |name, [batch, len, heads, dim]: [usize; 4]| match size(&[batch, len, heads, dim]) {
        Some(len) => Ok(len),
        None => argument(name, dim, "small enough to index"),
    };
    let mut dq = vec![0.0; len("q head_dim", q.shape())?];
    let mut dk = vec![0.0; len("k head_dim", k.shape())?];
    let mut dv = vec![0.0; len("v head_dim", v.shape())?];

    let delta = deltas(&shape, out, d_out);
    let mask = Mask::new(params, shape.q_len, shape.kv_len);
    let operands = Operands { shape, q, k, v, d_out, lse, delta: &delta, params, mask, isa };
    let chunks = shape.kv_len.div_ceil(CHUNK);
    let heads = Heads::new(shape.batch * shape.kv_heads, chunks);
    let blocks = blocks(&operands, &mut dq);
    let tasks = tasks(&operands, &mut dk, &mut dv);
    work(tasks).into_iter().par_bridge().for_each_init(Room::default, |room, work| match work {
        Work::Copy(batch, head) => drop(heads.get(&operands, batch, head)),
        Work::Chunk(task) => dispatch!(isa.0, simd => chunk_of(simd, operands, &heads, &blocks, room, task)),
    });
    let d_sinks = params.sinks.as_ref().map(|sinks| d_sinks(&operands, sinks));
    let d_bias = params.bias.as_ref().map(|bias| bias::d_bias(operands, bias));
    Ok(Gradients { dq, dk, dv, d_bias, d_sinks })
}

/// That `v`, whatever has the output's shape, and the parameters fit.
pub(crate) fn check<T>(
    shape: &Shape,
    v: View<T>,
    outs: &[(&'static str, [usize; 4])],
    params: &Params,
) -> Result<(), Error> {
    shape.check_values(v)?;
    params.check(shape)?;
    if !params.knockouts.is_empty() {
        return argument(
            "knockouts",
            format!("a list of {}", params.knockouts.len()),
            "empty: gradients do not go through them",
        );
    }
    let want = [shape.batch, shape.q_len, shape.q_heads, v.dim()];
    match outs.iter().find(|(_, got)| *got != want) {
        Some((name, got)) => argument(name, format!("{got:?}"), format!("{want:?}, as the output is")),
        None => Ok(()),
    }
}

/// out . d_out of every row, (batch, q_heads, q_len).
fn deltas<O: Element, G: Element>(shape: &Shape, out: View<O>, d_out: View<G>) -> Vec<f64> {
    let rows = 0..shape.batch * shape.q_heads * shape.q_len;
    let row = |row: usize| (row / shape.q_len / shape.q_heads, row % shape.q_len, row / shape.q_len % shape.q_heads);
    rows.into_par_iter()
        .map_init(
            || [vec![0.0; out.dim()], vec![0.0; out.dim()]],
            |[o, d], at| {
                let (batch, query, head) = row(at);
                O::widen(out.row(batch, query, head), o);
                G::widen(d_out.row(batch, query, head), d);
                crate::reference::dot(o, d)
            },
        )
        .collect()
}

/// A sink is a score that mixes nothing: its gradient is -delta times its weight, summed over the rows of its head.
fn d_sinks<T, G>(operands: &Operands<T, G>, sinks: &[f32]) -> Vec<f32> {
    let rows = operands.shape.q_len;
    let of_head = |(head, sink): (usize, &f32)| {
        let batches = 0..operands.shape.batch;
        let rows = batches.flat_map(|batch| operands.row(batch, head, 0)..operands.row(batch, head, 0) + rows);
        let sum: f64 = rows.map(|row| (f64::from(*sink) - operands.lse[row]).exp() * operands.delta[row]).sum();
        -sum as f32
    };
    sinks.iter().enumerate().map(of_head).collect()
}

/// What every task reads.
struct Operands<'a, T, G> {
    shape: Shape,
    q: View<'a, T>,
    k: View<'a, T>,
    v: View<'a, T>,
    d_out: View<'a, G>,
    /// (batch, q_heads, q_len), like `delta`.
    lse: &'a [f64],
    delta: &'a [f64],
    params: &'a Params,
    mask: Mask<'a>,
    isa: Isa,
}

impl<T, G> Clone for Operands<'_, T, G> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T, G> Copy for Operands<'_, T, G> {}

impl<T, G> Operands<'_, T, G> {
    /// Where lse and delta of a row lie.
    fn row(&self, batch: usize, head: usize, query: usize) -> usize {
        (batch * self.shape.q_heads + head) * self.shape.q_len + query
    }

    /// How rows of queries and of d_out are cut for vectors of `len` numbers.
    fn strips(&self, len: usize) -> [Strips; 2] {
        [self.q.dim(), self.v.dim()].map(|dim| Strips::new(dim, len, across(len)))
    }
}

/// Vectors in a strip: four keys by so many, and what they are made of, fit the registers.
const fn across(len: usize) -> usize {
    if len == 16 { 4 } else { 2 }
}

/// Rows in a panel on this instruction set.
fn lanes(isa: Isa) -> usize {
    #[inline(always)]
    fn rows<S: Simd>(_: S) -> usize {
        2 * <S::f32s as SimdBase<S>>::LEN
    }
    dispatch!(isa.0, simd => rows(simd))
}

/// Cuts (batch, len, kv_heads * group, dim) into what each kv head's runs of `size` rows own, row after row as
/// [`Rows`] counts them: (batch, kv_heads, runs).
fn split<'a>(
    data: &'a mut [f32],
    [batch, len, kv_heads, group]: [usize; 4],
    dim: usize,
    size: usize,
) -> Vec<Vec<&'a mut [f32]>> {
    let runs = (len * group).div_ceil(size);
    let mut split: Vec<Vec<&'a mut [f32]>> = (0..batch * kv_heads * runs).map(|_| Vec::new()).collect();
    let mut rows = data.chunks_exact_mut(dim.max(1));
    for batch in 0..batch {
        for at in 0..len {
            for kv_head in 0..kv_heads {
                for row in at * group..(at + 1) * group {
                    split[(batch * kv_heads + kv_head) * runs + row / size].push(rows.next().unwrap_or_default());
                }
            }
        }
    }
    split
}

/// The gradients of one block of queries: a sum over the chunks that it sees, and the rows it goes to.
type Queries<'a> = Ordered<Vec<&'a mut [f32]>>;

/// All blocks, (batch, kv_heads, blocks).
fn blocks<'a, T, G>(operands: &Operands<T, G>, dq: &'a mut [f32]) -> Vec<Queries<'a>> {
    let Shape { batch, q_len, kv_heads, .. } = operands.shape;
    let group = operands.shape.group();
    let places = split(dq, [batch, q_len, kv_heads, group], operands.q.dim(), BACK_Q);
    let blocks = (group * q_len).div_ceil(BACK_Q);
    let seen = |at: usize| {
        let first = at % blocks * BACK_Q;
        let rows = first..(group * q_len).min(first + BACK_Q);
        let keys = operands.mask.reach(Rows { group, kv_head: 0 }.queries(rows));
        if keys.is_empty() { 0..0 } else { keys.start / CHUNK..keys.end.div_ceil(CHUNK) }
    };
    places.into_iter().enumerate().map(|(at, place)| Ordered::new(seen(at), place)).collect()
}

/// One chunk's share of the work, with the rows of the gradients it finds.
struct Task<'a> {
    batch: usize,
    kv_head: usize,
    chunk: usize,
    dk: Vec<&'a mut [f32]>,
    dv: Vec<&'a mut [f32]>,
}

fn tasks<'a, T, G>(operands: &Operands<T, G>, dk: &'a mut [f32], dv: &'a mut [f32]) -> Vec<Task<'a>> {
    let Shape { batch, kv_len, kv_heads, .. } = operands.shape;
    let chunks = kv_len.div_ceil(CHUNK);
    let keys = split(dk, [batch, kv_len, kv_heads, 1], operands.k.dim(), CHUNK);
    let values = split(dv, [batch, kv_len, kv_heads, 1], operands.v.dim(), CHUNK);
    let task = |(at, (dk, dv)): (usize, _)| {
        let head = at / chunks;
        Task { batch: head / kv_heads, kv_head: head % kv_heads, chunk: at % chunks, dk, dv }
    };
    keys.into_iter().zip(values).enumerate().map(task).collect()
}

/// One thing to do.
enum Work<'a> {
    /// Copy a head, (batch, kv_head).
    Copy(usize, usize),
    Chunk(Task<'a>),
}

/// In which order: head after head, each copied while the one before is at work; in each the first keys first, because
/// most causal queries see them, and because it is the order in which the queries' gradients are summed.
fn work(tasks: Vec<Task>) -> Vec<Work> {
    let mut heads: Vec<_> = tasks.iter().map(|task| (task.batch, task.kv_head)).collect();
    heads.dedup();
    let mut heads = heads.into_iter().map(|(batch, head)| Work::Copy(batch, head));
    let mut work: Vec<_> = heads.next().into_iter().collect();
    for task in tasks {
        if task.chunk == 0 {
            work.extend(heads.next());
        }
        work.push(Work::Chunk(task));
    }
    work
}

/// Picks the tiles that suit the registers, as the forward pass does.
#[inline(always)]
fn chunk_of<S: Simd, T: Element, G: Element>(
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
    let head_blocks = count.div_ceil(BACK_Q);
    // From the last queries on: so that, under a causal mask, every chunk begins with the block that all see, and threads
    // at neighbouring chunks follow each other through the sums.
    for (block, sum) in blocks[at * head_blocks..(at + 1) * head_blocks].iter().enumerate().rev() {
        if !sum.terms().contains(&chunk) {
            continue;
        }
        clear(dq, BACK_Q * dim);
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
                accumulate::<S, F, N, D>(simd, gradients, keys, [F::splat(simd, 1.0); N], dq);
            }
            let place = (first - keys.start, padded);
            let d_out = (head.d_out.strips(block, d_strips), d_strips);
            spread::<S, F, N, R>(simd, weights, &seen, d_out, place, dv_strips);
            let q = (head.q.strips(block, q_strips), q_strips);
            spread::<S, F, N, R>(simd, gradients, &seen, q, place, dk_strips);
        }
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

/// A panel of rows and a run of keys, as the forward pass knows them.
struct At<'a> {
    rows: Rows,
    range: Range<usize>,
    span: &'a Span,
    visibility: Block,
    keys: Range<usize>,
}

/// What one thread works in, task after task.
#[derive(Default)]
struct Room {
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

/// What a block leaves between its steps.
#[derive(Default)]
struct Scratch {
    bounds: Vec<f32>,
    /// By how much the scores of the last block grow with their products; empty without a softcap.
    slopes: Vec<f32>,
}

impl Scratch {
    fn fit(&mut self, lanes: usize, params: &Params) {
        self.bounds.resize(2 * lanes, 0.0);
        self.slopes.resize(if params.softcap.is_some() { BACK_KV * lanes } else { 0 }, 0.0);
    }
}

/// The weights of one block and the gradients of its scores, (keys x lanes), from panels and fours of (queries and keys,
/// d_out and values). Both have room for the last four whole.
#[inline(always)]
fn grade<S: Simd, F: Lanes<S>, const N: usize, const Q: usize>(
    simd: S,
    (params, mask): (&Params, &Mask),
    at: At,
    (panels, fours): ([&[f32]; 2], [&[[f32; 4]]; 2]),
    known: Known<F, N>,
    scratch: &mut Scratch,
    [weights, gradients]: [&mut [f32]; 2],
) {
    let lanes = N * F::LEN;
    let At { rows, range, span, visibility, keys } = at;
    scores::<S, F, N, Q>(simd, panels[0], fours[0], weights);
    scores::<S, F, N, Q>(simd, panels[1], fours[1], gradients);
    let weights = &mut weights[..keys.len() * lanes];
    if let Some(softcap) = params.softcap {
        cap::<S, F>(simd, softcap, weights);
        slopes::<S, F>(simd, softcap, weights, &mut scratch.slopes);
    }
    if params.biased() {
        add((params, mask), (span.batch, rows, range.clone()), keys.clone(), lanes, weights);
    }
    if visibility == Block::Partial {
        hide::<S, F, N>(simd, mask, (rows, range, span), keys, &mut scratch.bounds, weights);
        gradient::<S, F, N, true>(simd, known, weights, gradients);
    } else {
        gradient::<S, F, N, false>(simd, known, weights, gradients);
    }
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
    let (mut four, mut quads) = (vec![0.0; 4 * dim], vec![[0.0; 4]; dim]);
    let mut place = (first..).zip(place);
    for panel in panels.chunks_exact((lanes * dim).max(1)) {
        for first in (0..lanes).step_by(4) {
            unpack(simd, panel, lanes, first, [operands.params.scale; 4], &mut quads, &mut four);
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
