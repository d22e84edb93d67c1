//! Keys and values as the tile loop reads them: a copy of a run of keys of a few kv heads at a time, made when its first
//! panel is due and given up after its last.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use fearless_simd::{Simd, dispatch};

use crate::spare::{Buffer, Spare};
use crate::tile::BLOCK_KV;
use crate::tile::pack::pack_keys;
use crate::tile::soon::{Soon, soon};
use crate::{Element, Isa, View};

/// Keys to a piece: few, so that threads copy together what all of them wait for.
pub(crate) const RUN: usize = 2 * BLOCK_KV;

/// Bytes of keys and values that are asked of memory together: with those that are copied meanwhile, half of the first-level
/// cache.
const AHEAD: usize = 8 << 10;

/// Keys whose rows are as many bytes, in whole fours.
fn ahead<T>(heads: usize, dim: usize, v_dim: usize) -> usize {
    (AHEAD / (heads * (dim + v_dim) * size_of::<T>()).max(1) / 4 * 4).clamp(4, RUN)
}

/// One run of keys of some neighbouring kv heads of one batch, in f32. Copied because in (batch, len, heads, head_dim)
/// a head's rows lie apart, often by a whole power of two, and would fight each other for a place in the cache.
#[derive(Default)]
pub(crate) struct Piece {
    /// Keys in fours, [head][four][t][key], the last four filled up with 0.
    keys: Vec<[f32; 4]>,
    /// (heads x run x v_head_dim).
    values: Vec<f32>,
    /// Keys in it; 0 while it is not copied.
    len: usize,
    dim: usize,
    v_dim: usize,
}

impl Buffer for Piece {
    fn bytes(&self) -> usize {
        (4 * self.keys.capacity() + self.values.capacity()) * size_of::<f32>()
    }
}

impl Piece {
    /// The fours from the one with key `first` up to the one with key `end` - 1; `head` and keys counted from the
    /// piece's first.
    pub(crate) fn keys(&self, head: usize, keys: Range<usize>) -> &[[f32; 4]] {
        let fours = head * self.len.div_ceil(4);
        &self.keys[(fours + keys.start / 4) * self.dim..(fours + keys.end.div_ceil(4)) * self.dim]
    }

    /// The values of some keys, row after row.
    pub(crate) fn values(&self, head: usize, keys: Range<usize>) -> &[f32] {
        let first = head * self.len;
        &self.values[(first + keys.start) * self.v_dim..(first + keys.end) * self.v_dim]
    }

    #[inline(always)]
    fn fill<S: Simd, T: Element>(
        &mut self,
        simd: S,
        (k, v): (View<T>, View<T>),
        (batch, heads): (usize, Range<usize>),
        keys: Range<usize>,
        asked: bool,
    ) {
        (self.len, self.dim, self.v_dim) = (keys.len(), k.dim(), v.dim());
        let (fours, values) = (keys.len().div_ceil(4) * self.dim, keys.len() * self.v_dim);
        // What they hold beyond that is of a piece before, and not read.
        self.keys.resize(self.keys.len().max(heads.len() * fours), [0.0; 4]);
        self.values.resize(self.values.len().max(heads.len() * values), 0.0);
        let ahead = ahead::<T>(heads.len(), self.dim, self.v_dim);
        let next = |first: usize| first.min(keys.end)..keys.end.min(first + ahead);
        let wish = |keys| {
            if !asked {
                ask(simd, (k, v), (batch, heads.clone()), keys)
            }
        };
        wish(next(keys.start));
        for first in keys.clone().step_by(ahead) {
            let rows = next(first);
            // While these are copied, memory brings the next.
            wish(next(rows.end));
            let (four, value) = ((first - keys.start) / 4 * self.dim, (first - keys.start) * self.v_dim);
            for (at, head) in heads.clone().enumerate() {
                let place = &mut self.keys[at * fours + four..][..rows.len().div_ceil(4) * self.dim];
                pack_keys(simd, rows.clone().map(|key| k.row(batch, key, head)), self.dim, place);
                let places =
                    self.values[at * values + value..][..rows.len() * self.v_dim].chunks_exact_mut(self.v_dim.max(1));
                for (key, place) in rows.clone().zip(places) {
                    T::widen_with(simd, v.row(batch, key, head), place);
                }
            }
        }
    }
}

/// Asks memory for some keys and values. The rows of neighbouring heads lie side by side: one page, and lines that follow
/// each other.
#[inline(always)]
pub(crate) fn ask<S: Simd, T: Element>(
    simd: S,
    (k, v): (View<T>, View<T>),
    (batch, heads): (usize, Range<usize>),
    keys: Range<usize>,
) {
    for key in keys {
        for head in heads.clone() {
            soon(simd, k.place(batch, key, head), k.dim());
            soon(simd, v.place(batch, key, head), v.dim());
        }
    }
}

