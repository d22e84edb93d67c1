//! The parts of the tile loop: what happens to one panel of queries and one block of keys.

pub(crate) mod accumulate;
pub(crate) mod adjust;
pub(crate) mod edges;
pub(crate) mod gradient;
pub(crate) mod hide;
pub(crate) mod pack;
pub(crate) mod quads;
pub(crate) mod rows;
pub(crate) mod scores;
pub(crate) mod softmax;
pub(crate) mod soon;
pub(crate) mod spread;
pub(crate) mod strips;
pub(crate) mod watch;

/// Keys in a block: its scores stay in the first-level cache.
pub(crate) const BLOCK_KV: usize = 64;

/// Queries in a block of the backward pass, whatever the instruction set.
pub(crate) const BACK_Q: usize = 64;

/// Keys in one: with the queries, two squares of numbers that stay near.
pub(crate) const BACK_KV: usize = 64;
