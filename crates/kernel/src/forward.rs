//! The operation: shapes are checked, panels planned and computed on all cores, and what they leave is put together.

use std::ops::Range;

use fearless_simd::dispatch;

use crate::decode::{FEW, Views, decode};
use crate::error::{Error, argument};
use crate::heads::Heads;
use crate::observe::{BlockMap, Observe, Observed, Parts, RowStats};
use crate::outputs::Outputs;
use crate::panel::{Operands, Scratch, Task, panel_of, panel_rows};
use crate::params::Mask;
use crate::plan::{Plan, Turn, Work, together};
use crate::share::share_ahead;
use crate::spare::Spare;
use crate::tile::rows::Rows;
use crate::tile::soon::Soon;
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
    let (shape, out_len) = checked(q, k, v, params, observe)?;
    let mut out = vec![O::zero(); out_len];
    let mut left = Left::default();
    compute([q, k, v], shape, params, isa, observe, (&mut out, &mut left));
    Ok((Forward { out, lse: left.lse }, left.observed))
}

/// What [`forward_into`] leaves beside the output.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Left {
    /// As in [`Forward`].
    pub lse: Vec<f64>,
    /// What was asked for.
    pub observed: Observed,
}

/// [`forward_observed`] into memory that is there already: the output, (batch, q_len, q_heads, v_head_dim), and what an
/// operation before left, whatever they hold. What is large and made anew each time costs time for its pages alone.
///
/// # Errors
/// As [`forward_observed`], or if `out` is not as long as that shape.
pub fn forward_into<T: Element, O: Element>(
    q: View<T>,
    k: View<T>,
    v: View<T>,
    params: &Params,
    isa: Isa,
    observe: Observe,
    (out, left): (&mut [O], &mut Left),
) -> Result<(), Error> {
    let (shape, out_len) = checked(q, k, v, params, observe)?;
    if out.len() != out_len {
        return argument("out length", out.len(), format!("{out_len} numbers, batch x q_len x q_heads x v_head_dim"));
    }
    compute([q, k, v], shape, params, isa, observe, (out, left));
    Ok(())
}

/// That all shapes fit each other, the parameters and what is to be observed; and how long the output is.
fn checked<T>(q: View<T>, k: View<T>, v: View<T>, params: &Params, observe: Observe) -> Result<(Shape, usize), Error> {
    let shape = Shape::of(q, k)?;
    shape.check_values(v)?;
    params.check(&shape)?;
    if observe.rows && shape.kv_len >= u32::MAX as usize {
        return argument("kv_len", shape.kv_len, format!("less than {} where statistics of rows are wanted", u32::MAX));
    }
    match size(&[shape.batch, shape.q_len, shape.q_heads, v.dim()]) {
        Some(out_len) => Ok((shape, out_len)),
        None => argument("v head_dim", v.dim(), "small enough to index"),
    }
}

/// What panels saw of a map, of an operation that is done.
static SEEN: Spare<Vec<f32>> = Spare::new(4 << 20);

/// The operation.
fn compute<T: Element, O: Element>(
    [q, k, v]: [View<T>; 3],
    shape: Shape,
    params: &Params,
    isa: Isa,
    observe: Observe,
    (out, left): (&mut [O], &mut Left),
) {
    if shape.group() * shape.q_len <= FEW && observe == Observe::default() {
        *left = Left { lse: decode(q, &Views { k, v }, shape, params, isa, out), observed: Observed::default() };
        return;
    }
    let Left { mut lse, observed } = std::mem::take(left);
    let (mut stats, map) = (observed.rows.unwrap_or_default(), observed.map);
    // Row after row of each kv head, as the panels take them.
    let rows = shape.batch * shape.q_heads * shape.q_len;
    lse.resize(rows, 0.0);
    stats.resize(if observe.rows { rows } else { 0 }, RowStats::default());
    let mask = Mask::new(params, shape.q_len, shape.kv_len);
    let lanes = panel_rows(isa);
    let plan = Plan::new(&shape, v.dim(), &mask, lanes);
    let heads = Heads::new(k, v, plan.together, &plan.uses(), isa);
    let side = observe.map.map(|most| BlockMap::side_for(&shape, most));
    let of_group = Rows { group: shape.group(), kv_head: 0 };
    let panels = plan.rows.iter().map(|rows| of_group.queries(rows.clone())).zip(plan.reach.iter().cloned());
    let parts = side.map(|side| Parts::new(shape.group(), panels, side));
    let mut seen = parts.as_ref().map_or_else(Vec::new, |parts| {
        let mut seen = SEEN.take();
        seen.resize(shape.batch * shape.kv_heads * parts.len(), 0.0);
        seen
    });
    let operands = Operands { q, k, v, heads: &heads, params, mask };
    let outputs = Outputs::new(out, &shape, v.dim(), lanes);
    let mut tasks = tasks(&shape, &plan, &mut lse, &mut stats, parts.as_ref().map(|parts| (parts, &mut *seen)));
    let work =
        plan.work(|batch, kv_head, panel| tasks[(batch * shape.kv_heads + kv_head) * plan.rows.len() + panel].take());
    share_ahead(
        work,
        || Scratch::new(lanes, shape.head_dim, v.dim()),
        |scratch, work, after| match work {
            Work::Copy { batch, kv_head, run } => heads.copy(batch, kv_head, run),
            Work::Panel(Some(mut task), turn) => {
                task.asked = turn.at > 0;
                ask_ahead(&mut scratch.soon, &operands, &outputs, &plan, &task, turn, after);
                dispatch!(isa.0, simd => panel_of(simd, operands, &outputs, task, scratch));
            }
            Work::Panel(None, _) => {}
        },
    );
    let map = side.zip(parts.as_ref()).map(|(side, parts)| {
        let mut map = map.unwrap_or_default();
        map.fill(&shape, &mask, side, (parts, &seen));
        map
    });
    if side.is_some() {
        SEEN.give(seen);
        SEEN.trim();
    }
    let observed = Observed { rows: observe.rows.then(|| by_head(stats, &shape)), map };
    *left = Left { lse: by_head(lse, &shape), observed };
}

