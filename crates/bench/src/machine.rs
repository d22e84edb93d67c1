//! What this machine does at best, with the threads of the run.

mod bandwidth;
mod peak;
mod sgemm;

pub(crate) use bandwidth::Bandwidth;
pub(crate) use peak::Peak;
pub(crate) use sgemm::Sgemm;

/// Something that can be run for its rate.
pub(crate) trait Limit {
    /// Operations, or bytes, of one run.
    fn work(&self) -> f64;
    /// Runs once.
    fn once(&mut self);
}
