//! Every route, asked through the router as a browser would ask.

mod guarded;
mod limits;
mod models;
mod page;
mod questions;
mod served;
mod small_model;
mod sources;
mod support;
mod traces;
mod worked;
