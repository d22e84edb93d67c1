//! Pictures of attention: tokens as readable text, and maps in the terminal. Knows nothing of models or HTTP.

mod readable;
mod terminal;

pub use readable::{fit, readable};
pub use terminal::{Colour, bar, heat_map};
