use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use attnscope_inspect::{Model as About, Trace};
use candle_core::Tensor;
use sha2::{Digest, Sha256};

use crate::Tokenizer;
use crate::attend::{Cache, Keep, Run};
use crate::checkpoint::{self, Checkpoint};
use crate::error::{Error, Result};
use crate::families::{Entry, Family};
use crate::gguf_name;

/// Said where there are no ids.
const NOTHING: &str = "there is no token to read";

/// A model with its tokenizer, ready to read texts.
pub struct Model {
    name: String,
    entry: &'static Entry,
    family: Box<dyn Family>,
    tokenizer: Tokenizer,
    files: Vec<PathBuf>,
    sha256: OnceLock<Option<String>>,
}

/// Sizes of a model that every family has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Number of token ids.
    pub vocab: usize,
    /// Number of layers.
    pub layers: usize,
    /// Query heads of each layer.
    pub q_heads: usize,
    /// Longest text, in tokens.
    pub context: usize,
    /// Whether a token is kept from those after it.
    pub causal: bool,
}

/// What a model is asked to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Prompt {
    /// A text, for the model's tokenizer.
    Text(String),
    /// Token ids, taken as they are.
    Ids(Vec<u32>),
}

impl Model {
    /// Opens a Hugging Face folder or a GGUF file.
    ///
    /// # Errors
    /// If it is missing, broken, of an architecture that is not known, or contradicts itself.
    pub fn open(path: &Path) -> Result<Self> {
        let Checkpoint { name, family: entry, build, weights, tokenizer, files } = checkpoint::open(path)?;
        let family = build(&weights)?;
        let (has, knows) = (family.shape().vocab, tokenizer.vocab());
        if knows > has {
            let problem = format!("its tokenizer has {knows} tokens, but the model only {has}");
            return Err(Error::file(path, problem));
        }
        Ok(Self { name, entry, family, tokenizer, files, sha256: OnceLock::new() })
    }

    /// The family of a checkpoint and whether it is causal, from a look at it; none where only opening it would tell.
    pub fn glance(path: &Path) -> Option<(&'static str, bool)> {
        let entry = checkpoint::family(path)?;
        Some((entry.family, entry.causal))
    }

    /// What a GGUF file calls itself in its header, fit to be shown, from a look at its beginning; none where that does
    /// not tell.
    pub fn glance_name(path: &Path) -> Option<String> {
        gguf_name::name(path)
    }

