use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::generate::Continuation;
use crate::hub::HubId;

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
    /// A model of the Hub that is not to be had.
    #[error("{id}: {problem}")]
    Hub {
        /// Which one.
        id: String,
        /// What is wrong, and what to do.
        problem: String,
    },
    /// A text that cannot be read by this model.
    #[error("{0}")]
    Text(String),
    /// A text that is longer than this model reads; see [`Model::truncate`](crate::Model::truncate).
    #[error("the text has {len} tokens, but this model reads at most {context}; shorten it")]
    TooLong {
        /// How many tokens it has.
        len: usize,
        /// How many the model reads.
        context: usize,
    },
    /// A question about a trace was refused.
    #[error(transparent)]
    Inspect(#[from] attnscope_inspect::Error),
    /// A text that went on broke off, or its trace could not be put together.
    #[error("{why} (new tokens until then: {})", made.ids.len())]
    BrokenOff {
        /// What there is of it.
        made: Box<Continuation>,
        /// Why there is no more.
        why: Box<Error>,
    },
    /// The run was stopped by whoever asked for it.
    #[error("stopped")]
    Stopped,
    /// The linear algebra failed, in its own words.
    #[error("the model could not be run: {0}")]
    Compute(String),
}

impl From<candle_core::Error> for Error {
    fn from(error: candle_core::Error) -> Self {
        Self::Compute(reason(&error))
    }
}

impl Error {
    pub(crate) fn hub(id: &HubId, problem: impl Into<String>) -> Self {
        Self::Hub { id: id.to_string(), problem: attnscope_inspect::fit_to_show(&problem.into()) }
    }

    pub(crate) fn file(path: &Path, problem: impl Into<String>) -> Self {
        Self::File { path: path.to_owned(), problem: attnscope_inspect::fit_to_show(&problem.into()) }
    }
}

/// candle's own words, in one line. Its errors carry a backtrace where RUST_BACKTRACE is set, and would print it.
pub(crate) fn reason(error: &candle_core::Error) -> String {
    use candle_core::Error as Candle;
    match error {
        Candle::WithBacktrace { inner, .. } => reason(inner),
        Candle::WithPath { inner, path } => format!("{}: {}", path.display(), reason(inner)),
        Candle::Context { inner, context } => format!("{context}: {}", reason(inner)),
        other => other.to_string().split_whitespace().collect::<Vec<_>>().join(" "),
    }
}

/// Shorthand of this crate.
pub(crate) type Result<T, E = Error> = std::result::Result<T, E>;
