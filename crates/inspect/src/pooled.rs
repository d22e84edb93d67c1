use std::ops::Range;

use attnscope_kernel::{Isa, Rectangle};

use crate::{At, Error, Pick, SiteKind, Trace, Wanted, hidden_code};

/// A rectangle of a map, pooled to fewer pixels: each pixel stands for a block of cells.
#[derive(Clone, Debug, PartialEq)]
pub struct Pooled {
    /// Pixels down.
    pub rows: usize,
    /// Pixels across.
    pub columns: usize,
    /// (rows x columns): the largest weight among the visible cells; where none is visible, the negative
    /// [`hidden_code`] of the block's first cell.
    pub max: Vec<f32>,
    /// (rows x columns): the mean weight of the visible cells, likewise.
    pub mean: Vec<f32>,
}

impl Trace {
    /// A rectangle of one head, pooled to at most `rows` x `columns` pixels, exactly: every visible weight is looked
    /// at once. All cores; memory for the pixels and a few rows.
    ///
    /// # Errors
    /// If the layer or head is out of range, or a range is empty, reversed or out of range.
    pub fn pooled(
        &self,
        at: At,
        queries: Range<usize>,
        keys: Range<usize>,
        rows: usize,
        columns: usize,
    ) -> Result<Pooled, Error> {
        let rectangle = Rectangle { queries, keys, rows, columns };
        self.picked_pooled(at.site, at.layer, Pick::Head(at.head), &rectangle, Wanted::ALWAYS)
    }

    /// A rectangle of one head, or of the mean of a layer's heads, pooled as [`Trace::pooled`] does, for as long as it
    /// is wanted. The largest of a block's means over heads is no head's own: every head is looked at.
    ///
    /// # Errors
    /// As [`Trace::pooled`], or if it is wanted no longer.
    pub fn picked_pooled(
        &self,
        site: SiteKind,
        layer: usize,
        pick: Pick,
        rectangle: &Rectangle,
        wanted: Wanted,
    ) -> Result<Pooled, Error> {
        let places = pick.places(self, site, layer)?;
        let Some(first) = places.first() else { return Err(self.no_site(site)) };
        let site = self.head_site(*first)?;
        let heads: Vec<usize> = places.iter().map(|at| at.head).collect();
        let proceed = || wanted.check().and_then(|()| site.check_file());
        let pooled = site.recall(Isa::detect())?.pooled_while(0, &heads, rectangle, &proceed)?;
        let shown = |(weight, hidden): (f32, &Option<_>)| hidden.map_or(weight, hidden_code);
        let shown = |weights: Vec<f32>| weights.into_iter().zip(&pooled.hidden).map(shown).collect();
        Ok(Pooled { rows: pooled.rows, columns: pooled.columns, max: shown(pooled.max), mean: shown(pooled.mean) })
    }
}
