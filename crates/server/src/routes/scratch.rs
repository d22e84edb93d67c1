//! Sums made for the lesson: by the same kernel, on numbers that no trace holds.

mod bill;
mod example;
mod gradient;
mod scale;

pub(super) use bill::bill;
pub(super) use example::example;
pub(super) use gradient::gradient;
pub(super) use scale::scale;
