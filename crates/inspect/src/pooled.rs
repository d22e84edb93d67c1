use std::ops::Range;

use attnscope_kernel::{Isa, Recall};
use rayon::prelude::*;

use crate::{At, Error, Trace, hidden_code};

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
        let site = self.head_site(at)?;
        for (argument, range, len) in [("queries", &queries, site.q_len()), ("keys", &keys, site.kv_len())] {
            if range.start >= range.end || range.end > len {
                let (got, want) = (format!("{range:?}"), format!("a non-empty range within 0..{len}"));
                return Err(attnscope_kernel::Error::Argument { argument, got, want }.into());
            }
        }
        let recall = site.recall(Isa::detect())?;
        let (rows, columns) = (rows.clamp(1, queries.len()), columns.clamp(1, keys.len()));
        let strips = (0..rows)
            .into_par_iter()
            .map(|row| {
                let queries = share(&queries, row, rows);
                strip(&recall, at.head, queries, &keys, columns)
            })
            .collect::<Result<Vec<_>, _>>()?;
        let (max, mean) = strips.into_iter().flatten().unzip();
        Ok(Pooled { rows, columns, max, mean })
    }
}

/// The part-th of `parts` nearly equal parts of a range.
fn share(range: &Range<usize>, part: usize, parts: usize) -> Range<usize> {
    let at = |part: usize| range.start + part * range.len() / parts;
    at(part)..at(part + 1)
}

/// One row of pixels, as (max, mean).
fn strip(
    recall: &Recall,
    head: usize,
    queries: Range<usize>,
    keys: &Range<usize>,
    columns: usize,
) -> Result<Vec<(f32, f32)>, Error> {
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
        let tile = recall.tile(0, head, queries.clone(), seen.clone())?;
        for (query, weights) in queries.zip(tile.weights.chunks_exact(seen.len())) {
            let visible = mask.span(query);
            for (column, pixel) in pixels.iter_mut().enumerate() {
                let block = share(keys, column, columns);
                let block = block.start.max(visible.start).max(seen.start)..block.end.min(visible.end).min(seen.end);
                if block.is_empty() {
                    continue;
                }
                let cells = &weights[block.start - seen.start..block.end - seen.start];
                pixel.visible += cells.len();
                pixel.sum += cells.iter().sum::<f64>();
                pixel.max = cells.iter().copied().fold(pixel.max, f64::max);
            }
        }
    }
    let hidden = |column: usize| {
        let reason = recall.mask().hidden(0, head, queries.start, share(keys, column, columns).start);
        reason.map_or(0.0, hidden_code)
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
