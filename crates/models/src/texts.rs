//! What a model reads in one run, settled before it: for an encoder-decoder that means both halves.

use attnscope_inspect::{Read, Site, Trace};
use candle_core::Tensor;

use crate::attend::{Keep, Run};
use crate::error::{Error, Result};
use crate::intervene::Interventions;
use crate::model::{Model, Prompt, Reading};

/// What a model reads in one run.
#[derive(Clone, Debug)]
pub struct Texts {
    /// What the model's last vectors are of: its one text, or its decoder's.
    pub(crate) read: Reading,
    text: String,
    /// What the encoder of an encoder-decoder reads.
    encoder: Option<(Reading, String)>,
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
        if second.is_some() && self.family.encoder().is_none() {
            let name = self.name();
            return Err(Error::Text(format!(
                "{name} has no encoder and decoder: it reads one text; leave out --target"
            )));
        }
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
        let (_, sites) = self.read(texts, interventions, keep, progress)?;
        trace.model.note = interventions.to_string();
        Ok(trace.with_sites(sites)?)
    }

    /// A trace of nothing but tokens.
    pub(crate) fn named(&self, Texts { read, text, encoder }: &Texts) -> Result<Trace> {
        let trace = Trace::new(self.about(), text.clone(), self.tokenizer().tokens(&read.ids), Vec::new())?;
        let Some((read, text)) = encoder else { return Ok(trace) };
        Ok(trace.with_encoder(Read { text: text.clone(), tokens: self.tokenizer().tokens(&read.ids) })?)
    }

    /// One run: the vectors of every token after the last layer, (len, hidden), and what was kept.
    pub(crate) fn read(
        &self,
        texts: &Texts,
        interventions: &Interventions,
        keep: Keep,
        progress: Progress,
    ) -> Result<(Tensor, Vec<Site>)> {
        self.read_in(texts, Run { progress, interventions, ..Run::keeping(keep) })
    }

    /// The same in a run that was made for it; of two halves, for the decoder's.
    pub(crate) fn read_in(&self, texts: &Texts, run: Run) -> Result<(Tensor, Vec<Site>)> {
        let known = |Reading { types, real, .. }: &Reading| (types.clone(), real.clone());
        let (mut sites, mut memory) = (Vec::new(), None);
        if let Some((read, _)) = &texts.encoder {
            let (types, real) = known(read);
            let Run { progress, interventions, keep, .. } = run;
            let mut run = Run { progress, types, real, interventions, ..Run::keeping(keep) };
            memory = Some(self.encode(&read.ids, &mut run)?);
            sites = run.sites;
        }
        let (types, real) = known(&texts.read);
        let mut run = Run { memory, types, real, ..run };
        let hidden = self.hidden(&texts.read.ids, &mut run)?;
        sites.append(&mut run.sites);
        Ok((hidden, sites))
    }
}
