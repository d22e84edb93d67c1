use attnscope_inspect::{Repeats, Wanted};
use rand::SeedableRng;
use rand::rngs::StdRng;
use rand::seq::index::sample;

use crate::attend::Keep;
use crate::error::{Error, Result};
use crate::model::{Model, Prompt, Shape};

/// A text of tokens drawn at random, each another, said twice: what a head does with it, it does not do by meaning.
/// (Olsson et al. 2022, "In-context learning and induction heads")
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probe {
    /// Of the random numbers: the same seed draws the same tokens.
    pub seed: u64,
    /// How many tokens are said twice.
    pub len: usize,
}

impl Model {
    /// The ids of a probe: what this model's tokenizer puts before a text, then the tokens, then the same again.
    ///
    /// # Errors
    /// If the model does not read one text from left to right, or it or its vocabulary is too small for that.
    pub fn probe_ids(&self, probe: Probe) -> Result<Vec<u32>> {
        let Shape { vocab, context, causal, .. } = self.shape();
        let name = self.name();
        if !causal || self.family.encoder().is_some() {
            return Err(Error::Text(format!(
                "{name} does not read one text from left to right, so that nothing in it is said again; \
                 the probe is for decoders"
            )));
        }
        let marks = self.tokenizer().before_text()?;
        let len = probe.len.saturating_mul(2).saturating_add(marks.len());
        if probe.len < 2 || len > context {
            let most = (context - marks.len().min(context)) / 2;
            return Err(Error::Text(format!(
                "a probe of {} tokens said twice is not possible: {name} reads at most {context} tokens, so 2 to {most} \
                 are",
                probe.len
            )));
        }
        let mut random = StdRng::seed_from_u64(probe.seed);
        let all = vocab.min(self.tokenizer().vocab());
        let drawn = sample(&mut random, all, all).into_iter().map(|id| id as u32);
        let words: Vec<u32> = drawn.filter(|id| self.tokenizer().is_word(*id)).take(probe.len).collect();
        if words.len() < probe.len {
            return Err(Error::Text(format!(
                "the vocabulary has only {} tokens that are words, and the probe is to have {} different ones",
                words.len(),
                probe.len
            )));
        }
        Ok([marks, words.clone(), words].concat())
    }

    /// What every head does on a probe. `progress` is called after each layer of the run with (done, in all), and stops it
    /// when it returns false.
    ///
    /// # Errors
    /// As [`Model::probe_ids`], and if the run was stopped.
    pub fn probe(&self, probe: Probe, progress: &(dyn Fn(usize, usize) -> bool + Sync)) -> Result<Vec<Repeats>> {
        let trace = self.trace(&Prompt::Ids(self.probe_ids(probe)?), Keep::All, progress)?;
        Ok(trace.repeats(None, Wanted::ALWAYS)?)
    }
}
