//! What every checkpoint holds, whatever its container: a configuration, tensors, a tokenizer.

use std::path::{Path, PathBuf};

use crate::Tokenizer;
use crate::chat::Home;
use crate::error::{Error, Result};
use crate::families::{Build, Entry};
use crate::weights::{Choice, Weights};
use crate::{folder, gguf};

/// A checkpoint taken apart, before any family has built a model of it.
pub(crate) struct Checkpoint {
    /// What it calls itself.
    pub(crate) name: String,
    pub(crate) family: &'static Entry,
    /// Makes a model of the configuration that was read. Families know nothing of containers.
    pub(crate) build: Build,
    pub(crate) weights: Weights,
    pub(crate) tokenizer: Tokenizer,
    /// How it reads conversations.
    pub(crate) template: Home,
    /// The files that hold the weights, in order.
    pub(crate) files: Vec<PathBuf>,
}

/// The family of a checkpoint, as far as a look at its first bytes tells; none where it cannot be known so cheaply.
pub(crate) fn family(path: &Path) -> Option<&'static Entry> {
    if path.is_dir() { folder::family(path) } else { gguf::family(path) }
}

/// Opens a Hugging Face folder or a GGUF file.
///
/// # Errors
/// If it is missing, broken, or of an architecture that is not known.
pub(crate) fn open(path: &Path, weights: Choice) -> Result<Checkpoint> {
    if path.is_dir() {
        weights.of_folder(path)?;
        folder::open(path)
    } else if path.is_file() {
        gguf::open(path, weights)
    } else {
        Err(Error::file(path, "no such file or folder"))
    }
}
