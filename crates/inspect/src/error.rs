use std::path::PathBuf;

use thiserror::Error;

/// Why a question or a file was refused: what, where, and what to do.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// A layer, head, query or key that is not there.
    #[error("{what} {got} is out of range: {range}")]
    OutOfRange {
        /// `layer`, `head`, `query` or `key`.
        what: &'static str,
        /// What was asked for.
        got: usize,
        /// What there is, in words.
        range: String,
    },
    /// The trace has no attention of the kind asked for.
    #[error("this trace has no {0} attention")]
    NoSite(&'static str),
    /// A token name that does not occur.
    #[error("no token reads {name:?}; the tokens are {tokens}")]
    NoToken {
        /// What was asked for.
        name: String,
        /// The tokens there are, shortened.
        tokens: String,
    },
    /// A token name that occurs more than once.
    #[error("{name:?} occurs {} times, at positions {}; give the position instead", positions.len(), join(positions))]
    AmbiguousToken {
        /// What was asked for.
        name: String,
        /// Where it occurs.
        positions: Vec<usize>,
    },
    /// A file that is not a trace, or not a whole one.
    #[error("{}: {problem}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong with it, and what to do.
        problem: String,
    },
    /// A trace put together from pieces that do not fit.
    #[error("{site}: {problem}")]
    Site {
        /// Which site.
        site: String,
        /// What does not fit.
        problem: attnscope_kernel::Error,
    },
    /// A trace with two attentions under one name.
    #[error("layer {layer} {kind} occurs twice; each layer has one attention of a kind")]
    Twice {
        /// `self`, `cross` or `encoder`.
        kind: &'static str,
        /// The layer, from 0.
        layer: usize,
    },
    /// The kernel refused.
    #[error(transparent)]
    Kernel(#[from] attnscope_kernel::Error),
}

fn join(positions: &[usize]) -> String {
    let words: Vec<String> = positions.iter().map(usize::to_string).collect();
    words.join(", ")
}
