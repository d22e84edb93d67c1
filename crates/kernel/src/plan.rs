//! Which panel is done when, and which keys are copied for it before.

use std::cmp::Reverse;
use std::ops::Range;

use crate::forward::Shape;
use crate::heads::{RUN, runs};
use crate::params::Mask;
use crate::tile::rows::Rows;

/// Numbers of a row of keys that are worth a trip to memory: heads are copied together until theirs are as many.
const ROW: usize = 64;
/// Numbers of keys and values that stay in a thread's cache: as long as theirs do, twice as many heads are copied together,
/// because their rows lie in the same pages of memory.
const NEAR: usize = 1 << 17;

/// Heads whose keys and values are copied together, where so many keys are in use at once.
pub(crate) fn together(kv_heads: usize, keys: usize, (head_dim, v_head_dim): (usize, usize)) -> usize {
    let least = ROW / head_dim.max(1);
    let near = NEAR / (keys * (head_dim + v_head_dim)).max(1);
    near.min(2 * least).max(least).clamp(1, kv_heads.max(1))
}

/// From where a stretch of panels ends: when no key that its first one saw is seen any more.
fn next_stretch(first: &Range<usize>) -> usize {
    first.start + first.len().max(RUN)
}

/// Numbers of keys and values that memory is asked for ahead of the group that reads them. If they are more they would
/// drive out those in use.
const AHEAD: usize = 3 << 16;

/// One thing to do.
pub(crate) enum Work<P> {
    /// Copy a run of keys for a kv head and its neighbours.
    Copy { batch: usize, kv_head: usize, run: usize },
    /// Compute a panel of queries.
    Panel(P, Turn),
}

/// When a panel comes.
#[derive(Clone, Copy)]
pub(crate) struct Turn {
    /// Its place among so many panels of its group.
    pub(crate) at: usize,
    pub(crate) of: usize,
    /// The one after it in its group, (kv_head, panel).
    pub(crate) next: Option<(usize, usize)>,
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
    /// Each group of work.
    steps: Vec<Step>,
    batch: usize,
    kv_heads: usize,
    kv_len: usize,
}

impl Plan {
    /// Panels of so many `lanes`.
    pub(crate) fn new(shape: &Shape, v_head_dim: usize, mask: &Mask, lanes: usize) -> Self {
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
        let (batch, kv_heads, kv_len) = (shape.batch, shape.kv_heads, shape.kv_len);
        let mut plan = Self { rows, reach, stretches, together: 1, steps: Vec::new(), batch, kv_heads, kv_len };
        let most = plan.stretches.iter().map(|panels| plan.keys(panels).len()).max().unwrap_or(0);
        plan.together = together(kv_heads, most, (shape.head_dim, v_head_dim));
        plan.steps = plan.steps();
        plan
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

    /// What to do, in groups that one thread should do: the panels of a few kv heads, because their keys and values stay
    /// in its caches. What they need is copied first; then come the panels, the longest first, and of those of one length
    /// those of all heads, whose rows lie side by side. `panel` gives the task of (batch, kv_head, panel).
    pub(crate) fn work<P>(&self, mut panel: impl FnMut(usize, usize, usize) -> P) -> Vec<Vec<Work<P>>> {
        let orders: Vec<Vec<usize>> = self.stretches.iter().map(|panels| self.longest_first(panels)).collect();
        // Threads at work on neighbouring heads would write neighbouring rows at the same time and wait for each other, so
        // every other group begins in the middle; but not at the end, where all should be done at once.
        let last = self.steps.len().saturating_sub(rayon::current_num_threads());
        let group = |(at, step): (usize, &Step)| {
            let order = &orders[step.stretch];
            let first = if at < last { at % 2 * (order.len() / 2) } else { 0 };
            let panels = order[first..].iter().chain(&order[..first]);
            let panels = panels.flat_map(|at| step.kv_heads.clone().map(move |kv_head| (kv_head, *at)));
            let panels: Vec<_> = panels.collect();
            let turn = |at| Turn { at, of: panels.len(), next: panels.get(at + 1).copied() };
            let panels = panels.iter().enumerate();
            let panels =
                panels.map(|(at, (kv_head, of_head))| Work::Panel(panel(step.batch, *kv_head, *of_head), turn(at)));
            step.copies().chain(panels).collect()
        };
        self.steps.iter().enumerate().map(group).collect()
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

    /// Of the keys that a group will copy, those to ask memory for at a turn of the group before: (batch, kv_heads, keys);
    /// of a row of keys and values so many numbers.
    pub(crate) fn ahead(&self, group: usize, turn: Turn, row: usize) -> Option<(usize, Range<usize>, Range<usize>)> {
        let step = self.steps.get(group)?;
        let first = step.fresh.first()? * RUN;
        let keys = self.kv_len.min((step.fresh.last()? + 1) * RUN) - first;
        let part = |at: usize| first + keys * at / turn.of;
        let fits = keys * step.kv_heads.len() * row <= AHEAD;
        fits.then(|| (step.batch, step.kv_heads.clone(), part(turn.at)..part(turn.at + 1)))
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
    fn copies<P>(&self) -> impl Iterator<Item = Work<P>> + use<'_, P> {
        self.fresh.iter().map(|run| Work::Copy { batch: self.batch, kv_head: self.kv_heads.start, run: *run })
    }
}
