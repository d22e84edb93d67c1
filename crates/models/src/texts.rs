//! What a model reads in one run, settled before it: for an encoder-decoder that means both halves.

use std::sync::Arc;

use attnscope_inspect::{Read as Told, Site, Trace};
use candle_core::Tensor;

use crate::attend::{Keep, Run};
use crate::error::{Error, Result};
use crate::intervene::{Interventions, Reached};
use crate::memory::Memory;
use crate::model::{Model, Prompt, Reading};
use crate::stream::Stream;

/// What a model reads in one run.
#[derive(Clone, Debug)]
pub struct Texts {
    /// What the model's last vectors are of: its one text, or its decoder's.
    pub(crate) read: Reading,
    text: String,
    /// What the encoder of an encoder-decoder reads.
    encoder: Option<(Reading, String)>,
}

/// What an earlier run on the same texts left, and what this one is to leave.
#[derive(Default)]
pub(crate) struct Begun<'a> {
    /// What the encoder made of its text.
    pub(crate) memory: Option<Arc<Memory>>,
    /// A layer to begin at, and the vectors before it.
    pub(crate) resume: Option<(usize, Tensor)>,
    /// Where to keep the vectors before each layer, and after the last.
    pub(crate) states: Option<&'a mut Vec<Tensor>>,
    /// Where to keep what passes at one position.
    pub(crate) stream: Option<&'a mut Stream>,
    /// Where it is noted which cuts had anything to cut.
    pub(crate) reached: Option<&'a mut Reached>,
}

/// What a run gives.
pub(crate) struct Read {
    /// The vectors of every token after the last layer, (len, hidden).
    pub(crate) hidden: Tensor,
    pub(crate) sites: Vec<Site>,
    pub(crate) memory: Option<Arc<Memory>>,
}

/// Called after each layer with (layers done, layers in all); the run stops when it returns false.
pub(crate) type Progress<'a> = &'a (dyn Fn(usize, usize) -> bool + Sync);

impl Model {
    /// What is read for a prompt. Where there is nothing for a decoder, it reads what the model itself would say, and the
    /// model is run to find that out.
    ///
    /// # Errors
    /// If the prompt cannot be read, or the run was stopped.
    pub fn texts(&self, prompt: &Prompt, progress: &(dyn Fn(usize, usize) -> bool + Sync)) -> Result<Texts> {
        let (first, second) = match prompt {
            Prompt::Halves { encoder, decoder } => (&**encoder, Some(&**decoder)),
            first => (first, None),
        };
        self.check_halves(prompt)?;
        let read = self.reading(first)?;
        let text = self.text_of(first, &read.ids)?;
        if self.family.encoder().is_none() {
            return Ok(Texts { read, text, encoder: None });
        }
        let (ids, said) = match second {
            Some(prompt) => {
                let ids = self.decoder_ids(prompt)?;
                let text = self.text_of(prompt, &ids)?;
                (ids, text)
            }
            None => {
                let ids = self.said(&read, progress)?;
                let text = self.tokenizer().decode(&ids)?;
                (ids, text)
            }
        };
        Ok(Texts { read: Reading { ids, ..Reading::default() }, text: said, encoder: Some((read, text)) })
    }

    /// That two texts are for an encoder-decoder.
    pub(crate) fn check_halves(&self, prompt: &Prompt) -> Result<()> {
        if matches!(prompt, Prompt::Halves { .. }) && self.family.encoder().is_none() {
            let name = self.name();
            return Err(Error::Text(format!(
                "{name} has no encoder and decoder: it reads one text; leave out --target"
            )));
        }
        Ok(())
    }

    /// Reads texts and keeps their attention, with interventions. The trace says which there were.
    ///
    /// # Errors
    /// If an intervention does not fit the model or the text, or the run was stopped.
    pub fn trace_with(
        &self,
        texts: &Texts,
        interventions: &Interventions,
        keep: Keep,
        progress: &(dyn Fn(usize, usize) -> bool + Sync),
    ) -> Result<Trace> {
        let mut trace = self.named(texts)?;
        let Read { sites, .. } = self.read(texts, interventions, keep, Begun::default(), progress)?;
        trace.model.note = interventions.to_string();
        Ok(trace.with_sites(sites)?)
    }

    /// A trace of nothing but tokens.
    pub(crate) fn named(&self, Texts { read, text, encoder }: &Texts) -> Result<Trace> {
        let trace = Trace::new(self.about(), text.clone(), self.tokenizer().tokens(&read.ids), Vec::new())?;
        let Some((read, text)) = encoder else { return Ok(trace) };
        Ok(trace.with_encoder(Told { text: text.clone(), tokens: self.tokenizer().tokens(&read.ids) })?)
    }

    /// One run. What `begun` has is not computed again.
    pub(crate) fn read(
        &self,
        texts: &Texts,
        interventions: &Interventions,
        keep: Keep,
        begun: Begun,
        progress: Progress,
    ) -> Result<Read> {
        let Begun { mut memory, resume, states, stream, mut reached } = begun;
        let run = |Reading { types, real, .. }: &Reading| {
            let (types, real) = (types.clone(), real.clone());
            Run { progress, types, real, interventions, ..Run::keeping(keep) }
        };
        let mut sites = Vec::new();
        if let (Some((read, _)), None) = (&texts.encoder, &memory) {
            let mut run = Run { reached: reached.as_deref_mut(), ..run(read) };
            memory = Some(self.encode(&read.ids, &mut run)?);
            sites = run.sites;
        }
        let mut run = Run { memory: memory.clone(), resume, states, stream, reached, ..run(&texts.read) };
        let hidden = self.hidden(&texts.read.ids, &mut run)?;
        sites.append(&mut run.sites);
        Ok(Read { hidden, sites, memory })
    }
}
