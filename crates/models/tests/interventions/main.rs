//! Runs that are cut into, over every tiny checkpoint: what a cut must equal, what it must leave alone, and what it is
//! said to have changed.

mod cached;
mod cuts;
mod effects;
mod means;
mod patterns;
mod refused;
mod support;
