//! The kernel's speed against this machine's own limits, measured in one run: what its cores multiply and add at best,
//! what a good matrix product reaches of that, how fast its memory is read; then each case of attention beside them.
//!
//! A ratio to the peak says more than a rate does: it travels from one machine to the next. Clocks drift, so the
//! limits are measured again beside every case, and a sample during which other processes used the machine is taken
//! again.

mod case;
mod cases;
mod chart;
mod curve;
mod disturbance;
mod error;
mod inputs;
mod limits;
mod machine;
mod measure;
mod report;
mod run;
mod work;

pub use case::{Case, Once, Shape};
pub use cases::cases;
pub use chart::chart;
pub use curve::Point;
pub use error::Error;
pub use report::{Machine, Measured, Rate, Report};
pub use run::{Options, run};
pub use work::Work;
