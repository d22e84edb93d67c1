//! Encoder-decoders: one text for each half.

use std::sync::Arc;

use attnscope_inspect::{Read, Site};

use crate::attend::{Keep, Run};
use crate::awake::awake;
use crate::cache::Cache;
use crate::error::{Error, Result};
use crate::generate::likeliest;
use crate::memory::Memory;
use crate::model::{Model, Prompt, Reading};
use crate::texts::Progress;

/// What the decoder reads at most where no text is given for it: so much of what the model itself would say.
const SAID: usize = 48;

/// What a model has before the first token that it generates.
pub(crate) struct Begun {
    /// Of the decoder, or of the only half.
    pub(crate) cache: Cache,
    /// To be read into it.
    pub(crate) ids: Vec<u32>,
    /// What the encoder of an encoder-decoder read, and what was kept of that.
    pub(crate) encoder: Option<(Read, Vec<Site>)>,
}

impl Model {
    /// Lets an encoder read a text for its decoder. What the run keeps are the sites `encoder`.
    ///
    /// # Errors
    /// If the model is no encoder-decoder, or the run fails or was stopped.
    pub fn encode(&self, ids: &[u32], run: &mut Run) -> Result<Arc<Memory>> {
        let Some(encoder) = self.family.encoder() else {
            return Err(Error::Text(format!("{} has no encoder apart from its decoder", self.name())));
        };
        self.check_ids(ids)?;
        self.check_known(ids.len(), run)?;
        run.interventions.check(self)?;
        let hidden = awake(|| encoder.encode(ids, run))?;
        Ok(Arc::new(Memory::new(hidden, run.real.clone())))
    }

    /// The layers of the deeper of its stacks, where it has two.
    pub(crate) fn layers(&self) -> usize {
        self.family.encoder().map_or(0, |encoder| encoder.layers()).max(self.shape().layers)
    }

    /// What goes before the first token that a model generates. `keep` is for its encoder, where it has one.
    pub(crate) fn begin(&self, prompt: &Prompt, keep: Keep) -> Result<Begun> {
        self.check_decoder()?;
        self.check_halves(prompt)?;
        let Reading { ids: asked, types, real } = self.reading(prompt)?;
        let Some(encoder) = self.family.encoder() else {
            if types.is_some() || real.is_some() {
                let why = "this model goes on with one text, or with ids, and nothing beside";
                return Err(Error::Text(why.to_owned()));
            }
            return Ok(Begun { cache: Cache::default(), ids: asked, encoder: None });
        };
        let (first, ids) = match prompt {
            Prompt::Halves { encoder, decoder } => (&**encoder, self.decoder_ids(decoder)?),
            first => (first, vec![encoder.start()]),
        };
        let mut run = Run { types, real, ..Run::keeping(keep) };
        let memory = self.encode(&asked, &mut run)?;
        let read = Read { text: self.text_of(first, &asked)?, tokens: self.tokenizer().tokens(&asked) };
        Ok(Begun { cache: Cache::after(memory), ids, encoder: Some((read, run.sites)) })
    }

    /// The ids of a text for the decoder.
    pub(crate) fn decoder_ids(&self, prompt: &Prompt) -> Result<Vec<u32>> {
        let ids = self.decoder_reading(prompt)?;
        self.check_ids(&ids)?;
        Ok(ids)
    }

    /// The same, however many they are.
    pub(crate) fn decoder_reading(&self, prompt: &Prompt) -> Result<Vec<u32>> {
        match prompt {
            Prompt::Ids(ids) => Ok(ids.clone()),
            Prompt::Text(text) => {
                let mut ids = self.tokenizer().encode(text)?;
                // As labels are read in training: shifted right.
                ids.pop_if(|last| self.tokenizer().ends(*last));
                Ok(self.after_start(ids))
            }
            Prompt::Unmarked(prompt) if let Prompt::Text(text) = &**prompt => {
                Ok(self.after_start(self.tokenizer().encode_unmarked(text)?))
            }
            _ => Err(Error::Text("a decoder reads one text, or ids, and nothing else".to_owned())),
        }
    }

    fn after_start(&self, ids: Vec<u32>) -> Vec<u32> {
        let start = self.family.encoder().map(|encoder| encoder.start());
        start.into_iter().chain(ids).collect()
    }

    /// The start mark, and after it the likeliest tokens; the mark alone where there is no language head.
    pub(crate) fn said(&self, Reading { ids, types, real }: &Reading, progress: Progress) -> Result<Vec<u32>> {
        let (types, real) = (types.clone(), real.clone());
        let memory = self.encode(ids, &mut Run { progress, types, real, ..Run::keeping(Keep::Nothing) })?;
        let mut ids: Vec<u32> = self.family.encoder().map(|encoder| encoder.start()).into_iter().collect();
        if self.family.head().is_none() {
            return Ok(ids);
        }
        let done = self.family.encoder().map_or(0, |encoder| encoder.layers());
        let mut cache = Cache::after(memory);
        while ids.len() <= SAID.min(self.shape().context - 1) {
            if !progress(done, done + self.shape().layers) {
                return Err(Error::Stopped);
            }
            let last = ids.len() - 1;
            let next = likeliest(&self.next_logits(&ids[last..], &mut cache)?)?;
            if self.tokenizer().ends(next) {
                break;
            }
            ids.push(next);
        }
        Ok(ids)
    }
}
