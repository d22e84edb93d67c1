//! Pictures of attention, and its numbers as files: tokens as readable text, maps in the terminal, and [`export`] to PNG,
//! SVG, HTML, CSV, JSON and npz. Knows nothing of models or HTTP.

mod error;
mod escape;
mod export;
mod numbers;
mod paint;
mod picture;
mod readable;
mod terminal;

pub use error::Error;
pub use export::{Exported, Format, What, export, export_while};
pub use paint::{Palette, Theme};
pub use picture::{Blocks, CAVEAT, Choice, LeftOut, Only, Place, Scale, Statistic, Style, Top};
pub use readable::{fit, readable};
pub use terminal::{Colour, bar, heat_map};
