use thiserror::Error;

/// Why something was not exported: what, where, and what to do.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// The trace has no answer.
    #[error(transparent)]
    Question(#[from] attnscope_inspect::Error),
    /// A range of queries or keys that is empty or reaches beyond the text.
    #[error("{what} {start}..{end}: give a range from its first to the one after its last, within 0..{len}")]
    Range {
        /// `queries` or `keys`.
        what: &'static str,
        /// Its first.
        start: usize,
        /// The one after its last.
        end: usize,
        /// How many there are.
        len: usize,
    },
    /// Numbers that would fill a disk, or memory.
    #[error("{cells} weights are too many for one file; choose ranges of queries and keys of at most {most}")]
    TooManyCells {
        /// How many were asked for.
        cells: usize,
        /// How many there may be.
        most: usize,
    },
    /// A picture that no viewer would open.
    #[error("a picture of {width} x {height} pixels is too large; choose smaller cells or a lower resolution")]
    TooManyPixels {
        /// Across.
        width: usize,
        /// Down.
        height: usize,
    },
    /// A size of cells that cannot be drawn.
    #[error("cells of {0} pixels cannot be drawn; choose from 0.25 to 200")]
    CellSize(f32),
    /// A resolution that cannot be drawn.
    #[error("{0} dots to the inch cannot be drawn; choose from 36 to {max}", max = crate::paint::MAX_DPI)]
    Resolution(u32),
    /// A file's name without an ending.
    #[error("the file's name has no ending that says what it becomes; it may be png, svg, html, npz, json or csv")]
    NoEnding,
    /// A file's ending that names no format.
    #[error("the ending {0:?} is not known; it may be png, svg, html, npz, json or csv")]
    Ending(String),
    /// A format's own writer failed, which it does not on memory.
    #[error("the file could not be put together: {0}")]
    Write(String),
}

/// Writers into memory do not fail; should one, it is said.
macro_rules! write_errors {
    ($($error:ty),*) => {
        $(impl From<$error> for Error {
            fn from(error: $error) -> Self {
                Self::Write(error.to_string())
            }
        })*
    };
}

write_errors!(std::fmt::Error, std::io::Error, png::EncodingError, serde_json::Error, zip::result::ZipError);
