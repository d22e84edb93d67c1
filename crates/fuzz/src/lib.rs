//! Bad input, made by the million: whatever a file holds, its reader answers with a value or an error, in little time and
//! memory that goes with the file's size. `attnscope-fuzz TARGET --runs N --seed S`.
//!
//! A worker process reads one input after another; its parent watches it, so that an abort, an overflown stack or a loop
//! without end costs one input and not the hunt. An input follows from the seed and its number alone.

pub mod hunt;
pub mod input;
pub mod memory;
mod mutate;
mod random;
pub mod target;
pub mod worker;
