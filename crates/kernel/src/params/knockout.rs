//! Cells cut out by hand.

use crate::error::{Error, in_range};
use crate::forward::Shape;

/// A rule that hides cells: those of this head, this query and this key, where `None` means every one.
///
/// `Knockout { key: Some(3), ..Default::default() }` keeps every query of every head from key 3.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Knockout {
    /// The query head.
    pub head: Option<usize>,
    /// The query.
    pub query: Option<usize>,
    /// The key.
    pub key: Option<usize>,
}

impl Knockout {
    pub(crate) fn check(&self, shape: &Shape) -> Result<(), Error> {
        for (name, index, len) in [
            ("knockout head", self.head, shape.q_heads),
            ("knockout query", self.query, shape.q_len),
            ("knockout key", self.key, shape.kv_len),
        ] {
            if let Some(index) = index {
                in_range(name, index, len)?;
            }
        }
        Ok(())
    }

    pub(crate) fn hides(&self, head: usize, query: usize, key: usize) -> bool {
        self.head.is_none_or(|h| h == head)
            && self.query.is_none_or(|q| q == query)
            && self.key.is_none_or(|k| k == key)
    }
}
