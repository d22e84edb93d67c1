use std::path::PathBuf;
use std::sync::OnceLock;

use attnscope_models::{DEFAULT_TEXT, Model, Shape, Source};
use serde::Serialize;

use crate::error::Error;

/// Something that the page can look at.
pub struct Entry {
    /// Its name in addresses and requests, such as `smollm2.gguf`; no two entries share one. Links are kept, so it
    /// should be the same whenever this source is served.
    pub id: String,
    /// Its name on the page.
    pub label: String,
    /// How its weights are kept, such as `Q4_1`, where that is known and not in full.
    pub quantisation: Option<String>,
    /// Its name on the command line, for "copy as command".
    pub name: String,
    /// The source itself.
    pub source: Opening,
}

/// When a source is opened.
pub enum Opening {
    /// It already is.
    Ready(Box<Source>),
    /// When its first trace is asked for, from this path, so that a server of large models starts at once. A path
    /// that does not open is reported then, and tried again the next time.
    OnDemand(PathBuf),
    /// Likewise, a model, by whatever whoever runs the server does to open it.
    By(Opener),
}

/// Opens a source when it is asked for.
pub type Opener = Box<dyn Fn() -> Result<Source, attnscope_models::Error> + Send + Sync>;

/// What an entry is, which decides what can be asked of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    Example,
    Model,
    Trace,
}

/// An entry, opened or not yet.
pub(crate) struct Item {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) kind: Kind,
    label: String,
    quantisation: Option<String>,
    /// Where it comes from; none if it came opened, or another opens it.
    path: Option<PathBuf>,
    by: Option<Opener>,
    source: OnceLock<Source>,
}

/// What the page is told of an entry.
#[derive(Debug, Serialize)]
pub(crate) struct Listing {
    id: String,
    label: String,
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    quantisation: Option<String>,
    kind: Kind,
    #[serde(skip_serializing_if = "Option::is_none")]
    family: Option<String>,
    note: String,
    text: String,
    text_fixed: bool,
    causal: bool,
    causal_choice: bool,
    /// None where the model has no bound of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<usize>,
    /// Whether it is open already; if not, `max_tokens` is not known yet, and `family` and `causal` only as far as a
    /// look at the files tells.
    opened: bool,
}

impl Item {
    pub(crate) fn new(Entry { id, label, quantisation, name, source }: Entry) -> Self {
        match source {
            Opening::Ready(source) => {
                let kind = match *source {
                    Source::Example(_) => Kind::Example,
                    Source::Model(_) => Kind::Model,
                    Source::Trace(_) => Kind::Trace,
                };
                Self { id, label, quantisation, name, kind, path: None, by: None, source: OnceLock::from(*source) }
            }
            Opening::OnDemand(path) => {
                // As `Source::open` tells them apart.
                let kind = match path.extension() {
                    _ if path.as_os_str() == "example" => Kind::Example,
                    Some(ending) if ending == "safetensors" && !path.is_dir() => Kind::Trace,
                    _ => Kind::Model,
                };
                Self { id, label, quantisation, name, kind, path: Some(path), by: None, source: OnceLock::new() }
            }
            Opening::By(by) => Self {
                id,
                label,
                quantisation,
                name,
                kind: Kind::Model,
                path: None,
                by: Some(by),
                source: OnceLock::new(),
            },
        }
    }

    /// The source, if it is open.
    pub(crate) fn opened(&self) -> Option<&Source> {
        self.source.get()
    }

    /// The source, opened now if it was not. Blocks, for seconds where it is a large model.
    ///
    /// # Errors
    /// If it does not open.
    pub(crate) fn open(&self) -> Result<&Source, Error> {
        if let Some(source) = self.opened() {
            return Ok(source);
        }
        if let Some(by) = &self.by {
            let source = by()?;
            return Ok(self.source.get_or_init(|| source));
        }
        let Some(path) = self.path.as_deref().and_then(|path| path.to_str()) else {
            return Err(Error::bad_request(format!("the path of {} is no text; rename it", self.name)));
        };
        let source = Source::open(path)?;
        Ok(self.source.get_or_init(|| source))
    }

    /// What is known of it. Opens a trace file, which is only mapped, but no model.
    pub(crate) fn listing(&self) -> Listing {
        let source = if self.kind == Kind::Model { self.opened() } else { self.open().ok() };
        let mut listing = Listing {
            id: self.id.clone(),
            label: self.label.clone(),
            quantisation: self.quantisation.clone(),
            name: self.name.clone(),
            kind: self.kind,
            family: None,
            note: String::new(),
            text: String::new(),
            text_fixed: self.kind != Kind::Model,
            causal: true,
            causal_choice: self.kind == Kind::Example,
            max_tokens: None,
            opened: source.is_some(),
        };
        if self.kind == Kind::Model {
            listing.text = DEFAULT_TEXT.to_owned();
        }
        match source {
            Some(Source::Example(example)) => {
                listing.note = example.note.clone();
                listing.text = example.text();
                listing.causal = false;
            }
            Some(Source::Model(model)) => {
                listing.family = Some(model.family().to_owned());
                listing.causal = model.shape().causal;
                let Shape { context, .. } = model.shape();
                listing.max_tokens = (context < Shape::ENDLESS).then_some(context);
            }
            Some(Source::Trace(trace)) => {
                listing.family = Some(trace.model.family.clone()).filter(|family| !family.is_empty());
                listing.note = trace.model.note.clone();
                listing.text = trace.text.clone();
                listing.causal = trace.sites.first().is_some_and(|site| site.params.causal);
            }
            None => {
                if let Some((family, causal)) = self.path.as_deref().and_then(Model::glance) {
                    listing.family = Some(family.to_owned());
                    listing.causal = causal;
                }
            }
        }
        listing
    }
}
