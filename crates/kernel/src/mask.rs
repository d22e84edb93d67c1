//! Which keys a query sees, and why it does not see the others. Decided by structure: no score is ever made
//! "very negative", because real scores can be lower than any such number.

use std::ops::Range;

use crate::Params;

/// Why a cell is hidden.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Hidden {
    /// The key comes after the query.
    Future,
    /// The key lies outside of the query's sliding window.
    OutsideWindow,
}

impl Hidden {
    /// The name used in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Future => "future",
            Self::OutsideWindow => "outside_window",
        }
    }
}

/// The mask of one operation.
///
/// Causal masks are aligned bottom-right, so that a query block at the end of a cache sees all that came before:
///
/// ```text
/// q_len 2, kv_len 5:   1 1 1 1 .
///                      1 1 1 1 1
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Mask {
    causal: bool,
    window: Option<crate::Window>,
    q_len: usize,
    kv_len: usize,
}

/// How a block of keys stands to a panel of queries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Block {
    /// No query sees any key: it costs nothing.
    Skip,
    /// Every query sees every key.
    Full,
    /// Some cells are hidden.
    Partial,
}

impl Mask {
    /// The mask that `params` put on `q_len` queries and `kv_len` keys.
    pub fn new(params: &Params, q_len: usize, kv_len: usize) -> Self {
        Self { causal: params.causal, window: params.window, q_len, kv_len }
    }

    /// The key position at which a query stands; negative where there are more queries than keys.
    fn position(&self, query: usize) -> i64 {
        self.kv_len as i64 - self.q_len as i64 + query as i64
    }

    /// The keys that a query sees: always one run.
    pub fn visible(&self, query: usize) -> Range<usize> {
        let position = self.position(query);
        let (mut start, mut end) = (0, self.kv_len as i64);
        if let Some(window) = self.window {
            start = start.max(position.saturating_sub_unsigned(window.left as u64));
            end = end.min(position.saturating_add_unsigned(window.right as u64).saturating_add(1));
        }
        if self.causal {
            end = end.min(position + 1);
        }
        let end = end.max(0) as usize;
        (start as usize).min(end)..end
    }

    /// Why a query does not see a key; `None` where it does.
    pub fn hidden(&self, query: usize, key: usize) -> Option<Hidden> {
        if self.causal && key as i64 > self.position(query) {
            return Some(Hidden::Future);
        }
        (!self.visible(query).contains(&key)).then_some(Hidden::OutsideWindow)
    }

    /// How the keys of one block stand to a run of queries (not empty). Both ends of `visible` grow with the query.
    pub(crate) fn block(&self, queries: Range<usize>, keys: Range<usize>) -> Block {
        let (first, last) = (self.visible(queries.start), self.visible(queries.end - 1));
        if keys.end <= first.start || keys.start >= last.end {
            Block::Skip
        } else if keys.start >= last.start && keys.end <= first.end {
            Block::Full
        } else {
            Block::Partial
        }
    }

    /// The keys that some query of a run sees.
    pub(crate) fn reach(&self, queries: Range<usize>) -> Range<usize> {
        let end = self.visible(queries.end - 1).end;
        self.visible(queries.start).start.min(end)..end
    }
}
