//! A rectangle seen from afar, exactly: every visible weight of a block is looked at, a few rows at a time.

use std::ops::Range;

use rayon::prelude::*;

use super::Recall;
use crate::Element;
use crate::error::{Error, argument, in_range};
use crate::params::Hidden;

/// Cells of one step: what a thread holds at a time.
const STEP: usize = 1 << 16;

/// A rectangle of the attention matrix, and into how many pixels it goes at most.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rectangle {
    /// Which queries.
    pub queries: Range<usize>,
    /// Which keys.
    pub keys: Range<usize>,
    /// Pixels down; never more than there are queries.
    pub rows: usize,
    /// Pixels across; never more than there are keys.
    pub columns: usize,
}

/// A rectangle pooled to fewer pixels: each stands for a block of cells, of which there are `rows` x `columns` nearly equal
/// ones.
#[derive(Clone, Debug, PartialEq)]
pub struct Pooled {
    /// Pixels down.
    pub rows: usize,
    /// Pixels across.
    pub columns: usize,
    /// (rows x columns): the largest weight among the visible cells; 0 where none is.
    pub max: Vec<f32>,
    /// (rows x columns): the mean weight of the visible cells; 0 where none is.
    pub mean: Vec<f32>,
    /// (rows x columns): where no cell of the block is visible, why the first one is not.
    pub hidden: Vec<Option<Hidden>>,
}

impl<T: Element> Recall<'_, T> {
    /// A rectangle of one head, pooled, on all cores: O(cells) time, and memory for the pixels and a few rows.
    ///
    /// # Errors
    /// If an index is out of range, or a range is empty, reversed or out of range.
    pub fn pooled(&self, batch: usize, head: usize, rectangle: &Rectangle) -> Result<Pooled, Error> {
        self.pooled_while(batch, &[head], rectangle, &|| Ok(()))
    }

    /// [`Recall::pooled`] of the mean of some heads, each weight rounded to f32 and added in the order of `heads`; of one
    /// head, its own weights. A cell of the mean is visible where any of the heads sees it. `proceed` is asked before each
    /// few rows of each head, from all threads; what it refuses by ends the work.
    ///
    /// # Errors
    /// As [`Recall::pooled`], if there are no heads, or with what `proceed` gave.
    pub fn pooled_while<E: From<Error> + Send>(
        &self,
        batch: usize,
        heads: &[usize],
        rectangle: &Rectangle,
        proceed: &(dyn Fn() -> Result<(), E> + Sync),
    ) -> Result<Pooled, E> {
        let Rectangle { queries, keys, rows, columns } = rectangle;
        self.check_ranges(queries, keys)?;
        in_range("batch", batch, self.shape.batch)?;
        heads.iter().try_for_each(|head| in_range("head", *head, self.shape.q_heads))?;
        if heads.is_empty() {
            argument("heads", "none", "at least one")?;
        }
        let (rows, columns) = ((*rows).clamp(1, queries.len()), (*columns).clamp(1, keys.len()));
        let map = Map { recall: self, batch, heads, proceed };
        let strips: Vec<Vec<Pixel>> = (0..rows)
            .into_par_iter()
            .map(|row| map.strip(share(queries, row, rows), keys, columns))
            .collect::<Result<_, E>>()?;
        let pixels = || strips.iter().flatten();
        let mut hidden = vec![None; rows * columns];
        for (at, (hidden, pixel)) in hidden.iter_mut().zip(pixels()).enumerate() {
            if pixel.visible == 0 {
                let first = (share(queries, at / columns, rows).start, share(keys, at % columns, columns).start);
                *hidden = map.hidden(first.0, first.1);
            }
        }
        Ok(Pooled {
            rows,
            columns,
            max: pixels().map(|pixel| pixel.max as f32).collect(),
            mean: pixels().map(|pixel| (pixel.sum / pixel.visible.max(1) as f64) as f32).collect(),
            hidden,
        })
    }
}

/// A head, or the mean of several.
struct Map<'a, T, E> {
    recall: &'a Recall<'a, T>,
    batch: usize,
    heads: &'a [usize],
    proceed: &'a (dyn Fn() -> Result<(), E> + Sync),
}

/// What is known of one pixel.
#[derive(Clone, Copy, Default)]
struct Pixel {
    max: f64,
    sum: f64,
    visible: usize,
}

impl<T: Element, E: From<Error>> Map<'_, T, E> {
    /// One row of pixels.
    fn strip(&self, queries: Range<usize>, keys: &Range<usize>, columns: usize) -> Result<Vec<Pixel>, E> {
        let mask = self.recall.mask;
        let mut pixels = vec![Pixel::default(); columns];
        let step = (STEP / keys.len()).max(1);
        for first in queries.clone().step_by(step) {
            let queries = first..queries.end.min(first + step);
            let reach = mask.reach(queries.clone());
            let seen = reach.start.max(keys.start)..reach.end.min(keys.end);
            if seen.is_empty() {
                continue;
            }
            let weights = self.weights(&queries, &seen)?;
            for (query, weights) in queries.zip(weights.chunks_exact(seen.len())) {
                let visible = mask.span(query);
                for (column, pixel) in pixels.iter_mut().enumerate() {
                    let block = share(keys, column, columns);
                    let block = block.start.max(visible.start)..block.end.min(visible.end);
                    if block.is_empty() {
                        continue;
                    }
                    let cells = &weights[block.start - seen.start..block.end - seen.start];
                    pixel.visible += match mask.has_holes() {
                        true => block.filter(|key| self.hidden(query, *key).is_none()).count(),
                        false => cells.len(),
                    };
                    pixel.sum += cells.iter().sum::<f64>();
                    pixel.max = cells.iter().copied().fold(pixel.max, f64::max);
                }
            }
        }
        Ok(pixels)
    }

    /// (queries x keys) weights.
    fn weights(&self, queries: &Range<usize>, keys: &Range<usize>) -> Result<Vec<f64>, E> {
        let of = |head: usize| {
            (self.proceed)()?;
            Ok::<_, E>(self.recall.tile(self.batch, head, queries.clone(), keys.clone())?.weights)
        };
        if let [head] = *self.heads {
            return of(head);
        }
        let mut sums = vec![0.0_f32; queries.len() * keys.len()];
        for head in self.heads {
            sums.iter_mut().zip(of(*head)?).for_each(|(sum, weight)| *sum += weight as f32);
        }
        Ok(sums.into_iter().map(|sum| f64::from(sum / self.heads.len() as f32)).collect())
    }

    /// Why none of the heads sees a cell; `None` where any does.
    fn hidden(&self, query: usize, key: usize) -> Option<Hidden> {
        self.recall.mask.hidden_from_all(self.batch, self.heads, query, key)
    }
}

/// The part-th of `parts` nearly equal parts of a range.
fn share(range: &Range<usize>, part: usize, parts: usize) -> Range<usize> {
    let at = |part: usize| range.start + part * range.len() / parts;
    at(part)..at(part + 1)
}
