use std::fmt;

use crate::Error;

/// Whether an answer is still wanted. Work that looks at many weights asks before each block of rows, from all of its
/// threads, so that it ends soon after whoever asked has left; it also waits there for as long as the asking takes,
/// which lets others go first.
#[derive(Clone, Copy)]
pub struct Wanted<'a>(&'a (dyn Fn() -> bool + Sync));

impl<'a> Wanted<'a> {
    /// To the end.
    pub const ALWAYS: Wanted<'static> = Wanted(&|| true);

    /// For as long as this says so.
    pub fn while_true(still: &'a (dyn Fn() -> bool + Sync)) -> Self {
        Self(still)
    }

    /// # Errors
    /// If it is wanted no longer.
    pub fn check(self) -> Result<(), Error> {
        if (self.0)() { Ok(()) } else { Err(Error::NotWanted) }
    }
}

impl fmt::Debug for Wanted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Wanted")
    }
}
