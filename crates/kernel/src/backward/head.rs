//! One kv head as the backward pass reads it: keys and values, and the queries of its group with what belongs to them.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use fearless_simd::{Simd, SimdBase, dispatch};

use super::operands::Operands;
use crate::Element;
use crate::heads::ask;
use crate::spare::{Buffer, Spare};
use crate::tile::gradient::base2;
use crate::tile::pack::{factor, pack, pack_keys};
use crate::tile::rows::Rows;
use crate::tile::soon::soon;
use crate::tile::strips::Strips;
use crate::tile::{BACK_KV, BACK_Q};

/// Copied once for all that read it, in f32.
#[derive(Default)]
pub(super) struct Head {
    dim: usize,
    v_dim: usize,
    /// Keys and values in fours, [four][t][key], the last four filled up with 0.
    key_fours: Vec<[f32; 4]>,
    value_fours: Vec<[f32; 4]>,
    /// (kv_len x head_dim).
    keys: Vec<f32>,
    pub(super) q: Side,
    pub(super) d_out: Side,
    /// lse of every row in base 2, in two parts, and out . d_out; rows that are none see nothing.
    lse: [Vec<f32>; 2],
    delta: Vec<f32>,
}

/// The rows of a group, block after block: as panels (dim x lanes), and as strips.
#[derive(Default)]
pub(super) struct Side {
    panels: Vec<f32>,
    strips: Vec<f32>,
}

impl Side {
    /// A run of rows, whole panels, of `dim` numbers.
    pub(super) fn panel(&self, rows: Range<usize>, dim: usize) -> &[f32] {
        &self.panels[rows.start * dim..rows.end * dim]
    }

    /// The strips of one block.
    pub(super) fn strips(&self, block: usize, strips: Strips) -> &[f32] {
        &self.strips[block * BACK_Q * strips.width()..][..BACK_Q * strips.width()]
    }

    #[inline(always)]
    fn fill<'a, S: Simd, T: Element>(
        &mut self,
        simd: S,
        row: impl Fn(usize) -> &'a [T],
        rows: usize,
        factor: f32,
        strips: Strips,
        dim: usize,
    ) {
        let lanes = 2 * <S::f32s as SimdBase<S>>::LEN;
        let blocks = rows.div_ceil(BACK_Q);
        self.panels.resize(blocks * BACK_Q * dim, 0.0);
        self.strips.resize(blocks * BACK_Q * strips.width(), 0.0);
        let rows_of = |first: usize, count: usize| first.min(rows)..rows.min(first + count);
        // Block by block, so that a row is near when it is read again.
        for (block, place) in self.strips.chunks_exact_mut((BACK_Q * strips.width()).max(1)).enumerate() {
            let first = block * BACK_Q;
            let numbers = rows_of(first, BACK_Q);
            // While these are laid out, memory brings the next.
            for row in rows_of(first + BACK_Q, BACK_Q).map(&row) {
                soon(simd, row.as_ptr(), row.len());
            }
            let missing = numbers.len()..BACK_Q;
            for (at, number) in numbers.enumerate() {
                strips.lay(simd, row(number), at, BACK_Q, place);
            }
            for at in missing {
                strips.clear(at, BACK_Q, place);
            }
            let panels = &mut self.panels[first * dim..(first + BACK_Q) * dim];
            for (first, panel) in (first..).step_by(lanes).zip(panels.chunks_exact_mut((lanes * dim).max(1))) {
                pack(simd, rows_of(first, lanes).map(&row), factor, lanes, panel);
            }
        }
    }
}

impl Head {
    /// The keys from the four with `first` up to the one with `end` - 1, and the values.
    pub(super) fn fours(&self, first: usize, end: usize) -> [&[[f32; 4]]; 2] {
        let fours = first / 4..end.div_ceil(4);
        [
            &self.key_fours[fours.start * self.dim..fours.end * self.dim],
            &self.value_fours[fours.start * self.v_dim..fours.end * self.v_dim],
        ]
    }

    /// Some keys, row after row.
    pub(super) fn keys(&self, first: usize, end: usize) -> &[f32] {
        &self.keys[first * self.dim..end * self.dim]
    }

    /// (lse, delta) of a run of rows.
    pub(super) fn known(&self, rows: Range<usize>) -> ([&[f32]; 2], &[f32]) {
        ([&self.lse[0][rows.clone()], &self.lse[1][rows.clone()]], &self.delta[rows])
    }

