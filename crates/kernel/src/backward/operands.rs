//! What every task of the backward pass reads.

use fearless_simd::{Simd, SimdBase, dispatch};

use crate::forward::Shape;
use crate::params::Mask;
use crate::share::found;
use crate::tile::strips::Strips;
use crate::{Element, Isa, Params, View};

/// What every task reads.
pub(super) struct Operands<'a, T, G> {
    pub(super) shape: Shape,
    pub(super) q: View<'a, T>,
    pub(super) k: View<'a, T>,
    pub(super) v: View<'a, T>,
    pub(super) d_out: View<'a, G>,
    /// (batch, q_heads, q_len), like `delta`.
    pub(super) lse: &'a [f64],
    pub(super) delta: &'a [f64],
    pub(super) params: &'a Params,
    pub(super) mask: Mask<'a>,
    pub(super) isa: Isa,
}

impl<T, G> Clone for Operands<'_, T, G> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T, G> Copy for Operands<'_, T, G> {}

impl<T, G> Operands<'_, T, G> {
    /// Where lse and delta of a row lie.
    pub(super) fn row(&self, batch: usize, head: usize, query: usize) -> usize {
        (batch * self.shape.q_heads + head) * self.shape.q_len + query
    }

    /// How rows of queries and of d_out are cut for vectors of `len` numbers.
    pub(super) fn strips(&self, len: usize) -> [Strips; 2] {
        [self.q.dim(), self.v.dim()].map(|dim| Strips::new(dim, len, across(len)))
    }
}

/// Vectors in a strip: four keys by so many, and what they are made of, fit the registers.
pub(super) const fn across(len: usize) -> usize {
    if len == 16 { 4 } else { 2 }
}

/// Rows in a panel on this instruction set.
pub(super) fn lanes(isa: Isa) -> usize {
    #[inline(always)]
    fn rows<S: Simd>(_: S) -> usize {
        2 * <S::f32s as SimdBase<S>>::LEN
    }
    dispatch!(isa.0, simd => rows(simd))
}

/// out . d_out of every row, (batch, q_heads, q_len).
pub(super) fn deltas<O: Element, G: Element>(shape: &Shape, out: View<O>, d_out: View<G>) -> Vec<f64> {
    let rows = shape.batch * shape.q_heads * shape.q_len;
    let row = |row: usize| (row / shape.q_len / shape.q_heads, row % shape.q_len, row / shape.q_len % shape.q_heads);
    let room = || [vec![0.0; out.dim()], vec![0.0; out.dim()]];
    found(rows, 256, room, |[o, d], at| {
        let (batch, query, head) = row(at);
        O::widen(out.row(batch, query, head), o);
        G::widen(d_out.row(batch, query, head), d);
        crate::reference::dot(o, d)
    })
}
