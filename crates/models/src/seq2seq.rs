//! Encoder-decoders: one text for each half.

use std::sync::Arc;

use crate::attend::{Cache, Keep, Run};
use crate::error::{Error, Result};
use crate::generate::likeliest;
use crate::memory::Memory;
use crate::model::{Model, Prompt, Reading};
use crate::texts::Progress;

/// What the decoder reads at most where no text is given for it: so much of what the model itself would say.
const SAID: usize = 48;

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
        let hidden = encoder.encode(ids, run)?;
        Ok(Arc::new(Memory::new(hidden, run.real.clone())))
    }

    /// The layers of the deeper of its stacks, where it has two.
    pub(crate) fn layers(&self) -> usize {
        self.family.encoder().map_or(0, |encoder| encoder.layers()).max(self.shape().layers)
    }

    /// What goes before the first token that a model generates: a cache, and the ids to read into it.
    pub(crate) fn begin(&self, prompt: &Prompt) -> Result<(Cache, Vec<u32>)> {
        let Reading { ids, types, real } = self.reading(prompt)?;
        let Some(encoder) = self.family.encoder() else {
            if types.is_some() || real.is_some() || matches!(prompt, Prompt::Halves { .. }) {
                let why = "this model goes on with one text, or with ids, and nothing beside";
                return Err(Error::Text(why.to_owned()));
            }
            return Ok((Cache::default(), ids));
        };
        let said = match prompt {
            Prompt::Halves { decoder, .. } => self.decoder_ids(decoder)?,
            _ => vec![encoder.start()],
        };
        let memory = self.encode(&ids, &mut Run { types, real, ..Run::keeping(Keep::Nothing) })?;
        Ok((Cache::after(memory), said))
    }

    /// The ids of a text for the decoder.
    pub(crate) fn decoder_ids(&self, prompt: &Prompt) -> Result<Vec<u32>> {
        let ids = match prompt {
            Prompt::Ids(ids) => ids.clone(),
            Prompt::Text(text) => {
                let mut ids = self.tokenizer().encode(text)?;
                // As labels are read in training: shifted right.
                ids.pop_if(|last| self.tokenizer().ends(*last));
                let start = self.family.encoder().map(|encoder| encoder.start());
                start.into_iter().chain(ids).collect()
            }
            _ => return Err(Error::Text("a decoder reads one text, or ids, and nothing else".to_owned())),
        };
        self.check_ids(&ids)?;
        Ok(ids)
    }

    /// The start mark, and after it the likeliest tokens; the mark alone where there is no language head.
    pub(crate) fn said(&self, Reading { ids, types, real }: &Reading, progress: Progress) -> Result<Vec<u32>> {
        let (types, real) = (types.clone(), real.clone());
        let memory = self.encode(ids, &mut Run { progress, types, real, ..Run::keeping(Keep::Nothing) })?;
        let mut ids: Vec<u32> = self.family.encoder().map(|encoder| encoder.start()).into_iter().collect();
        let probe = memory.hidden().narrow(0, 0, 1)?;
        if self.family.logits(&probe)?.is_none() {
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
