//! Keys and values as the tile loop reads them: a copy of one kv head at a time, made when its first panel is due and
//! given up after its last.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use fearless_simd::{Simd, dispatch};

use crate::tile::pack::{pack_keys, touch};
use crate::{Element, Isa, View};

/// Rows that are asked of memory together, a multiple of four.
const AHEAD: usize = 16;

/// One kv head of one batch, in f32. Copied because in (batch, len, heads, head_dim) its rows lie apart, often by a
/// whole power of two, and would fight each other for a place in the cache.
#[derive(Default)]
pub(crate) struct Head {
    /// Keys in fours, [four][t][key], the last four filled up with 0.
    keys: Vec<[f32; 4]>,
    /// (kv_len x v_head_dim).
    values: Vec<f32>,
    dim: usize,
    v_dim: usize,
}

impl Head {
    /// The fours from the one with key `first` up to the one with key `end` - 1.
    pub(crate) fn keys(&self, first: usize, end: usize) -> &[[f32; 4]] {
        &self.keys[first / 4 * self.dim..end.div_ceil(4) * self.dim]
    }

    /// The values of some keys, row after row.
    pub(crate) fn values(&self, first: usize, end: usize) -> &[f32] {
        &self.values[first * self.v_dim..end * self.v_dim]
    }

    #[inline(always)]
    fn fill<S: Simd, T: Element>(&mut self, simd: S, (k, v): (View<T>, View<T>), batch: usize, head: usize) {
        (self.dim, self.v_dim) = (k.dim(), v.dim());
        self.keys.resize(k.len().div_ceil(4) * self.dim, [0.0; 4]);
        self.values.resize(v.len() * self.v_dim, 0.0);
        let (mut fours, mut places) =
            (self.keys.chunks_mut(AHEAD / 4 * self.dim.max(1)), self.values.chunks_mut(AHEAD * self.v_dim.max(1)));
        for first in (0..k.len()).step_by(AHEAD) {
            let keys = first..k.len().min(first + AHEAD);
            touch(keys.clone().map(|key| k.row(batch, key, head)));
            touch(keys.clone().map(|key| v.row(batch, key, head)));
            if let Some(fours) = fours.next() {
                pack_keys(simd, keys.clone().map(|key| k.row(batch, key, head)), self.dim, fours);
            }
            if let Some(places) = places.next() {
                for (key, place) in keys.zip(places.chunks_exact_mut(self.v_dim)) {
                    T::widen(v.row(batch, key, head), place);
                }
            }
        }
    }
}

/// The heads of an operation that are in use, and the buffers of those that are done with.
pub(crate) struct Heads<'a, T> {
    k: View<'a, T>,
    v: View<'a, T>,
    isa: Isa,
    heads: Vec<Slot>,
    spare: Mutex<Vec<Head>>,
}

struct Slot {
    head: Mutex<Option<Arc<Head>>>,
    panels_left: AtomicUsize,
}

impl<'a, T: Element> Heads<'a, T> {
    /// For `panels` panels a head.
    pub(crate) fn new(k: View<'a, T>, v: View<'a, T>, panels: usize, isa: Isa) -> Self {
        let slot = || Slot { head: Mutex::new(None), panels_left: AtomicUsize::new(panels) };
        let heads = (0..k.batch() * k.heads()).map(|_| slot()).collect();
        Self { k, v, isa, heads, spare: Mutex::default() }
    }

    /// A head, copied if it was not yet. Whoever asks meanwhile waits.
    pub(crate) fn get(&self, batch: usize, head: usize) -> Arc<Head> {
        let mut place = lock(&self.heads[batch * self.k.heads() + head].head);
        let made = place.get_or_insert_with(|| {
            let mut copy = lock(&self.spare).pop().unwrap_or_default();
            dispatch!(self.isa.0, simd => simd.vectorize(
                #[inline(always)]
                || copy.fill(simd, (self.k, self.v), batch, head)
            ));
            Arc::new(copy)
        });
        Arc::clone(made)
    }

    /// Gives back what a panel got.
    pub(crate) fn done(&self, batch: usize, head: usize, copy: Arc<Head>) {
        let slot = &self.heads[batch * self.k.heads() + head];
        drop(copy);
        if slot.panels_left.fetch_sub(1, Ordering::AcqRel) == 1
            && let Some(copy) = lock(&slot.head).take().and_then(Arc::into_inner)
        {
            lock(&self.spare).push(copy);
        }
    }
}

/// A panic elsewhere ends the whole operation; what it left is not read.
fn lock<L>(mutex: &Mutex<L>) -> std::sync::MutexGuard<'_, L> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
