use std::ops::Range;

use attnscope_kernel::{Hidden, Isa};

use crate::{At, Error, Pick, SiteKind, Trace, budget};

/// A rectangle of a map: one f32 a cell, the weight, or where hidden the negative [`hidden_code`].
#[derive(Clone, Debug, PartialEq)]
pub struct MapTile {
    /// The queries it spans.
    pub queries: Range<usize>,
    /// The keys it spans.
    pub keys: Range<usize>,
    /// (queries x keys).
    pub cells: Vec<f32>,
}

/// How a map tells a hidden cell from a small one: -1 future, -2 outside_window, -3 padding, -4 other_segment, -5
/// knocked_out. (A reason that has no code yet is NaN, which no view shows as a weight.)
pub fn hidden_code(hidden: Hidden) -> f32 {
    match hidden {
        Hidden::Future => -1.0,
        Hidden::OutsideWindow => -2.0,
        Hidden::Padding => -3.0,
        Hidden::OtherSegment => -4.0,
        Hidden::KnockedOut => -5.0,
        _ => f32::NAN,
    }
}

impl Trace {
    /// The weights of a rectangle of one head; only its own rows and columns are computed.
    ///
    /// # Errors
    /// If the layer or head is out of range, or a range is empty, reversed or out of range.
    pub fn tile(&self, at: At, queries: Range<usize>, keys: Range<usize>) -> Result<MapTile, Error> {
        let site = self.head_site(at)?;
        let recall = site.recall(Isa::detect())?;
        let tile = recall.tile(0, at.head, queries, keys)?;
        let mut cells: Vec<f32> = tile.weights.iter().map(|weight| *weight as f32).collect();
        let rows = cells.chunks_exact_mut(tile.keys.len()).zip(tile.scores.chunks_exact(tile.keys.len()));
        for (query, (row, scores)) in tile.queries.clone().zip(rows) {
            let lse = recall.lse(0, at.head, query)?;
            for ((key, cell), score) in tile.keys.clone().zip(row).zip(scores) {
                *cell = budget::number(f64::from(*cell), *score, lse) as f32;
                if let Some(hidden) = recall.mask().hidden(0, at.head, query, key) {
                    *cell = hidden_code(hidden);
                }
            }
        }
        Ok(MapTile { queries: tile.queries, keys: tile.keys, cells })
    }

    /// The weights of a rectangle of one head, or the mean of a layer's heads.
    ///
    /// # Errors
    /// As [`Trace::tile`].
    pub fn picked_tile(
        &self,
        site: SiteKind,
        layer: usize,
        pick: Pick,
        queries: Range<usize>,
        keys: Range<usize>,
    ) -> Result<MapTile, Error> {
        let places = pick.places(self, site, layer)?;
        let mut tiles = places.iter().map(|at| self.tile(*at, queries.clone(), keys.clone()));
        let Some(mut mean) = tiles.next().transpose()? else { return Err(self.no_site(site)) };
        for tile in tiles {
            for (sum, cell) in mean.cells.iter_mut().zip(tile?.cells) {
                // A head that does not see a cell gives it nothing; the code stays where no head does.
                *sum = match (*sum < 0.0, cell < 0.0) {
                    (_, true) => *sum,
                    (true, false) => cell,
                    (false, false) => *sum + cell,
                };
            }
        }
        for sum in mean.cells.iter_mut().filter(|sum| **sum >= 0.0) {
            *sum /= places.len() as f32;
        }
        Ok(mean)
    }
}
