//! The tile loop. It reads like the paper (Dao 2023, FlashAttention-2, algorithm 1): for each panel of queries walk
//! the visible blocks of keys; scores, online softmax, accumulate; finish into out and lse.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use fearless_simd::{Simd, SimdBase, dispatch};
use rayon::prelude::*;

use crate::alone::{alone, widened};
use crate::decode::{FEW, Views, decode};
use crate::error::{Error, argument};
use crate::heads::Heads;
use crate::observe::{BlockMap, Observe, Observed, RowStats, Strip};
use crate::params::{Block, Mask, Span};
use crate::simd::Lanes;
use crate::tile::BLOCK_KV;
use crate::tile::accumulate::accumulate;
use crate::tile::adjust::adjust;
use crate::tile::hide::hide;
use crate::tile::pack::{factor, pack, touch, unpack};
use crate::tile::rows::Rows;
use crate::tile::scores::scores;
use crate::tile::softmax::Online;
use crate::tile::watch::Watch;
use crate::view::size;
use crate::{Element, Isa, Params, View};

/// What the operation leaves behind.
#[derive(Clone, Debug, PartialEq)]
pub struct Forward<O = f32> {
    /// (batch, q_len, q_heads, v_head_dim), contiguous. 0 where a row sees nothing.
    pub out: Vec<O>,
    /// (batch, q_heads, q_len): the natural log of the sum of exp(score) over what the row sees; -inf where that is
    /// nothing.
    pub lse: Vec<f64>,
}

/// Sizes of one operation, checked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) batch: usize,
    pub(crate) q_len: usize,
    pub(crate) kv_len: usize,
    pub(crate) q_heads: usize,
    pub(crate) kv_heads: usize,
    pub(crate) head_dim: usize,
}

impl Shape {
    pub(crate) fn of<T>(q: View<T>, k: View<T>) -> Result<Self, Error> {
        Self::of_shapes(q.shape(), k.shape())
    }

    /// Of (batch, len, heads, head_dim) of q and k.
    pub(crate) fn of_shapes(q: [usize; 4], k: [usize; 4]) -> Result<Self, Error> {
        let ([batch, q_len, q_heads, head_dim], [k_batch, kv_len, kv_heads, k_dim]) = (q, k);
        if k_batch != batch {
            return argument("k batch", k_batch, format!("{batch}, as in q"));
        }
        if k_dim != head_dim {
            return argument("k head_dim", k_dim, format!("{head_dim}, as in q"));
        }
        if q_heads > 0 && (kv_heads == 0 || !q_heads.is_multiple_of(kv_heads)) {
            return argument("kv_heads", kv_heads, format!("a divisor of q_heads, {q_heads}"));
        }
        Ok(Self { batch, q_len, kv_len, q_heads, kv_heads, head_dim })
    }

    /// That `v` fits the keys.
    pub(crate) fn check_values<T>(&self, v: View<T>) -> Result<(), Error> {
        for (name, got, want) in
            [("v batch", v.batch(), self.batch), ("v len", v.len(), self.kv_len), ("v heads", v.heads(), self.kv_heads)]
        {
            if got != want {
                return argument(name, got, format!("{want}, as in k"));
            }
        }
        Ok(())
    }

    /// Query heads that share a kv head.
    pub(crate) fn group(&self) -> usize {
        self.q_heads / self.kv_heads.max(1)
    }
}

/// Exact attention: out and the log-sum-exp of every row, on all cores, in O(n) memory.
///
/// `q` is (batch, q_len, q_heads, head_dim), `k` (batch, kv_len, kv_heads, head_dim), `v` (batch, kv_len, kv_heads,
/// v_head_dim), in any strides; q_heads is a multiple of kv_heads, and query head h reads kv head h / (q_heads /
/// kv_heads). The result does not depend on the number of threads.
///
/// # Errors
/// If the shapes do not fit each other or the parameters.
pub fn forward<T: Element>(q: View<T>, k: View<T>, v: View<T>, params: &Params, isa: Isa) -> Result<Forward, Error> {
    forward_to(q, k, v, params, isa)
}

/// [`forward`], with the output in another type than f32.
///
/// # Errors
/// As [`forward`].
pub fn forward_to<T: Element, O: Element>(
    q: View<T>,
    k: View<T>,
    v: View<T>,
    params: &Params,
    isa: Isa,
) -> Result<Forward<O>, Error> {
    Ok(forward_observed(q, k, v, params, isa, Observe::default())?.0)
}

