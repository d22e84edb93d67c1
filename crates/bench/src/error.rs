use thiserror::Error;

/// Why there are no figures.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// No case has the words that were asked for.
    #[error("no case is called {only:?}; there are: {names}")]
    NoCase {
        /// What was asked for.
        only: String,
        /// What there is.
        names: String,
    },
    /// The kernel refused a case.
    #[error(transparent)]
    Kernel(#[from] attnscope_kernel::Error),
}
