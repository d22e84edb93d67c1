use crate::error::{Error, argument};

/// What shapes the scores of one attention operation.
#[derive(Clone, Debug, PartialEq)]
pub struct Params {
    /// What q . k is multiplied by, normally 1 / sqrt(head_dim).
    pub scale: f32,
    /// Whether a query is kept from keys that come after it. Aligned bottom-right: query i stands at key
    /// position kv_len - q_len + i.
    pub causal: bool,
    /// How far a query sees to either side, if that is limited.
    pub window: Option<Window>,
}

/// A sliding window: the query at key position p sees key j iff p - left <= j <= p + right.
///
/// A checkpoint's `sliding_window` W is left = W - 1, right = 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// How many keys before its own position a query sees; 0 is itself alone.
    pub left: usize,
    /// How many after it.
    pub right: usize,
}

impl Params {
    /// Bidirectional attention at the usual scale, 1 / sqrt(head_dim). (Vaswani et al. 2017, eq. 1)
    pub fn for_head_dim(head_dim: usize) -> Self {
        Self { scale: 1.0 / (head_dim.max(1) as f32).sqrt(), causal: false, window: None }
    }

    pub(crate) fn check(&self) -> Result<(), Error> {
        if !crate::pack::factor(self.scale).is_finite() {
            return argument("scale", self.scale, "a finite number below 2e38 in size");
        }
        Ok(())
    }
}