/// [`forward_to`], leaving what `observe` asks for as well, at a few per cent of extra cost.
///
/// # Errors
/// As [`forward`].
pub fn forward_observed<T: Element, O: Element>(
    q: View<T>,
    k: View<T>,
    v: View<T>,
    params: &Params,
    isa: Isa,
    observe: Observe,
) -> Result<(Forward<O>, Observed), Error> {
    let shape = Shape::of(q, k)?;
    shape.check_values(v)?;
    params.check(&shape)?;
    let Some(out_len) = size(&[shape.batch, shape.q_len, shape.q_heads, v.dim()]) else {
        return argument("v head_dim", v.dim(), "small enough to index");
    };
    if shape.group() * shape.q_len <= FEW && observe == Observe::default() {
        return Ok((decode(q, &Views { k, v }, shape, params, isa), Observed::default()));
    }
    let mut out = vec![O::zero(); out_len];
    // Row after row of each kv head, as the panels take them.
    let rows = shape.batch * shape.q_heads * shape.q_len;
    let mut lse = vec![f64::NEG_INFINITY; rows];
    let mut stats = vec![RowStats::default(); if observe.rows { rows } else { 0 }];
    let lanes = panel_rows(isa);
    let heads = Heads::new(k, v, (shape.group() * shape.q_len).div_ceil(lanes), isa);
    let mask = Mask::new(params, shape.q_len, shape.kv_len);
    let side = observe.map.map(|most| BlockMap::side_for(&shape, most));
    let strips = Mutex::new(Vec::new());
    let operands = Operands { q, k, v, heads: &heads, params, mask, observe: (observe.rows, side), strips: &strips };
    let work = work(&operands, tasks(&shape, v.dim(), lanes, &mut out, &mut lse, &mut stats));
    work.into_iter().par_bridge().for_each(|work| match work {
        Work::Copy(batch, head) => drop(heads.get(batch, head)),
        Work::Panel(task) => dispatch!(isa.0, simd => panel_of(simd, operands, task)),
    });
    let map = side.map(|side| {
        let mut map = BlockMap::new(&shape, &mask, side);
        // In the order of the text, so that the last digits do not depend on which thread was first.
        let mut strips = strips.into_inner().unwrap_or_else(PoisonError::into_inner);
        strips.sort_by_key(|(at, _): &PanelStrips| *at);
        strips.iter().for_each(|(_, strips)| map.add(&shape, strips));
        map.finish()
    });
    let observed = Observed { rows: observe.rows.then(|| by_head(stats, &shape)), map };
    Ok((Forward { out, lse: by_head(lse, &shape) }, observed))
}

/// Puts rows that lie as the panels take them (query after query, the heads of a group side by side) one head after
/// another.
fn by_head<R: Copy>(rows: Vec<R>, shape: &Shape) -> Vec<R> {
    let group = shape.group();
    if group <= 1 {
        return rows;
    }
    let groups = rows.chunks_exact((group * shape.q_len).max(1));
    groups.flat_map(|rows| (0..group).flat_map(|head| rows[head..].iter().step_by(group))).copied().collect()
}

/// What [`forward`] holds beside its arguments and results, in bytes, on so many threads: for each a packed panel of
/// queries, a block of scores and the panel's output, and together copies of the kv heads that are in use (of all batches
/// there are `kv_heads`), one more than there are threads. O(n), whatever the number of queries.
pub fn working_bytes(
    threads: usize,
    (kv_heads, kv_len): (usize, usize),
    (head_dim, v_head_dim): (usize, usize),
    isa: Isa,
) -> usize {
    let panel = panel_rows(isa) * (head_dim + BLOCK_KV + v_head_dim);
    let copy = kv_len.next_multiple_of(4) * head_dim + kv_len * v_head_dim;
    (threads * panel + kv_heads.min(threads + 1) * copy) * size_of::<f32>()
}

/// Rows in a panel on this instruction set.
fn panel_rows(isa: Isa) -> usize {
    #[inline(always)]
    fn rows<S: Simd>(_: S) -> usize {
        let width = <S::f32s as SimdBase<S>>::LEN;
        width * 2
    }
    dispatch!(isa.0, simd => rows(simd))
}

/// One panel's share of the work, with the places for what it finds.
struct Task<'a, O> {
    batch: usize,
    rows: Rows,
    range: Range<usize>,
    out: Vec<&'a mut [O]>,
    lse: &'a mut [f64],
    /// Empty where no statistics are wanted.
    stats: &'a mut [RowStats],
}

