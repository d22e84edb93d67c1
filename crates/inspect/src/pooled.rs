use std::ops::Range;

use attnscope_kernel::{Isa, Recall};
use rayon::prelude::*;

use crate::{At, Error, Pick, Site, SiteKind, Trace, Wanted, hidden_code, hidden_from_all};

/// Cells of one step: what a thread holds at a time.
const STEP: usize = 1 << 16;

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

/// A rectangle of a map, and into how many pixels it goes at most.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rectangle {
    /// Which queries.
    pub queries: Range<usize>,
    /// Which keys.
    pub keys: Range<usize>,
    /// Pixels down.
    pub rows: usize,
    /// Pixels across.
    pub columns: usize,
}

/// What is known of one pixel.
#[derive(Clone, Copy, Default)]
struct Pixel {
    max: f64,
    sum: f64,
    visible: usize,
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
        let Some(first) = places.first() else { return Err(Error::NoSite(site.name())) };
        let site = self.head_site(*first)?;
        let Rectangle { queries, keys, rows, columns } = rectangle;
        for (argument, range, len) in [("queries", queries, site.q_len()), ("keys", keys, site.kv_len())] {
            if range.start >= range.end || range.end > len {
                let (got, want) = (format!("{range:?}"), format!("a non-empty range within 0..{len}"));
                return Err(attnscope_kernel::Error::Argument { argument, got, want }.into());
            }
        }
        let recall = site.recall(Isa::detect())?;
        let (rows, columns) = ((*rows).clamp(1, queries.len()), (*columns).clamp(1, keys.len()));
        let map = Map { site, recall: &recall, heads: places.iter().map(|at| at.head).collect(), wanted };
        let strips = (0..rows)
            .into_par_iter()
            .map(|row| strip(&map, share(queries, row, rows), keys, columns))
            .collect::<Result<Vec<_>, _>>()?;
        let (max, mean) = strips.into_iter().flatten().unzip();
        Ok(Pooled { rows, columns, max, mean })
    }
}

/// A head, or the mean of several.
struct Map<'a> {
    site: &'a Site,
    recall: &'a Recall<'a>,
    heads: Vec<usize>,
    wanted: Wanted<'a>,
}

impl Map<'_> {
    /// (queries x keys) weights.
    fn weights(&self, queries: &Range<usize>, keys: &Range<usize>) -> Result<Vec<f64>, Error> {
        let of = |head: usize| {
            self.wanted.check()?;
            self.site.check_file()?;
            Ok::<_, Error>(self.recall.tile(0, head, queries.clone(), keys.clone())?.weights)
        };
        if let [head] = self.heads[..] {
            return of(head);
        }
        // Added as a tile of the mean adds them, so that both come to the very same number.
        let mut sums = vec![0.0_f32; queries.len() * keys.len()];
        for head in &self.heads {
            sums.iter_mut().zip(of(*head)?).for_each(|(sum, weight)| *sum += weight as f32);
        }
        Ok(sums.into_iter().map(|sum| f64::from(sum / self.heads.len() as f32)).collect())
    }
}

/// The part-th of `parts` nearly equal parts of a range.
fn share(range: &Range<usize>, part: usize, parts: usize) -> Range<usize> {
    let at = |part: usize| range.start + part * range.len() / parts;
    at(part)..at(part + 1)
}

/// One row of pixels, as (max, mean).
fn strip(map: &Map, queries: Range<usize>, keys: &Range<usize>, columns: usize) -> Result<Vec<(f32, f32)>, Error> {
    let recall = map.recall;
    let mut pixels = vec![Pixel::default(); columns];
    let step = (STEP / keys.len().max(1)).max(1);
    for first in queries.clone().step_by(step) {
        let queries = first..queries.end.min(first + step);
        // Both ends of what a query sees grow with the query, so the first and last bound them all.
        let mask = recall.mask();
        let seen = mask.span(queries.start).start.max(keys.start)..mask.span(queries.end - 1).end.min(keys.end);
        if seen.is_empty() {
            continue;
        }
        let weights = map.weights(&queries, &seen)?;
        for (query, weights) in queries.zip(weights.chunks_exact(seen.len())) {
            let visible = mask.span(query);
            for (column, pixel) in pixels.iter_mut().enumerate() {
                let block = share(keys, column, columns);
                let block = block.start.max(visible.start).max(seen.start)..block.end.min(visible.end).min(seen.end);
                if block.is_empty() {
                    continue;
                }
                let cells = &weights[block.start - seen.start..block.end - seen.start];
                pixel.visible += match mask.has_holes() {
                    true => block.filter(|key| hidden_from_all(recall, &map.heads, query, *key).is_none()).count(),
                    false => cells.len(),
                };
                pixel.sum += cells.iter().sum::<f64>();
                pixel.max = cells.iter().copied().fold(pixel.max, f64::max);
            }
        }
    }
    let hidden = |column: usize| {
        let first = share(keys, column, columns).start;
        hidden_from_all(recall, &map.heads, queries.start, first).map_or(0.0, hidden_code)
    };
    Ok(pixels
        .iter()
        .enumerate()
        .map(|(column, pixel)| match pixel.visible {
            0 => (hidden(column), hidden(column)),
            visible => (pixel.max as f32, (pixel.sum / visible as f64) as f32),
        })
        .collect())
}
