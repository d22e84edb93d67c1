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
    /// The key is padding.
    Padding,
    /// The key belongs to another of the packed texts.
    OtherSegment,
    /// The cell was cut out by hand.
    KnockedOut,
}

impl Hidden {
    /// The name used in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Future => "future",
            Self::OutsideWindow => "outside_window",
            Self::Padding => "padding",
            Self::OtherSegment => "other_segment",
            Self::KnockedOut => "knocked_out",
        }
    }
}

/// The mask of one operation: which cells it hides, and why.
///
/// Segments, window and the causal rule leave each query one run of keys, its [`Mask::span`]; padding and knockouts
/// take single keys out of that. Causal masks are aligned bottom-right, so that a query block at the end of a cache
/// sees all that came before:
///
/// ```text
/// q_len 2, kv_len 5:   1 1 1 1 .
///                      1 1 1 1 1
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Mask<'a> {
    params: &'a Params,
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

/// The rows that share a panel: of one batch, the heads of one group at a run of queries (not empty).
#[derive(Clone, Debug)]
pub(crate) struct Span {
    pub(crate) batch: usize,
    pub(crate) heads: Range<usize>,
    pub(crate) queries: Range<usize>,
}

impl<'a> Mask<'a> {
    /// The mask that `params` put on `q_len` queries and `kv_len` keys.
    pub fn new(params: &'a Params, q_len: usize, kv_len: usize) -> Self {
        Self { params, q_len, kv_len }
    }

    /// How many keys there are.
    pub(crate) fn kv_len(&self) -> usize {
        self.kv_len
    }

    /// The key position at which a query stands; negative where there are more queries than keys.
    pub fn position(&self, query: usize) -> i64 {
        let (queries, keys) = self.around(query);
        keys.end as i64 - queries.end as i64 + query as i64
    }

    /// The queries and keys of the packed text around a query; all of them where nothing is packed.
    fn around(&self, query: usize) -> (Range<usize>, Range<usize>) {
        match &self.params.segments {
            Some(segments) => segments.around(query),
            None => (0..self.q_len, 0..self.kv_len),
        }
    }

    /// The run of keys that segments, window and the causal rule leave a query. Both ends grow with the query.
    pub fn span(&self, query: usize) -> Range<usize> {
        let (queries, keys) = self.around(query);
        let position = keys.end as i64 - queries.end as i64 + query as i64;
        let (mut start, mut end) = (keys.start as i64, keys.end as i64);
        if let Some(window) = self.params.window {
            start = start.max(position.saturating_sub_unsigned(window.left as u64));
            end = end.min(position.saturating_add_unsigned(window.right as u64).saturating_add(1));
        }
        if self.params.causal {
            end = end.min(position + 1);
        }
        let end = end.max(keys.start as i64) as usize;
        (start as usize).min(end)..end
    }

    /// Why a query does not see a key; `None` where it does.
    pub fn hidden(&self, batch: usize, head: usize, query: usize, key: usize) -> Option<Hidden> {
        let (_, keys) = self.around(query);
        if !keys.contains(&key) {
            return Some(Hidden::OtherSegment);
        }
        if self.params.key_padding.as_ref().is_some_and(|padding| !padding.of(batch, self.kv_len)[key]) {
            return Some(Hidden::Padding);
        }
        if self.params.causal && key as i64 > self.position(query) {
            return Some(Hidden::Future);
        }
        if !self.span(query).contains(&key) {
            return Some(Hidden::OutsideWindow);
        }
        self.params.knockouts.iter().any(|rule| rule.hides(head, query, key)).then_some(Hidden::KnockedOut)
    }

    /// Why none of some heads sees a cell; `None` where any does. (Only knockouts differ from head to head.)
    pub fn hidden_from_all(&self, batch: usize, heads: &[usize], query: usize, key: usize) -> Option<Hidden> {
        let mut why = None;
        for head in heads {
            why = Some(self.hidden(batch, *head, query, key)?);
        }
        why
    }

    /// Whether padding or knockouts may take keys out of spans.
    pub fn has_holes(&self) -> bool {
        self.params.key_padding.is_some() || !self.params.knockouts.is_empty()
    }

    /// The keys of `within` that a row sees.
    pub fn visible(
        self,
        batch: usize,
        head: usize,
        query: usize,
        within: Range<usize>,
    ) -> impl Iterator<Item = usize> + 'a {
        let span = self.span(query);
        let holes = self.has_holes();
        (span.start.max(within.start)..span.end.min(within.end))
            .filter(move |key| !holes || !self.holed(batch, head, query, *key))
    }

    /// Whether a row sees nothing at all.
    pub fn sees_nothing(&self, batch: usize, head: usize, query: usize) -> bool {
        self.visible(batch, head, query, 0..self.kv_len).next().is_none()
    }

    /// Whether padding or a knockout hides a cell.
    pub(crate) fn holed(&self, batch: usize, head: usize, query: usize, key: usize) -> bool {
        self.params.key_padding.as_ref().is_some_and(|padding| !padding.of(batch, self.kv_len)[key])
            || self.params.knockouts.iter().any(|rule| rule.hides(head, query, key))
    }

    /// Whether padding or a knockout hides any cell of a block.
    pub(crate) fn punched(&self, rows: &Span, keys: Range<usize>) -> bool {
        let padded = |padding: &crate::KeyPadding| padding.of(rows.batch, self.kv_len)[keys.clone()].contains(&false);
        self.params.key_padding.as_ref().is_some_and(padded)
            || self.params.knockouts.iter().any(|rule| {
                rule.head.is_none_or(|head| rows.heads.contains(&head))
                    && rule.query.is_none_or(|query| rows.queries.contains(&query))
                    && rule.key.is_none_or(|key| keys.contains(&key))
            })
    }

    /// How the keys of one block stand to a panel.
    pub(crate) fn block(&self, rows: &Span, keys: Range<usize>) -> Block {
        let (first, last) = (self.span(rows.queries.start), self.span(rows.queries.end - 1));
        if keys.end <= first.start || keys.start >= last.end {
            Block::Skip
        } else if keys.start < last.start || keys.end > first.end || self.punched(rows, keys) {
            Block::Partial
        } else {
            Block::Full
        }
    }

    /// The keys that some query of a run may see.
    pub(crate) fn reach(&self, queries: Range<usize>) -> Range<usize> {
        let end = self.span(queries.end - 1).end;
        self.span(queries.start).start.min(end)..end
    }
}
