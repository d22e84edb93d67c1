use thiserror::Error;

/// Why the kernel refused its arguments. Nothing is computed when one is returned.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum Error {
    /// An argument has a size or value that does not fit the others.
    #[error("{argument} is {got}, but must be {want}")]
    Argument {
        /// The argument's name.
        argument: &'static str,
        /// What it was.
        got: String,
        /// What it must be.
        want: String,
    },
}

/// Shorthand for [`Error::Argument`].
pub(crate) fn argument<T>(argument: &'static str, got: impl ToString, want: impl ToString) -> Result<T, Error> {
    Err(Error::Argument { argument, got: got.to_string(), want: want.to_string() })
}

/// An index must lie below `len`.
pub(crate) fn in_range(name: &'static str, index: usize, len: usize) -> Result<(), Error> {
    if index < len {
        return Ok(());
    }
    match len {
        0 => argument(name, index, "nothing: there are none"),
        _ => argument(name, index, format!("0 to {}", len - 1)),
    }
}
