use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use attnscope_inspect::{Model as About, Trace, fit_to_show};
use candle_core::Tensor;
use sha2::{Digest, Sha256};

use crate::Tokenizer;
use crate::attend::{Keep, Run};
use crate::awake::awake;
use crate::cache::Cache;
use crate::chat::{Chat, Home};
use crate::checkpoint::{self, Checkpoint};
use crate::error::{Error, Result};
use crate::families::{Entry, Family};
use crate::gguf;
use crate::intervene::Interventions;
use crate::weights::{Choice, Form, Kept};

/// Said where there are no ids.
const NOTHING: &str = "there is no token to read";

/// A model with its tokenizer, ready to read texts.
pub struct Model {
    name: String,
    entry: &'static Entry,
    pub(crate) family: Box<dyn Family>,
    tokenizer: Tokenizer,
    /// How its weights are kept, where its file has them quantised.
    kept: Option<Kept>,
    template: Home,
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
    /// Longest text, in tokens; [`Shape::ENDLESS`] where there are no positions that could run out.
    pub context: usize,
    /// Whether a token is kept from those after it.
    pub causal: bool,
}

impl Shape {
    /// No bound on a text's length but memory, small enough that sums of lengths do not overflow.
    pub const ENDLESS: usize = 1 << 30;
}

/// What a model is asked to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Prompt {
    /// A text, for the model's tokenizer.
    Text(String),
    /// Token ids, taken as they are.
    Ids(Vec<u32>),
    /// Two texts read as one, as the model's tokenizer puts them together; models of one text only.
    Pair(String, String),
    /// Token ids with what is known of each.
    Tokens(Reading),
    /// A conversation, put together by the model's own chat template.
    Chat(Chat),
    /// A text, or a pair of them, without the marks that the model expects around it; also within
    /// [`Prompt::Halves`].
    Unmarked(Box<Prompt>),
    /// For an encoder-decoder: what its encoder reads, and what its decoder does. A text for the decoder is read as in
    /// training, after the mark that begins one and without the mark that ends one; ids are taken as they are.
    Halves {
        /// For the encoder.
        encoder: Box<Prompt>,
        /// For the decoder.
        decoder: Box<Prompt>,
    },
}

/// Tokens to read, and what is known of each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// Their ids.
    pub ids: Vec<u32>,
    /// Which sentence each is of, from 0; none where all are of the first.
    pub types: Option<Vec<u32>>,
    /// Which are tokens and no padding; none where all are.
    pub real: Option<Vec<bool>>,
}

impl Prompt {
    /// Whether there is a text, and nothing in it.
    fn is_empty(&self) -> bool {
        match self {
            Self::Text(text) => text.trim().is_empty(),
            Self::Pair(first, second) => first.trim().is_empty() || second.trim().is_empty(),
            Self::Chat(chat) => chat.turns.last().is_none_or(|turn| turn.content.trim().is_empty()),
            Self::Unmarked(prompt) => prompt.is_empty(),
            Self::Ids(_) | Self::Tokens(_) | Self::Halves { .. } => false,
        }
    }
}

impl Model {
    /// Opens a Hugging Face folder or a GGUF file.
    ///
    /// # Errors
    /// If it is missing, broken, of an architecture that is not known, or contradicts itself.
    pub fn open(path: &Path) -> Result<Self> {
        Self::open_with(path, Choice::default())
    }

    /// The same with quantised weights in the form that is asked for.
    ///
    /// # Errors
    /// As [`Model::open`], and if it has no quantised weights where those are asked for.
    pub fn open_with(path: &Path, weights: Choice) -> Result<Self> {
        let checkpoint = checkpoint::open(path, weights)?;
        let Checkpoint { name, family: entry, build, weights, tokenizer, template, files } = checkpoint;
        let family = build(&weights)?;
        weights.all_read()?;
        let kept = weights.kept();
        if let Some(kept) = &kept {
            let name = fit_to_show(&name);
            match kept.form {
                Form::F32 => tracing::info!("{name}: {kept}"),
                // The numbers are then not those of the weights alone, so it is said unasked.
                Form::Quantised => tracing::warn!("{name}: {kept}"),
            }
        }
        let (has, knows) = (family.shape().vocab, tokenizer.vocab());
        if knows > has {
            let problem = format!("its tokenizer has {knows} tokens, but the model only {has}");
            return Err(Error::file(path, problem));
        }
        Ok(Self { name, entry, family, tokenizer, kept, template, files, sha256: OnceLock::new() })
    }

    /// The family of a checkpoint and whether it is causal, from a look at it; none where only opening it would tell.
    pub fn glance(path: &Path) -> Option<(&'static str, bool)> {
        let entry = checkpoint::family(path)?;
        Some((entry.family, entry.causal))
    }