/// What memory is asked for while a panel is at work: where its own output goes, the queries of the one after, and its part
/// of the keys and values of the group that comes after this.
fn ask_ahead<T: Element, O: Element>(
    soon: &mut Soon,
    operands: &Operands<T>,
    outputs: &Outputs<O>,
    plan: &Plan,
    task: &Task,
    turn: Turn,
    after: Option<usize>,
) {
    let Operands { q, k, v, heads, .. } = operands;
    soon.clear();
    if let Some((kv_head, panel)) = turn.next {
        let rows = Rows { kv_head, ..task.rows };
        let queries = rows.queries(plan.rows[panel].clone());
        rows.heads().for_each(|head| q.soon(soon, task.batch, queries.clone(), head));
    }
    if let Some((batch, kv_heads, keys)) = after.and_then(|group| plan.ahead(group, turn, k.dim() + v.dim())) {
        heads.soon(soon, batch, kv_heads, keys);
    }
    let queries = task.rows.queries(task.range.clone());
    task.rows.heads().for_each(|head| outputs.soon(soon, task.batch, queries.clone(), head));
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

/// What [`forward`] holds beside its arguments and results at most, in bytes, on so many threads: for each a packed panel
/// of queries, a block of scores and the panel's output, and together copies of the keys and values of the kv heads that
/// are in use (of all batches there are `kv_heads`): a few that lie side by side for each thread, and those that one goes
/// on to while others are still read. O(n), whatever the number of queries.
///
/// With a window or packed texts all heads go on side by side, and what is copied is of all `kv_heads`, but only what a
/// stretch of queries sees: about twice the window.
///
/// Of the copies, and of what maps are put together from, up to 4 MiB each are kept for the next operation, whatever its
/// shapes; of what [`crate::backward`] copies, up to 16 MiB.
pub fn working_bytes(
    threads: usize,
    (kv_heads, kv_len): (usize, usize),
    (head_dim, v_head_dim): (usize, usize),
    isa: Isa,
) -> usize {
    let copy = (kv_len.next_multiple_of(4) * head_dim + kv_len * v_head_dim) * size_of::<f32>();
    let copies = kv_heads.min((threads + 1) * together(kv_heads, kv_len, (head_dim, v_head_dim)));
    threads * Scratch::bytes(panel_rows(isa), head_dim, v_head_dim) + copies * copy
}

/// The panels' tasks, by (batch, kv_head, panel), with the places for what they find; of the parts of a map too.
fn tasks<'a>(
    shape: &Shape,
    plan: &Plan,
    lse: &'a mut [f64],
    stats: &'a mut [RowStats],
    map: Option<(&'a Parts, &'a mut [f32])>,
) -> Vec<Option<Task<'a>>> {
    let of_head = shape.group() * shape.q_len;
    let lanes = plan.rows.first().map_or(1, |rows| rows.len());
    let lse = lse.chunks_exact_mut(of_head.max(1)).flat_map(|head| head.chunks_mut(lanes));
    let mut stats = stats.chunks_exact_mut(of_head.max(1)).flat_map(|head| head.chunks_mut(lanes));
    let of_heads = |(parts, seen): (&'a Parts, &'a mut [f32])| {
        seen.chunks_exact_mut(parts.len().max(1)).flat_map(|seen| parts.split(seen))
    };
    let mut map = map.map(of_heads);
    let heads = (0..shape.batch).flat_map(|batch| (0..shape.kv_heads).map(move |kv_head| (batch, kv_head)));
    let panels = heads.flat_map(|head| plan.rows.iter().zip(&plan.reach).map(move |panel| (head, panel)));
    let task = |(((batch, kv_head), (range, reach)), lse)| Task {
        batch,
        rows: Rows { group: shape.group(), kv_head },
        range: Range::clone(range),
        reach: Range::clone(reach),
        lse,
        stats: stats.next().unwrap_or_default(),
        map: map.as_mut().and_then(Iterator::next),
        asked: false,
    };
    panels.zip(lse).map(task).map(Some).collect()
}
