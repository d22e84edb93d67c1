//! The tile loop. It reads like the paper (Dao 2023, FlashAttention-2, algorithm 1): for each panel of queries walk
//! the visible blocks of keys; scores, online softmax, accumulate; finish into out and lse.

use std::ops::Range;

use fearless_simd::{Simd, dispatch};
use rayon::prelude::*;

use crate::accumulate::accumulate;
use crate::error::{Error, argument};
use crate::mask::{Block, Mask};
use crate::pack::{factor, lanes, pack};
use crate::rows::Rows;
use crate::scores::scores;
use crate::softmax::Online;
use crate::view::size;
use crate::{Isa, Params, View};

/// Keys in a block: its scores stay in the first-level cache.
pub(crate) const BLOCK_KV: usize = 64;

/// What the operation leaves behind.
#[derive(Clone, Debug, PartialEq)]
pub struct Forward {
    /// (batch, q_len, q_heads, v_head_dim), contiguous. 0 where a row sees nothing.
    pub out: Vec<f32>,
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
    pub(crate) fn of(q: View, k: View) -> Result<Self, Error> {
        if k.batch() != q.batch() {
            return argument("k batch", k.batch(), format!("{}, as in q", q.batch()));
        }
        if k.dim() != q.dim() {
            return argument("k head_dim", k.dim(), format!("{}, as in q", q.dim()));
        }
        if q.heads() > 0 && (k.heads() == 0 || !q.heads().is_multiple_of(k.heads())) {
            return argument("kv_heads", k.heads(), format!("a divisor of q_heads, {}", q.heads()));
        }
        Ok(Self {
            batch: q.batch(),
            q_len: q.len(),
            kv_len: k.len(),
            q_heads: q.heads(),
            kv_heads: k.heads(),
            head_dim: q.dim(),
        })
    }

    /// That `v` fits the keys.
    pub(crate) fn check_values(&self, v: View) -> Result<(), Error> {
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
/// If the shapes do not fit each other or a parameter is not finite.
pub fn forward(q: View, k: View, v: View, params: &Params, isa: Isa) -> Result<Forward, Error> {
    params.check()?;
    let shape = Shape::of(q, k)?;
    shape.check_values(v)?;
    let Some(out_len) = size(&[shape.batch, shape.q_len, shape.q_heads, v.dim()]) else {
        return argument("v head_dim", v.dim(), "small enough to index");
    };
    let mut out = vec![0.0; out_len];
    let mut lse = vec![f64::NEG_INFINITY; shape.batch * shape.q_heads * shape.q_len];
    let mut tasks = tasks(&shape, v.dim(), panel_rows(isa), &mut out, &mut lse);
    // The longest first, so that no core is left alone with one at the end.
    let mask = Mask::new(params, shape.q_len, shape.kv_len);
    tasks.sort_by_key(|task| std::cmp::Reverse(mask.reach(task.rows.queries(task.range.clone())).len()));
    tasks.into_par_iter().for_each(|task| {
        dispatch!(isa.0, simd => panel(simd, Operands { q, k, v, mask, factor: factor(params.scale) }, task));
    });
    Ok(Forward { out, lse })
}

/// What one thread of [`forward`] holds beside its arguments and results, in bytes: a packed panel of queries, a block of
/// scores, the panel's output. It does not grow with the length of the text.
pub fn working_bytes(head_dim: usize, v_head_dim: usize, isa: Isa) -> usize {
    panel_rows(isa) * (head_dim + BLOCK_KV + v_head_dim) * size_of::<f32>()
}

/// Rows in a panel on this instruction set.
pub(crate) fn panel_rows(isa: Isa) -> usize {
    dispatch!(isa.0, simd => lanes_of(simd))
}

#[inline(always)]
fn lanes_of<S: Simd>(_: S) -> usize {
    lanes::<S>()
}

/// One panel's share of the work, with the places for what it finds.
struct Task<'a> {
    batch: usize,
    rows: Rows,
    range: Range<usize>,
    places: Vec<Place<'a>>,
}

/// Where one row's results go.
struct Place<'a> {
    out: &'a mut [f32],
    lse: &'a mut f64,
}