/// The pieces of an operation that are in use.
pub(crate) struct Heads<'a, T> {
    k: View<'a, T>,
    v: View<'a, T>,
    isa: Isa,
    /// Heads in a piece.
    together: usize,
    /// (batch, groups of heads, runs).
    slots: Vec<Slot>,
}

/// Pieces that are done with: those of a few short texts, or of a head of a long one.
static SPARE: Spare<Piece> = Spare::new(4 << 20);

struct Slot {
    piece: RwLock<Piece>,
    uses_left: AtomicUsize,
    /// Whether memory was asked for it.
    asked: AtomicBool,
}

/// The runs that some keys lie in.
pub(crate) fn runs(keys: &Range<usize>) -> Range<usize> {
    if keys.is_empty() { 0..0 } else { keys.start / RUN..keys.end.div_ceil(RUN) }
}

impl<'a, T: Element> Heads<'a, T> {
    /// So many heads `together` in a piece; `uses` says for each run how often [`Heads::get`] will be asked for it by
    /// one head.
    pub(crate) fn new(k: View<'a, T>, v: View<'a, T>, together: usize, uses: &[usize], isa: Isa) -> Self {
        let groups = (0..k.heads()).step_by(together).map(|first| together.min(k.heads() - first));
        let slot =
            |uses| Slot { piece: RwLock::default(), uses_left: AtomicUsize::new(uses), asked: AtomicBool::new(false) };
        let slots = (0..k.batch()).flat_map(|_| groups.clone());
        let slots = slots.flat_map(|heads| uses.iter().map(move |uses| slot(heads * uses))).collect();
        Self { k, v, isa, together, slots }
    }

    fn slot(&self, batch: usize, head: usize, run: usize) -> &Slot {
        let groups = self.k.heads().div_ceil(self.together);
        &self.slots[(batch * groups + head / self.together) * self.k.len().div_ceil(RUN) + run]
    }

    /// Which of a piece's heads this one is.
    pub(crate) fn within(&self, head: usize) -> usize {
        head % self.together
    }

    /// A piece, copied if it was not yet. Whoever asks meanwhile waits.
    pub(crate) fn get(&self, batch: usize, head: usize, run: usize) -> RwLockReadGuard<'_, Piece> {
        let slot = self.slot(batch, head, run);
        let piece = slot.piece.read().unwrap_or_else(PoisonError::into_inner);
        if piece.len > 0 {
            return piece;
        }
        drop(piece);
        let mut piece = slot.piece.write().unwrap_or_else(PoisonError::into_inner);
        if piece.len == 0 {
            *piece = SPARE.take();
            let first = head / self.together * self.together;
            let heads = first..self.k.heads().min(first + self.together);
            let keys = run * RUN..self.k.len().min((run + 1) * RUN);
            dispatch!(self.isa.0, simd => simd.vectorize(
                #[inline(always)]
                || piece.fill(simd, (self.k, self.v), (batch, heads), keys, slot.asked.load(Ordering::Relaxed))
            ));
        }
        RwLockWriteGuard::downgrade(piece)
    }

    /// Says that keys and values of some heads, all of a piece or of some, will be copied.
    pub(crate) fn soon(&self, soon: &mut Soon, batch: usize, heads: Range<usize>, keys: Range<usize>) {
        for run in runs(&keys) {
            self.slot(batch, heads.start, run).asked.store(true, Ordering::Relaxed);
        }
        for head in heads {
            self.k.soon(soon, batch, keys.clone(), head);
            self.v.soon(soon, batch, keys.clone(), head);
        }
    }

    /// Copies a piece that will be asked for.
    pub(crate) fn copy(&self, batch: usize, head: usize, run: usize) {
        // Others may have copied it, used it and be done with it by now.
        if self.slot(batch, head, run).uses_left.load(Ordering::Acquire) > 0 {
            drop(self.get(batch, head, run));
        }
    }

    /// Gives back what a panel got.
    pub(crate) fn done(&self, batch: usize, head: usize, run: usize, piece: RwLockReadGuard<'_, Piece>) {
        let slot = self.slot(batch, head, run);
        drop(piece);
        if slot.uses_left.fetch_sub(1, Ordering::AcqRel) == 1 {
            let mut piece = std::mem::take(&mut *slot.piece.write().unwrap_or_else(PoisonError::into_inner));
            piece.len = 0;
            SPARE.give(piece);
        }
    }
}

impl<T> Drop for Heads<'_, T> {
    fn drop(&mut self) {
        SPARE.trim();
    }
}
