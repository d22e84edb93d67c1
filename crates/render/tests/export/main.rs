//! What is exported is what the trace says, in every format, and text in it stays text.

mod arrays;
mod pictures;
mod spreadsheets;
mod support;
mod whole;