/// Splits the results into the panels that fill them.
fn tasks<'a>(shape: &Shape, v_dim: usize, lanes: usize, out: &'a mut [f32], lse: &'a mut [f64]) -> Vec<Task<'a>> {
    let group = shape.group();
    let rows = group * shape.q_len;
    let panels = rows.div_ceil(lanes);
    let mut tasks: Vec<Task> = (0..shape.batch * shape.kv_heads * panels)
        .map(|task| {
            let (head, first) = (task / panels, task % panels * lanes);
            let range = first..rows.min(first + lanes);
            let rows = Rows { group, kv_head: head % shape.kv_heads };
            Task { batch: head / shape.kv_heads, rows, places: Vec::with_capacity(range.len()), range }
        })
        .collect();
    // Queries outermost, heads within, as `out` lies: each panel receives its rows in its own order.
    let mut lse: Vec<Option<&mut f64>> = lse.iter_mut().map(Some).collect();
    let mut out = out.chunks_exact_mut(v_dim.max(1));
    for batch in 0..shape.batch {
        for query in 0..shape.q_len {
            for head in 0..shape.q_heads {
                let panel = (query * group + head % group) / lanes;
                let task = (batch * shape.kv_heads + head / group) * panels + panel;
                let lse = lse[(batch * shape.q_heads + head) * shape.q_len + query].take();
                let out = if v_dim == 0 { Some(Default::default()) } else { out.next() };
                tasks[task].places.extend(out.zip(lse).map(|(out, lse)| Place { out, lse }));
            }
        }
    }
    tasks
}

/// What every panel reads.
#[derive(Clone, Copy)]
struct Operands<'a> {
    q: View<'a>,
    k: View<'a>,
    v: View<'a>,
    mask: Mask,
    factor: f32,
}

#[inline(always)]
fn panel<S: Simd>(simd: S, operands: Operands, task: Task) {
    let Operands { q, k, v, mask, factor } = operands;
    let Task { batch, rows, range, places } = task;
    let lanes = lanes::<S>();
    let mut panel = vec![0.0; q.dim() * lanes];
    let queries = range.clone().map(|row| {
        let (query, head) = rows.at(row);
        q.row(batch, query, head)
    });
    pack(queries, factor, lanes, &mut panel);

    let mut online = Online::new(simd);
    let mut acc = vec![0.0; v.dim() * lanes];
    let mut block_scores = vec![0.0; BLOCK_KV * lanes];
    let (mut keys, mut values) = (Vec::with_capacity(BLOCK_KV), Vec::with_capacity(BLOCK_KV));
    let queries = rows.queries(range.clone());
    let reach = mask.reach(queries.clone());
    for first in reach.clone().step_by(BLOCK_KV) {
        let block = first..reach.end.min(first + BLOCK_KV);
        let visibility = mask.block(queries.clone(), block.clone());
        if visibility == Block::Skip {
            continue;
        }
        keys.clear();
        keys.extend(block.clone().map(|key| k.row(batch, key, rows.kv_head)));
        values.clear();
        values.extend(block.clone().map(|key| v.row(batch, key, rows.kv_head)));

        let scored = &mut block_scores[..block.len() * lanes];
        scores(simd, &panel, &keys, scored);
        if visibility == Block::Partial {
            hide(scored, lanes, &mask, rows, range.clone(), block);
        }
        let shrink = online.block(simd, scored);
        accumulate(simd, scored, &values, shrink, &mut acc);
    }
    for (lane, place) in places.into_iter().enumerate() {
        let (norm, lse) = online.finish(lane);
        *place.lse = lse;
        for (x, acc) in place.out.iter_mut().zip(acc[lane..].iter().step_by(lanes)) {
            *x = if norm == 0.0 { 0.0 } else { acc * norm };
        }
        if place.out.iter().any(|x| !x.is_finite()) {
            let (query, head) = rows.at(range.start + lane);
            alone(operands, q.row(batch, query, head), (batch, query, rows.kv_head), lse, place.out);
        }
    }
}

/// A row whose output is not finite, once more, over nothing but what it sees: in a partial block a hidden value has
/// been multiplied by 0, which does not take a NaN or an infinity out.
fn alone(operands: Operands, q: &[f32], at: (usize, usize, usize), lse: f64, out: &mut [f32]) {
    let (batch, query, kv_head) = at;
    let mut sums = vec![0.0f64; out.len()];
    for key in operands.mask.visible(query) {
        let k = operands.k.row(batch, key, kv_head);
        let base2: f64 = q.iter().zip(k).map(|(q, k)| f64::from(q * operands.factor) * f64::from(*k)).sum();
        let weight = (base2 * std::f64::consts::LN_2 - lse).exp();
        for (sum, v) in sums.iter_mut().zip(operands.v.row(batch, key, kv_head)) {
            *sum += weight * f64::from(*v);
        }
    }
    for (out, sum) in out.iter_mut().zip(sums) {
        *out = sum as f32;
    }
}

/// Takes the hidden cells of a partial block out of it: exp2(-inf) is exactly 0.
fn hide(scores: &mut [f32], lanes: usize, mask: &Mask, rows: Rows, range: Range<usize>, block: Range<usize>) {
    for (lane, row) in range.enumerate() {
        let visible = mask.visible(rows.at(row).0);
        for (key, scores) in block.clone().zip(scores.chunks_exact_mut(lanes)) {
            if !visible.contains(&key) {
                scores[lane] = f32::NEG_INFINITY;
            }
        }
    }
}