    #[inline(always)]
    fn fill<S: Simd, T: Element, G: Element>(&mut self, simd: S, operands: &Operands<T, G>, batch: usize, head: usize) {
        let Operands { shape, q, k, v, d_out, params, .. } = *operands;
        let width = <S::f32s as SimdBase<S>>::LEN;
        (self.dim, self.v_dim) = (k.dim(), v.dim());
        let fours = shape.kv_len.div_ceil(4);
        self.key_fours.resize(fours * self.dim, [0.0; 4]);
        self.value_fours.resize(fours * self.v_dim, [0.0; 4]);
        self.keys.resize(shape.kv_len * self.dim, 0.0);
        for first in (0..shape.kv_len).step_by(BACK_KV) {
            let block = first..shape.kv_len.min(first + BACK_KV);
            ask(simd, (k, v), (batch, head..head + 1), block.end..shape.kv_len.min(block.end + BACK_KV));
            let fours = first / 4..block.end.div_ceil(4);
            let keys = &mut self.key_fours[fours.start * self.dim..fours.end * self.dim];
            pack_keys(simd, block.clone().map(|key| k.row(batch, key, head)), self.dim, keys);
            let values = &mut self.value_fours[fours.start * self.v_dim..fours.end * self.v_dim];
            pack_keys(simd, block.clone().map(|key| v.row(batch, key, head)), self.v_dim, values);
            let keys = &mut self.keys[block.start * self.dim..block.end * self.dim];
            for (key, place) in block.zip(keys.chunks_exact_mut(self.dim.max(1))) {
                T::widen_with(simd, k.row(batch, key, head), place);
            }
        }

        let rows = Rows { group: shape.group(), kv_head: head };
        let count = shape.group() * shape.q_len;
        let at = |row| rows.at(row);
        let [q_strips, d_strips] = operands.strips(width);
        let q_row = |row| {
            let (query, head) = at(row);
            q.row(batch, query, head)
        };
        let d_row = |row| {
            let (query, head) = at(row);
            d_out.row(batch, query, head)
        };
        self.q.fill(simd, q_row, count, factor(params.scale), q_strips, self.dim);
        self.d_out.fill(simd, d_row, count, 1.0, d_strips, self.v_dim);
        let padded = count.next_multiple_of(BACK_Q);
        let [high, low] = &mut self.lse;
        for (known, nothing) in [(high, f32::INFINITY), (low, 0.0), (&mut self.delta, 0.0)] {
            known.clear();
            known.resize(padded, nothing);
        }
        for row in 0..count {
            let (query, head) = at(row);
            let of_row = operands.row(batch, head, query);
            [self.lse[0][row], self.lse[1][row]] = base2(operands.lse[of_row]);
            self.delta[row] = operands.delta[of_row] as f32;
        }
    }
}

/// Heads that are done with: those in use at a time, of a text of some thousand tokens.
static SPARE: Spare<Head> = Spare::new(16 << 20);

impl Buffer for Head {
    fn bytes(&self) -> usize {
        let fours = self.key_fours.capacity() + self.value_fours.capacity();
        let [high, low] = &self.lse;
        let sides = [&self.q, &self.d_out].into_iter().flat_map(|side| [&side.panels, &side.strips]);
        let singles = sides.chain([&self.keys, high, low, &self.delta]).map(Vec::capacity).sum::<usize>();
        (4 * fours + singles) * size_of::<f32>()
    }
}

/// The heads in use.
pub(super) struct Heads {
    heads: Vec<Slot>,
}

impl Drop for Heads {
    fn drop(&mut self) {
        SPARE.trim();
    }
}

struct Slot {
    head: Mutex<Option<Arc<Head>>>,
    left: AtomicUsize,
}

impl Heads {
    /// Of which each is asked for `uses` times.
    pub(super) fn new(heads: usize, uses: usize) -> Self {
        let slot = || Slot { head: Mutex::new(None), left: AtomicUsize::new(uses) };
        Self { heads: (0..heads).map(|_| slot()).collect() }
    }

    /// A head, copied if it was not yet. Whoever asks meanwhile waits.
    pub(super) fn get<T: Element, G: Element>(
        &self,
        operands: &Operands<T, G>,
        batch: usize,
        head: usize,
    ) -> Arc<Head> {
        let mut place = lock(&self.heads[batch * operands.shape.kv_heads + head].head);
        let made = place.get_or_insert_with(|| {
            let mut copy = SPARE.take();
            dispatch!(operands.isa.0, simd => simd.vectorize(
                #[inline(always)]
                || copy.fill(simd, operands, batch, head)
            ));
            Arc::new(copy)
        });
        Arc::clone(made)
    }

    /// Copies a head that will be asked for.
    pub(super) fn copy<T: Element, G: Element>(&self, operands: &Operands<T, G>, batch: usize, head: usize) {
        // Others may have copied it, used it and be done with it by now.
        if self.heads[batch * operands.shape.kv_heads + head].left.load(Ordering::Acquire) > 0 {
            drop(self.get(operands, batch, head));
        }
    }

    /// Gives back what was got.
    pub(super) fn done(&self, head: usize, copy: Arc<Head>) {
        let slot = &self.heads[head];
        drop(copy);
        if slot.left.fetch_sub(1, Ordering::AcqRel) == 1
            && let Some(copy) = lock(&slot.head).take().and_then(Arc::into_inner)
        {
            SPARE.give(copy);
        }
    }
}

/// A panic elsewhere ends the whole operation; what it left is not read.
pub(super) fn lock<L>(mutex: &Mutex<L>) -> std::sync::MutexGuard<'_, L> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
