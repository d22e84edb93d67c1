//! Which panel is done when, and which keys are copied for it before.

use std::cmp::Reverse;
use std::ops::Range;

use crate::forward::Shape;
use crate::heads::{RUN, runs};
use crate::params::Mask;
use crate::tile::rows::Rows;

/// Numbers of a row of keys that are worth a trip to memory: heads are copied together until theirs are as many.
const TOGETHER: usize = 64;

/// Heads whose keys are copied together.
pub(crate) fn together(kv_heads: usize, head_dim: usize) -> usize {
    (TOGETHER / head_dim.max(1)).clamp(1, kv_heads.max(1))
}

/// From where a stretch of panels ends: when no key that its first one saw is seen any more.
fn next_stretch(first: &Range<usize>) -> usize {
    first.start + first.len().max(RUN)
}

/// One thing to do.
pub(crate) enum Work<P> {
    /// Copy a run of keys for a kv head and its neighbours.
    Copy { batch: usize, kv_head: usize, run: usize },
    /// Compute a panel of queries.
    Panel(P),
}

/// The panels of an operation. All kv heads have the same.
pub(crate) struct Plan {
    /// The rows of each panel.
    pub(crate) rows: Vec<Range<usize>>,
    /// The keys that each reaches.
    pub(crate) reach: Vec<Range<usize>>,
    /// Panels that all heads do before any head goes on, so that queries, keys and outputs that lie side by side are used
    /// while they are near: all panels, unless they see only part of the keys.
    stretches: Vec<Range<usize>>,
    /// Neighbouring heads whose keys are copied together: a longer run of memory.
    pub(crate) together: usize,
    batch: usize,
    kv_heads: usize,
    kv_len: usize,
}

impl Plan {
    /// Panels of so many `lanes`.
    pub(crate) fn new(shape: &Shape, mask: &Mask, lanes: usize) -> Self {
        let all = shape.group() * shape.q_len;
        let rows: Vec<_> = (0..all).step_by(lanes).map(|first| first..all.min(first + lanes)).collect();
        let of_group = Rows { group: shape.group(), kv_head: 0 };
        let reach: Vec<_> = rows.iter().map(|rows| mask.reach(of_group.queries(rows.clone()))).collect();
        let mut stretches: Vec<Range<usize>> = Vec::new();
        for (panel, keys) in reach.iter().enumerate() {
            match stretches.last_mut() {
                Some(last) if keys.start < next_stretch(&reach[last.start]) => last.end = panel + 1,
                _ => stretches.push(panel..panel + 1),
            }
        }
        let together = together(shape.kv_heads, shape.head_dim);
        let (batch, kv_heads, kv_len) = (shape.batch, shape.kv_heads, shape.kv_len);
        Self { rows, reach, stretches, together, batch, kv_heads, kv_len }
    }

    /// The keys that some panels reach together.
    fn keys(&self, panels: &Range<usize>) -> Range<usize> {
        let reach = || self.reach[panels.clone()].iter().filter(|keys| !keys.is_empty());
        let start = reach().map(|keys| keys.start).min().unwrap_or(0);
        start..reach().map(|keys| keys.end).max().unwrap_or(0)
    }

    /// How many panels of a head reach each run of keys.
    pub(crate) fn uses(&self) -> Vec<usize> {
        let mut uses = vec![0; self.kv_len.div_ceil(RUN)];
        for keys in &self.reach {
            uses[runs(keys)].iter_mut().for_each(|uses| *uses += 1);
        }
        uses
    }

    /// What to do, in order: head after head, because its keys and values stay in the cache; in each the longest panels
    /// first, so that no core is left alone with one at the end; and what a group of heads needs is copied while
    /// the last head before it is at work. `panel` gives the task of (batch, kv_head, panel).
    pub(crate) fn work<P>(&self, mut panel: impl FnMut(usize, usize, usize) -> P) -> Vec<Work<P>> {
        let orders: Vec<Vec<usize>> = self.stretches.iter().map(|panels| self.longest_first(panels)).collect();
        let steps = self.steps();
        let mut work = Vec::with_capacity(self.batch * self.kv_heads * self.rows.len());
        work.extend(steps.first().into_iter().flat_map(|step| step.copies()));
        for (at, step) in steps.iter().enumerate() {
            for kv_head in step.kv_heads.clone() {
                if kv_head + 1 == step.kv_heads.end {
                    work.extend(steps.get(at + 1).into_iter().flat_map(|step| step.copies()));
                }
                work.extend(orders[step.stretch].iter().map(|at| Work::Panel(panel(step.batch, kv_head, *at))));
            }
        }
        work
    }

    /// The stretches of each group of heads, one after another.
    fn steps(&self) -> Vec<Step> {
        let uses = self.uses();
        let groups = || (0..self.kv_heads).step_by(self.together);
        let mut steps = Vec::new();
        for batch in 0..self.batch {
            // Runs before this one are copied for the stretch before, whose keys may overlap with this one's.
            let mut copied = 0;
            for (stretch, panels) in self.stretches.iter().enumerate() {
                let needed = runs(&self.keys(panels));
                let fresh: Vec<usize> = (needed.start.max(copied)..needed.end).filter(|run| uses[*run] > 0).collect();
                copied = copied.max(needed.end);
                steps.extend(groups().map(|first| {
                    let kv_heads = first..self.kv_heads.min(first + self.together);
                    Step { batch, stretch, kv_heads, fresh: fresh.clone() }
                }));
            }
        }
        steps
    }

    fn longest_first(&self, panels: &Range<usize>) -> Vec<usize> {
        let mut order: Vec<usize> = panels.clone().collect();
        order.sort_by_key(|panel| Reverse(self.reach[*panel].len()));
        order
    }
}

/// A stretch of panels of a group of heads.
struct Step {
    batch: usize,
    stretch: usize,
    kv_heads: Range<usize>,
    /// Runs of keys that no step before has copied.
    fresh: Vec<usize>,
}

impl Step {
    fn copies<P>(&self) -> impl Iterator<Item = Work<P>> {
        self.fresh.iter().map(|run| Work::Copy { batch: self.batch, kv_head: self.kv_heads.start, run: *run })
    }
}
