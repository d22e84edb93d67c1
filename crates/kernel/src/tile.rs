//! The parts of the tile loop: what happens to one panel of queries and one block of keys.

pub(crate) mod accumulate;
pub(crate) mod adjust;
pub(crate) mod hide;
pub(crate) mod pack;
pub(crate) mod quads;
pub(crate) mod rows;
pub(crate) mod scores;
pub(crate) mod softmax;
pub(crate) mod watch;

/// Keys in a block: its scores stay in the first-level cache.
pub(crate) const BLOCK_KV: usize = 64;