/// Splits the results into the panels that fill them.
fn tasks<'a, O>(
    shape: &Shape,
    v_dim: usize,
    lanes: usize,
    out: &'a mut [O],
    lse: &'a mut [f64],
    stats: &'a mut [RowStats],
) -> Vec<Task<'a, O>> {
    let group = shape.group();
    let rows = group * shape.q_len;
    let panels = rows.div_ceil(lanes);
    let lse = lse.chunks_exact_mut(rows.max(1)).flat_map(|head| head.chunks_mut(lanes));
    let mut stats = stats.chunks_exact_mut(rows.max(1)).flat_map(|head| head.chunks_mut(lanes));
    let mut tasks: Vec<Task<O>> = (0..shape.batch * shape.kv_heads * panels)
        .zip(lse)
        .map(|(task, lse)| {
            let (head, first) = (task / panels, task % panels * lanes);
            let range = first..rows.min(first + lanes);
            let rows = Rows { group, kv_head: head % shape.kv_heads };
            let out = Vec::with_capacity(range.len());
            Task { batch: head / shape.kv_heads, rows, range, out, lse, stats: stats.next().unwrap_or_default() }
        })
        .collect();
    // Queries outermost, heads within, as `out` lies: each panel receives its rows in its own order.
    let mut out = out.chunks_exact_mut(v_dim.max(1));
    for batch in 0..shape.batch {
        for query in 0..shape.q_len {
            for kv_head in 0..shape.kv_heads {
                let first = (batch * shape.kv_heads + kv_head) * panels;
                for row in query * group..(query + 1) * group {
                    tasks[first + row / lanes].out.extend(out.next());
                }
            }
        }
    }
    tasks
}

/// One thing to do.
enum Work<'a, O> {
    /// Copy the keys and values of a head, (batch, kv_head).
    Copy(usize, usize),
    Panel(Task<'a, O>),
}

/// In which order: head after head, because its keys and values stay in the cache; in each the longest panels first,
/// so that no core is left alone with one at the end; and each head is copied while the one before is at work.
fn work<'a, T, O>(operands: &Operands<T>, mut tasks: Vec<Task<'a, O>>) -> Vec<Work<'a, O>> {
    let reach = |task: &Task<O>| operands.mask.reach(task.rows.queries(task.range.clone())).len();
    let head = |task: &Task<O>| (task.batch, task.rows.kv_head);
    tasks.sort_by_cached_key(|task| (head(task), std::cmp::Reverse(reach(task))));
    let mut heads: Vec<_> = tasks.iter().map(head).collect();
    heads.dedup();
    let mut heads = heads.into_iter().peekable();
    let mut work: Vec<_> = heads.next().map(|(batch, head)| Work::Copy(batch, head)).into_iter().collect();
    let mut last = None;
    for task in tasks {
        if last != Some(head(&task)) {
            last = Some(head(&task));
            work.extend(heads.next().map(|(batch, head)| Work::Copy(batch, head)));
        }
        work.push(Work::Panel(task));
    }
    work
}

/// What one panel saw of a map, by (batch, kv_head, first row).
type PanelStrips = ((usize, usize, usize), Vec<Strip>);

/// What every panel reads.
struct Operands<'a, T> {
    q: View<'a, T>,
    k: View<'a, T>,
    v: View<'a, T>,
    heads: &'a Heads<'a, T>,
    params: &'a Params,
    mask: Mask<'a>,
    /// Whether statistics of rows are wanted, and the side of a map's blocks.
    observe: (bool, Option<usize>),
    strips: &'a Mutex<Vec<PanelStrips>>,
}

impl<T> Clone for Operands<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Operands<'_, T> {}

/// Picks the panel that suits the registers: two vectors across and eight keys down where there are 32 wide ones, three
/// and four where there are 16.
#[inline(always)]
fn panel_of<S: Simd, T: Element, O: Element>(simd: S, operands: Operands<T>, task: Task<O>) {
    simd.vectorize(
        #[inline(always)]
        || match <S::f32s as SimdBase<S>>::LEN {
            16 => panel::<S, T, O, S::f32s, 2, 2, 8>(simd, operands, task),
            8 => panel::<S, T, O, S::f32s, 2, 1, 4>(simd, operands, task),
            _ => panel::<S, T, O, S::f32s, 2, 1, 4>(simd, operands, task),
        },
    );
}

