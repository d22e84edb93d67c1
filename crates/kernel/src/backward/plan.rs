//! The tasks of the backward pass: who owns which rows of the gradients, and in which order the work is done.

use crate::forward::Shape;
use crate::tile::BACK_Q;
use crate::tile::rows::Rows;

use super::operands::Operands;
use super::ordered::Ordered;

/// Keys of which one task sums the gradients: they and theirs stay in the second-level cache.
pub(super) const CHUNK: usize = 256;

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
pub(super) type Queries<'a> = Ordered<Vec<&'a mut [f32]>>;

/// All blocks, (batch, kv_heads, blocks).
pub(super) fn blocks<'a, T, G>(operands: &Operands<T, G>, dq: &'a mut [f32]) -> Vec<Queries<'a>> {
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
    let block = |(at, mut place): (usize, Vec<&'a mut [f32]>)| {
        let terms = seen(at);
        if terms.is_empty() {
            place.iter_mut().for_each(|row| row.fill(0.0));
        }
        Ordered::new(terms, place)
    };
    places.into_iter().enumerate().map(block).collect()
}

/// One chunk's share of the work, with the rows of the gradients it finds.
pub(super) struct Task<'a> {
    pub(super) batch: usize,
    pub(super) kv_head: usize,
    pub(super) chunk: usize,
    pub(super) dk: Vec<&'a mut [f32]>,
    pub(super) dv: Vec<&'a mut [f32]>,
}

pub(super) fn tasks<'a, T, G>(operands: &Operands<T, G>, dk: &'a mut [f32], dv: &'a mut [f32]) -> Vec<Task<'a>> {
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
pub(super) enum Work<'a> {
    /// Copy a head, (batch, kv_head).
    Copy(usize, usize),
    Chunk(Task<'a>),
}

/// In which order: head after head, each copied while the one before is at work; in each the first keys first, because
/// most causal queries see them, and because it is the order in which the queries' gradients are summed.
pub(super) fn work(tasks: Vec<Task>) -> Vec<Work> {
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
