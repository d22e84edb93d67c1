use std::ops::Range;

use attnscope_inspect::{Row, Trace, Wanted};
use rayon::prelude::*;

use crate::{Error, Place};

/// The most weights that go into one file: a third of a gigabyte of text.
const MOST: usize = 1 << 24;

/// A rectangle of a map at full precision, a row a query.
pub(crate) struct Grid<'a> {
    pub(crate) trace: &'a Trace,
    pub(crate) place: Place,
    pub(crate) queries: Range<usize>,
    pub(crate) keys: Range<usize>,
    rows: Vec<GridRow>,
}

struct GridRow {
    weights: Vec<f64>,
    mask: Vec<Option<&'static str>>,
}

impl<'a> Grid<'a> {
    /// Recalls the weights, on all cores.
    pub(crate) fn read(
        trace: &'a Trace,
        place: Place,
        queries: Range<usize>,
        keys: Range<usize>,
        wanted: Wanted,
    ) -> Result<Self, Error> {
        let cells = queries.len().saturating_mul(keys.len());
        if cells > MOST {
            return Err(Error::TooManyCells { cells, most: MOST });
        }
        let rows = queries.clone().into_par_iter().map(|query| {
            wanted.check()?;
            let Row { weights, mask, .. } = trace.picked_row(place.site, place.layer, place.head, query)?;
            Ok(GridRow { weights: weights[keys.clone()].to_vec(), mask: mask[keys.clone()].to_vec() })
        });
        let rows = rows.collect::<Result<_, Error>>()?;
        Ok(Self { trace, place, queries, keys, rows })
    }

    /// The rows with their queries: for each key the weight, or why it is hidden.
    pub(crate) fn rows(&self) -> impl Iterator<Item = (usize, impl Iterator<Item = Result<f64, &'static str>>)> {
        self.queries.clone().zip(&self.rows).map(|(query, row)| {
            let cells = row.weights.iter().zip(&row.mask);
            (query, cells.map(|(weight, mask)| mask.map_or(Ok(*weight), Err)))
        })
    }

    /// All its cells.
    pub(crate) fn cells(&self) -> impl Iterator<Item = Result<f64, &'static str>> {
        self.rows().flat_map(|(_, cells)| cells)
    }
}
