//! Every route, asked through the router as a browser would ask, and through a socket where that matters.

mod access;
mod columns;
mod described;
mod exported;
mod guarded;
mod leaving;
mod lesson;
mod limits;
mod maps;
mod models;
mod packed;
mod page;
mod questions;
#[cfg(unix)]
mod queue;
mod readers;
mod schema;
mod scratch;
mod served;
mod small_model;
mod socket;
mod sources;
mod studies;
mod support;
mod traces;
mod worked;