#[inline(always)]
fn panel<S: Simd, T: Element, O: Element, F: Lanes<S>, const N: usize, const Q: usize, const D: usize>(
    simd: S,
    operands: Operands<T>,
    task: Task<O>,
) {
    let Operands { q, k, v, heads, params, mask, observe, .. } = operands;
    let Task { batch, rows, range, out, lse, stats } = task;
    let lanes = N * F::LEN;
    let (dim, v_dim) = (k.dim(), v.dim());
    let mut panel = vec![0.0; dim * lanes];
    let queries = range.clone().map(|row| {
        let (query, head) = rows.at(row);
        q.row(batch, query, head)
    });
    touch(queries.clone());
    pack(simd, queries, factor(params.scale), lanes, &mut panel);

    let mut online = Online::<F, N>::new(simd);
    let mut acc = vec![0.0; v_dim * lanes];
    let mut block_scores = vec![0.0; BLOCK_KV * lanes];
    let mut bounds = vec![0.0; 2 * lanes];
    let kv = heads.get(batch, rows.kv_head);
    let span = Span { batch, heads: rows.heads(), queries: rows.queries(range.clone()) };
    let reach = mask.reach(span.queries.clone());
    let watched = observe.0 || observe.1.is_some();
    let mut watch = watched.then(|| Watch::<F, N>::new(simd, &mask, (rows, range.clone()), reach.clone(), observe.1));
    // Keys lie in fours; a map's columns begin where blocks do.
    let align = if watched { BLOCK_KV } else { 4 };
    for first in (reach.start / align * align..reach.end).step_by(BLOCK_KV) {
        let block = first..reach.end.min(first + BLOCK_KV);
        let visibility = mask.block(&span, block.clone());
        if visibility == Block::Skip {
            continue;
        }
        let fours = &mut block_scores[..block.len().next_multiple_of(4) * lanes];
        scores::<S, F, N, Q>(simd, &panel, kv.keys(block.start, block.end), fours);
        let scored = &mut block_scores[..block.len() * lanes];
        if params.adjusts() {
            adjust::<S, F>(simd, (params, &mask), (batch, rows, range.clone()), block.clone(), lanes, scored);
        }
        if visibility == Block::Partial {
            hide::<S, F, N>(simd, &mask, (rows, range.clone(), &span), block.clone(), &mut bounds, scored);
        }
        let shrink = match &mut watch {
            Some(watch) => watch.block(simd, &mut online, block.start, scored),
            None => online.block(simd, scored),
        };
        accumulate::<S, F, N, D>(simd, scored, kv.values(block.start, block.end), shrink, &mut acc);
    }

    heads.done(batch, rows.kv_head, kv);

    let (row_max, row_sum) = (spread(online.row_max, lanes), spread(online.row_sum, lanes));
    let mut norms = vec![0.0; lanes];
    for (lane, lse) in lse.iter_mut().enumerate() {
        let sink = params.sinks.as_ref().map(|sinks| sinks[rows.at(range.start + lane).1]);
        (norms[lane], *lse) = finish(row_max[lane], row_sum[lane], sink);
    }
    if let Some(watch) = watch {
        watch.rows(simd, &online, lse, stats);
        let strips = watch.strips(simd, (batch, rows, range.clone()), lse);
        if !strips.is_empty() {
            let mut all = operands.strips.lock().unwrap_or_else(PoisonError::into_inner);
            all.push(((batch, rows.kv_head, range.start), strips));
        }
    }
    let (mut four, mut quads) = (vec![0.0; 4 * v_dim], vec![[0.0; 4]; v_dim]);
    let mut out = out.into_iter();
    for first in (0..range.len()).step_by(4) {
        let factors = std::array::from_fn(|lane| norms[first + lane]);
        unpack(simd, &acc, lanes, first, factors, &mut quads, &mut four);
        for (lane, row) in (first..).zip(four.chunks_exact_mut(v_dim.max(1))) {
            let Some(out) = out.next() else { break };
            if norms[lane] == 0.0 {
                row.fill(0.0);
            }
            if row.iter().any(|x| !x.is_finite()) {
                let (query, head) = rows.at(range.start + lane);
                let q_row = widened(q.row(batch, query, head));
                let (key, value) =
                    (|key| widened(k.row(batch, key, rows.kv_head)), |key| widened(v.row(batch, key, rows.kv_head)));
                alone((params, &mask), (batch, head, query), &q_row, key, value, row);
            }
            O::narrow(row, out);
        }
    }
}

/// The lanes of a few vectors.
#[inline(always)]
fn spread<S: Simd, F: Lanes<S>, const N: usize>(vectors: [F; N], lanes: usize) -> Vec<f32> {
    let mut all = Vec::with_capacity(lanes);
    for vector in vectors {
        all.extend_from_slice(vector.as_slice());
    }
    all
}

/// (what to multiply sums of exp2(score - row_max) by, lse) of one row; (0, -inf) for a row that saw nothing.
fn finish(row_max: f32, row_sum: f32, sink: Option<f32>) -> (f32, f64) {
    let natural = f64::from(row_max) * std::f64::consts::LN_2;
    let Some(sink) = sink else {
        if row_sum == 0.0 {
            return (0.0, f64::NEG_INFINITY);
        }
        return (1.0 / row_sum, natural + f64::from(row_sum).ln());
    };
    // A sink is one more score of the row, with nothing to mix.
    let sink = f64::from(sink);
    if row_sum == 0.0 {
        return (0.0, sink);
    }
    let max = natural.max(sink);
    let lse = max + (f64::from(row_sum) * (natural - max).exp() + (sink - max).exp()).ln();
    ((natural - lse).exp() as f32, lse)
}