    /// What it calls itself.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its family, as [`FAMILIES`](crate::families::FAMILIES) names it.
    pub fn family(&self) -> &'static str {
        self.entry.family
    }

    /// Its sizes.
    pub fn shape(&self) -> Shape {
        self.family.shape()
    }

    /// Its tokenizer.
    pub fn tokenizer(&self) -> &Tokenizer {
        &self.tokenizer
    }

    /// SHA-256 of its weights, computed at the first call; none if a file cannot be read any more.
    pub fn sha256(&self) -> Option<&str> {
        self.sha256.get_or_init(|| hash(&self.files).ok()).as_deref()
    }

    /// The ids of a prompt, checked: something to read, nothing beyond the vocabulary or the context.
    ///
    /// # Errors
    /// Saying which of these it is, and the numbers.
    pub fn ids(&self, prompt: &Prompt) -> Result<Vec<u32>> {
        let Shape { vocab, context, .. } = self.shape();
        let ids = match prompt {
            Prompt::Text(text) if text.trim().is_empty() => {
                return Err(Error::Text("the text is empty; give one with --text or --file".to_owned()));
            }
            Prompt::Text(text) => self.tokenizer.encode(text)?,
            Prompt::Ids(ids) => ids.clone(),
        };
        if ids.is_empty() {
            return Err(Error::Text(NOTHING.to_owned()));
        }
        if let Some(id) = ids.iter().find(|id| **id as usize >= vocab) {
            return Err(Error::Text(format!("token {id} is beyond the vocabulary: ids are 0 to {}", vocab - 1)));
        }
        if ids.len() > context {
            return Err(too_long(ids.len(), context));
        }
        Ok(ids)
    }

    /// Reads a prompt and keeps its attention. `progress` is called after each layer with (done, in all), and stops
    /// the run when it returns false.
    ///
    /// # Errors
    /// If the prompt cannot be read, or the run was stopped.
    pub fn trace(
        &self,
        prompt: &Prompt,
        keep: Keep,
        progress: &(dyn Fn(usize, usize) -> bool + Sync),
    ) -> Result<Trace> {
        let ids = self.ids(prompt)?;
        let mut run = Run { progress, ..Run::keeping(keep) };
        self.hidden(&ids, &mut run)?;
        let text = match prompt {
            Prompt::Text(text) => text.clone(),
            Prompt::Ids(ids) => self.tokenizer.decode(ids)?,
        };
        let about = About { name: self.name.clone(), family: self.entry.family.to_owned(), ..About::default() };
        Ok(Trace::new(about, text, self.tokenizer.tokens(&ids), run.sites)?)
    }

    /// The vectors of every token after the last layer and its norm, (len, hidden). `ids` follow what the run's
    /// cache holds.
    ///
    /// # Errors
    /// If the run fails or was stopped, the tokens are more than the model reads, or a cache is given where none can
    /// be. The cache is then what it was.
    pub fn hidden(&self, ids: &[u32], run: &mut Run) -> Result<Tensor> {
        if ids.is_empty() {
            return Err(Error::Text(NOTHING.to_owned()));
        }
        let (before, Shape { context, causal, .. }) = (run.offset(), self.shape());
        if before + ids.len() > context {
            return Err(too_long(before + ids.len(), context));
        }
        if run.cache.is_some() && (!causal || run.deaf || matches!(run.keep, Keep::Only(_))) {
            let why = "a cache serves causal models only, in runs through all layers with all their attention";
            return Err(Error::Text(why.to_owned()));
        }
        let hidden = self.family.hidden(ids, run);
        if let (Err(_), Some(cache)) = (&hidden, &mut run.cache) {
            cache.truncate(before);
        }
        hidden
    }

    /// The logits of the token that follows the last of `ids`, (vocab). Logits are computed for that position alone.
    ///
    /// # Errors
    /// If the model has no language head, or the run fails.
    pub fn next_logits(&self, ids: &[u32], cache: &mut Cache) -> Result<Vec<f32>> {
        let headless = || {
            let name = &self.name;
            Error::Text(format!("{name} has no language head: it reads texts but cannot go on with one"))
        };
        if !self.shape().causal {
            return Err(headless());
        }
        let mut run = Run { cache: Some(cache), ..Run::keeping(Keep::Nothing) };
        let hidden = self.hidden(ids, &mut run)?;
        let last = hidden.narrow(0, hidden.dim(0)? - 1, 1)?;
        Ok(self.family.logits(&last)?.ok_or_else(headless)?.flatten_all()?.to_vec1()?)
    }

    /// The scores of every token of the vocabulary at each position, (n, vocab): of the next token in a causal model, of the
    /// token itself in one that was trained to name masked words. `hidden` is (n, hidden), from [`Model::hidden`].
    ///
    /// # Errors
    /// If the model has no head for that.
    pub fn logits(&self, hidden: &Tensor) -> Result<Tensor> {
        self.family.logits(hidden)?.ok_or_else(|| {
            let name = &self.name;
            Error::Text(format!("{name} has no head that names words: it gives the vectors of its last layer only"))
        })
    }
}

fn too_long(len: usize, context: usize) -> Error {
    Error::Text(format!("the text has {len} tokens, but this model reads at most {context}; shorten it"))
}

fn hash(files: &[PathBuf]) -> std::io::Result<String> {
    let mut hasher = Sha256::new();
    for file in files {
        std::io::copy(&mut std::fs::File::open(file)?, &mut hasher)?;
    }
    Ok(hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}
