//! What every checkpoint holds, whatever its container: a configuration, tensors, a tokenizer.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::Tokenizer;
use crate::error::{Error, Result};
use crate::families::{bert, llama};
use crate::weights::Weights;
use crate::{folder, gguf};

/// A checkpoint taken apart, before any family has built a model of it.
pub(crate) struct Checkpoint {
    /// What it calls itself.
    pub(crate) name: String,
    /// The configuration, in its family's terms.
    pub(crate) config: Config,
    pub(crate) weights: Weights,
    pub(crate) tokenizer: Tokenizer,
    /// The files that hold the weights, in order.
    pub(crate) files: Vec<PathBuf>,
}

/// One variant a family. Containers translate into these; families know nothing of containers.
pub(crate) enum Config {
    Llama(llama::Config),
    Bert(bert::Config),
}

/// The architectures that can be opened, as their configurations name them.
pub(crate) const KNOWN: &str = "llama (LlamaForCausalLM; GGUF llama), bert (BertModel)";

/// The family of a checkpoint, as far as a look at its first bytes tells; none where it cannot be known so cheaply.
pub(crate) fn family(path: &Path) -> Option<&'static str> {
    if path.is_dir() {
        return folder::family(path);
    }
    let mut start = [0; 4];
    File::open(path).ok().filter(|_| path.is_file())?.read_exact(&mut start).ok()?;
    // The only family of GGUF files that is known so far.
    (&start == b"GGUF").then_some("llama")
}

/// Opens a Hugging Face folder or a GGUF file.
///
/// # Errors
/// If it is missing, broken, or of an architecture that is not known.
pub(crate) fn open(path: &Path) -> Result<Checkpoint> {
    if path.is_dir() {
        folder::open(path)
    } else if path.is_file() {
        gguf::open(path)
    } else {
        Err(Error::file(path, "no such file or folder"))
    }
}
