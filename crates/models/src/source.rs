//! Whatever attention can be looked at: the worked example, a model, a trace file.

use std::io::ErrorKind;
use std::path::Path;

use attnscope_inspect::example::Example;
use attnscope_inspect::{Error as Refused, SiteKind, Trace};

use crate::attend::Keep;
use crate::error::{Error, Result};
use crate::hub::{Hub, HubId, Settings, Watch};
use crate::model::{Model, Prompt};
use crate::weights::Choice;

/// Read when no text is given.
pub const DEFAULT_TEXT: &str = "The robot carried the patient because it was tired.";

/// Something whose attention can be looked at.
pub enum Source {
    /// The built-in worked example.
    Example(Example),
    /// A model, which reads any text.
    Model(Box<Model>),
    /// A run that was kept.
    Trace(Trace),
}

/// What is asked of a source.
pub struct Ask<'a> {
    /// What to read; models only.
    pub prompt: Option<Prompt>,
    /// Causal or bidirectional; the example only, which is bidirectional by default.
    pub causal: Option<bool>,
    /// Which layers to keep.
    pub keep: Keep,
    /// Called after each layer with (done, in all); the run stops when it returns false.
    pub progress: &'a (dyn Fn(usize, usize) -> bool + Sync),
}

impl Default for Ask<'_> {
    fn default() -> Self {
        Self { prompt: None, causal: None, keep: Keep::All, progress: &|_, _| true }
    }
}

impl Source {
    /// `example`, a Hugging Face folder, a GGUF file, a trace file, or else a model of the Hub, which is fetched unless
    /// the cache has it.
    ///
    /// # Errors
    /// If there is no such thing, or it is broken, or is not to be had.
    pub fn open(name: &str) -> Result<Self> {
        Self::open_with(name, Choice::default(), &|_| true)
    }

    /// The same with a model's quantised weights in the form that is asked for; `watch` is told how the fetching goes.
    ///
    /// # Errors
    /// As [`Source::open`], if it has no quantised weights where those are asked for, and if `watch` ends it.
    pub fn open_with(name: &str, weights: Choice, watch: Watch) -> Result<Self> {
        let path = Path::new(name);
        if name == "example" {
            without_weights(path, weights)?;
            return Ok(Self::Example(Example::load()));
        }
        if let Some(id) = Self::on_the_hub(name) {
            let path = Hub::new(Settings::from_env()).bring(&id, watch)?;
            return Ok(Self::Model(Box::new(Model::open_with(&path, weights)?)));
        }
        if path.is_dir() {
            return Ok(Self::Model(Box::new(Model::open_with(path, weights)?)));
        }
        if !path.exists() {
            return Err(Error::file(
                path,
                "no such file or folder; a source is `example`, a model folder, a .gguf, a trace file, or a model of the \
                 Hub (gpt2, org/name)",
            ));
        }
        // Anything else, a pipe say, could keep us waiting for ever.
        if !path.is_file() {
            return Err(Error::file(path, "is neither a file nor a folder"));
        }
        if path.extension().is_some_and(|ending| ending == "safetensors") {
            without_weights(path, weights)?;
            return Ok(Self::Trace(Trace::open(path)?));
        }
        Ok(Self::Model(Box::new(Model::open_with(path, weights)?)))
    }

    /// The model of the Hub that a name means. Whatever is here by that name goes first.
    pub fn on_the_hub(name: &str) -> Option<HubId> {
        // Also a link that leads nowhere is no model of the Hub.
        let is_nothing = |error: std::io::Error| matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory);
        HubId::parse(name).filter(|_| Path::new(name).symlink_metadata().is_err_and(is_nothing))
    }

    /// That there is attention of a kind, and in a layer where one is named: to be asked before a model is run. `name` is what
    /// whoever asks calls the source.
    ///
    /// # Errors
    /// If there is none.
    pub fn check_site(&self, name: &str, kind: SiteKind, layer: Option<usize>) -> Result<()> {
        let has: Vec<(&'static str, usize)> = match self {
            Self::Example(_) => vec![(SiteKind::SelfAttention.name(), 1)],
            // Which layers a trace kept, its own answers say.
            Self::Trace(trace) => trace.kinds().into_iter().map(|kind| (kind, usize::MAX)).collect(),
            Self::Model(model) => model.attentions().iter().map(|has| (has.kind.name(), has.layers)).collect(),
        };
        let Some((_, layers)) = has.iter().find(|(has, _)| *has == kind.name()) else {
            let has = has.into_iter().map(|(kind, _)| kind).collect();
            return Err(Refused::NoSite { of: name.to_owned(), kind: kind.name(), has }.into());
        };
        match layer.filter(|layer| layer >= layers) {
            Some(got) => {
                let range = format!("there are layers 0 to {}", layers - 1);
                Err(Refused::OutOfRange { what: "layer", got, range }.into())
            }
            None => Ok(()),
        }
    }

    /// The trace of what is asked.
    ///
    /// # Errors
    /// If the source cannot do what is asked, or fails.
    pub fn trace(&self, ask: Ask) -> Result<Trace> {
        match self {
            Self::Example(example) => {
                fixed(&ask, "the worked example")?;
                Ok(example.trace(ask.causal.unwrap_or(false))?)
            }
            Self::Trace(trace) => {
                fixed(&ask, "a trace file")?;
                native(&ask, trace.sites.first().is_some_and(|site| site.params.causal))?;
                Ok(trace.clone())
            }
            Self::Model(model) => {
                native(&ask, model.shape().causal)?;
                if let Keep::Only(layer) = ask.keep
                    && layer >= model.layers()
                {
                    let last = model.layers() - 1;
                    let range = format!("there are layers 0 to {last}");
                    return Err(Refused::OutOfRange { what: "layer", got: layer, range }.into());
                }
                let prompt = ask.prompt.unwrap_or_else(|| Prompt::Text(DEFAULT_TEXT.to_owned()));
                model.trace(&prompt, ask.keep, ask.progress)
            }
        }
    }
}

/// What is no model has no weights, in whatever form.
fn without_weights(path: &Path, weights: Choice) -> Result<()> {
    match weights {
        Choice::Quantised => Err(Error::file(path, "is no model and has no weights; leave out --weights")),
        Choice::Auto | Choice::F32 => Ok(()),
    }
}

/// A source with one text refuses another.
fn fixed(ask: &Ask, what: &str) -> Result<()> {
    match ask.prompt {
        Some(_) => Err(Error::Text(format!("{what} has a text of its own; leave out --text, --file and --ids"))),
        None => Ok(()),
    }
}

/// Only the example can be read both ways; anything else is what it was trained to be.
fn native(ask: &Ask, causal: bool) -> Result<()> {
    match ask.causal {
        Some(wanted) if wanted != causal => {
            let (is, not) = if causal { ("causal", "bidirectional") } else { ("bidirectional", "causal") };
            Err(Error::Text(format!(
                "this source is {is} and was not made to be read as {not}; only the example can be"
            )))
        }
        _ => Ok(()),
    }
}
