use std::path::{Path, PathBuf};

use thiserror::Error;

/// Why a model could not be opened or run: what, where, and what to do.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// A file or folder that is missing, broken, or not what it should be.
    #[error("{}: {problem}", path.display())]
    File {
        /// Which one.
        path: PathBuf,
        /// What is wrong, and what to do.
        problem: String,
    },
    /// A text that cannot be read by this model.
    #[error("{0}")]
    Text(String),
    /// A question about a trace was refused.
    #[error(transparent)]
    Inspect(#[from] attnscope_inspect::Error),
    /// The run was stopped by whoever asked for it.
    #[error("stopped")]
    Stopped,
    /// The linear algebra failed.
    #[error("the model could not be run: {0}")]
    Compute(#[from] candle_core::Error),
}

impl Error {
    pub(crate) fn file(path: &Path, problem: impl Into<String>) -> Self {
        Self::File { path: path.to_owned(), problem: problem.into() }
    }
}

/// Shorthand of this crate.
pub(crate) type Result<T, E = Error> = std::result::Result<T, E>;
