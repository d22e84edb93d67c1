//! The numbers themselves, at full precision, in the forms that other tools read.

mod csv;
mod grid;
mod html;
mod json;
mod npy;
mod npz;

pub(crate) use csv::{cell_csv, column_csv, heads_csv, map_csv, row_csv};
pub(crate) use grid::Grid;
pub(crate) use html::{MOST_IN_TABLE, heads_page, picture_page};
pub(crate) use json::{document, map_json};
pub(crate) use npz::{cell_npz, column_npz, heads_npz, map_npz, row_npz};