    /// What a GGUF file calls itself in its header, fit to be shown, from a look at its beginning; none where that does
    /// not tell.
    pub fn glance_name(path: &Path) -> Option<String> {
        gguf::name(path)
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

    /// How its weights are kept, where its file has them quantised.
    pub fn kept(&self) -> Option<&Kept> {
        self.kept.as_ref()
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
        Ok(self.reading(prompt)?.ids)
    }

    /// The tokens of a prompt, checked likewise; of an encoder-decoder's two, the encoder's.
    ///
    /// # Errors
    /// As [`Model::ids`].
    pub fn reading(&self, prompt: &Prompt) -> Result<Reading> {
        let reading = self.unchecked(prompt)?;
        self.check_ids(&reading.ids)?;
        Ok(reading)
    }

    /// The same, however many they are.
    pub(crate) fn unchecked(&self, prompt: &Prompt) -> Result<Reading> {
        Ok(match prompt {
            prompt if prompt.is_empty() => {
                return Err(Error::Text("the text is empty; give one with --text or --file".to_owned()));
            }
            Prompt::Chat(chat) => {
                Reading { ids: self.tokenizer.encode_unmarked(&self.chat(chat)?)?, ..Reading::default() }
            }
            Prompt::Unmarked(prompt) => self.unmarked(prompt)?,
            Prompt::Text(text) => Reading { ids: self.tokenizer.encode(text)?, ..Reading::default() },
            Prompt::Ids(ids) => Reading { ids: ids.clone(), ..Reading::default() },
            Prompt::Pair(first, second) => {
                self.check_pairs()?;
                self.of_two(self.tokenizer.encode_pair(first, second)?)
            }
            Prompt::Tokens(reading) => reading.clone(),
            Prompt::Halves { encoder, .. } => self.unchecked(encoder)?,
        })
    }

    /// The tokens of a prompt without marks around it.
    fn unmarked(&self, prompt: &Prompt) -> Result<Reading> {
        Ok(match prompt {
            Prompt::Text(text) => Reading { ids: self.tokenizer.encode_unmarked(text)?, ..Reading::default() },
            Prompt::Pair(first, second) => {
                self.check_pairs()?;
                self.of_two(self.tokenizer.encode_pair_unmarked(first, second)?)
            }
            _ => return Err(Error::Text("marks are left out of a text, or of a pair of them, alone".to_owned())),
        })
    }

    /// That it can be given two texts as one. A decoder goes on with what stands before, and no mark says to it that a text is
    /// another; the same goes for whatever knows no types of tokens and has a tokenizer that puts nothing between the two.
    pub(crate) fn check_pairs(&self) -> Result<()> {
        let why = if self.shape().causal && self.family.encoder().is_none() {
            "is a decoder"
        } else if self.family.types() == 1 && !self.tokenizer.knows_pairs() {
            "has a tokenizer that puts no mark between two texts"
        } else {
            return Ok(());
        };
        let name = &self.name;
        Err(Error::Text(format!(
            "{name} {why}: it reads one text and no pairs; leave out --second, or put both into one text"
        )))
    }

    fn of_two(&self, (ids, types): (Vec<u32>, Vec<u32>)) -> Reading {
        // A tokenizer numbers the two also for models that do not tell them apart.
        Reading { ids, types: (self.family.types() > 1).then_some(types), real: None }
    }

    /// The text that a conversation is to this model, by its own chat template.
    ///
    /// # Errors
    /// If it has none, or that refuses the conversation, or does not come to an end.
    pub fn chat(&self, chat: &Chat) -> Result<String> {
        self.template.open()?.render(chat)
    }

    /// Something to read, nothing beyond the vocabulary or the context.
    pub(crate) fn check_ids(&self, ids: &[u32]) -> Result<()> {
        let Shape { vocab, context, .. } = self.shape();
        if ids.is_empty() {
            return Err(Error::Text(NOTHING.to_owned()));
        }
        if let Some(id) = ids.iter().find(|id| **id as usize >= vocab) {
            return Err(Error::Text(format!("token {id} is beyond the vocabulary: ids are 0 to {}", vocab - 1)));
        }
        if ids.len() > context {
            return Err(Error::TooLong { len: ids.len(), context });
        }
        Ok(())
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
        self.trace_with(&self.texts(prompt, progress)?, Interventions::NONE, keep, progress)
    }

    /// That what is known of tokens is known of each, and means something to this model.
    pub(crate) fn check_known(&self, len: usize, run: &Run) -> Result<()> {
        let (types, real) = (run.types.as_deref(), run.real.as_deref());
        for (what, known) in [("token types", types.map(<[u32]>::len)), ("marks of padding", real.map(<[bool]>::len))] {
            if let Some(known) = known.filter(|known| *known != len) {
                return Err(Error::Text(format!("{len} tokens have {known} {what}")));
            }
        }
        let known = self.family.types();
        match types.and_then(|types| types.iter().find(|of| **of as usize >= known)) {
            None => Ok(()),
            Some(_) if known == 1 => Err(Error::Text("this model knows no token types; leave them out".to_owned())),
            Some(wrong) => {
                let last = known - 1;
                Err(Error::Text(format!("token type {wrong} is out of range: this model knows types 0 to {last}")))
            }
        }
    }

    /// What a trace says of it.
    pub(crate) fn about(&self) -> About {
        About { name: self.name.clone(), family: self.entry.family.to_owned(), ..About::default() }
    }

    /// The text of a prompt, or of the ids that it is.
    pub(crate) fn text_of(&self, prompt: &Prompt, ids: &[u32]) -> Result<String> {
        match prompt {
            Prompt::Text(text) => Ok(text.clone()),
            Prompt::Pair(first, second) => Ok(format!("{first} {second}")),
            Prompt::Chat(chat) => self.chat(chat),
            Prompt::Unmarked(prompt) => self.text_of(prompt, ids),
            _ => self.tokenizer.decode(ids),
        }
    }

    /// The vectors of every token after the last layer and its norm, (len, hidden). `ids` follow what the run's
    /// cache holds.
    ///
    /// # Errors
    /// If the run fails or was stopped, the tokens are more than the model reads, or a cache is given where none can
    /// be. The cache is then what it was.
    pub fn hidden(&self, ids: &[u32], run: &mut Run) -> Result<Tensor> {
        awake(|| self.pass(ids, run))
    }

    /// The same on a thread of the pool: from another, each product and each attention would be handed over and waited for.
    fn pass(&self, ids: &[u32], run: &mut Run) -> Result<Tensor> {
        if ids.is_empty() {
            return Err(Error::Text(NOTHING.to_owned()));
        }
        let (before, Shape { context, causal, layers, .. }) = (run.offset(), self.shape());
        if before + ids.len() > context {
            return Err(Error::TooLong { len: before + ids.len(), context });
        }
        let partly = run.real.is_some() || run.resume.is_some() || matches!(run.keep, Keep::Only(_));
        if run.cache.is_some() && (!causal || partly) {
            let why = "a cache serves causal models only, in runs through all layers and with no padding";
            return Err(Error::Text(why.to_owned()));
        }
        if let Some((layer, state)) = &run.resume
            && (*layer >= layers || state.dims().first() != Some(&ids.len()))
        {
            let (got, last) = (state.dims(), layers - 1);
            return Err(Error::Text(format!(
                "a run can begin at layers 0 to {last} with a vector for each of {} tokens, not at {layer} with {got:?}",
                ids.len()
            )));
        }
        self.check_known(ids.len(), run)?;
        run.interventions.check(self)?;
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
        self.next_logits_in(ids, &mut Run { cache: Some(cache), ..Run::keeping(Keep::Nothing) })
    }

    /// The same in a run that may keep more.
    pub(crate) fn next_logits_in(&self, ids: &[u32], run: &mut Run) -> Result<Vec<f32>> {
        let headless = || {
            let name = &self.name;
            Error::Text(format!("{name} has no language head: it reads texts but cannot go on with one"))
        };
        self.check_decoder()?;
        awake(|| {
            let hidden = self.pass(ids, run)?;
            let last = hidden.narrow(0, hidden.dim(0)? - 1, 1)?;
            Ok(self.family.head().ok_or_else(headless)?.logits(&last)?.flatten_all()?.to_vec1()?)
        })
    }

    /// That it is one that goes on with a text: a decoder, whether or not it has a language head.
    ///
    /// # Errors
    /// For an encoder, saying what it does instead.
    pub(crate) fn check_decoder(&self) -> Result<()> {
        if self.shape().causal {
            return Ok(());
        }
        let instead = match (self.family.head(), self.tokenizer.mask()) {
            (Some(_), Some(mask)) => {
                format!("it names masked words: `lens` says what it reads at the {mask} of a text")
            }
            _ => "it gives the vectors and the attention of a text: `show`, `row` and `heads` look at that".to_owned(),
        };
        let name = &self.name;
        Err(Error::Text(format!(
            "{name} is an encoder and no decoder: it cannot go on with a text; {instead}. To go on with one, open a decoder \
             (gpt2, llama) or an encoder-decoder (t5, bart)"
        )))
    }

    /// The scores of every token of the vocabulary at each position, (n, vocab): of the next token in a causal model, of the
    /// token itself in one that was trained to name masked words. `hidden` is (n, hidden), from [`Model::hidden`].
    ///
    /// # Errors
    /// If the model has no head for that.
    pub fn logits(&self, hidden: &Tensor) -> Result<Tensor> {
        let head = self.family.head().ok_or_else(|| {
            let name = &self.name;
            Error::Text(format!("{name} has no head that names words: it gives the vectors of its last layer only"))
        })?;
        head.logits(hidden)
    }
}

fn hash(files: &[PathBuf]) -> std::io::Result<String> {
    let mut hasher = Sha256::new();
    for file in files {
        std::io::copy(&mut std::fs::File::open(file)?, &mut hasher)?;
    }
    Ok(hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}
