//! A text that is longer than a model reads, cut to what it does read.

use crate::error::Result;
use crate::model::{Model, Prompt, Reading};

/// What was cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Truncated {
    /// How many tokens there were.
    pub had: usize,
    /// How many are kept.
    pub kept: usize,
}

impl Model {
    /// Cuts a prompt that is longer than this model reads, with room for so many tokens to come after it. Marks at the end
    /// of a text stay, as transformers' `truncation=True` has it; ids are cut as they are. Of an encoder-decoder's two texts
    /// each is cut by itself, and the room is its decoder's. What was cut is said for each text that was.
    ///
    /// # Errors
    /// If the tokenizer fails.
    pub fn truncate(&self, prompt: Prompt, room: usize) -> Result<(Prompt, Vec<Truncated>)> {
        let context = self.shape().context;
        let room = room.min(context - 1);
        let mut cut = Vec::new();
        let prompt = match prompt {
            Prompt::Halves { encoder, decoder } => Prompt::Halves {
                encoder: Box::new(self.fit(*encoder, context, &mut cut)?),
                // The mark that begins it is put before its text later, and that which ends it taken away.
                decoder: Box::new(self.fit_words(*decoder, context - room, &mut cut)?),
            },
            prompt if self.family.encoder().is_some() => self.fit(prompt, context, &mut cut)?,
            prompt => self.fit(prompt, context - room, &mut cut)?,
        };
        Ok((prompt, cut))
    }

    fn fit(&self, prompt: Prompt, len: usize, cut: &mut Vec<Truncated>) -> Result<Prompt> {
        let (had, shorter) = match &prompt {
            Prompt::Text(text) => {
                let had = self.tokenizer().encode(text)?.len();
                let Some(tokenizer) = self.tokenizer().shortened(len).filter(|_| had > len) else { return Ok(prompt) };
                (had, Prompt::Ids(tokenizer.encode(text)?))
            }
            Prompt::Pair(first, second) => {
                self.check_pairs()?;
                let had = self.tokenizer().encode_pair(first, second)?.0.len();
                let Some(tokenizer) = self.tokenizer().shortened(len).filter(|_| had > len) else { return Ok(prompt) };
                let (ids, types) = tokenizer.encode_pair(first, second)?;
                let types = (self.family.types() > 1).then_some(types);
                (had, Prompt::Tokens(Reading { ids, types, real: None }))
            }
            Prompt::Ids(ids) => (ids.len(), Prompt::Ids(ids.iter().copied().take(len).collect())),
            Prompt::Tokens(Reading { ids, types, real }) => {
                let mut shorter = Reading { ids: ids.clone(), types: types.clone(), real: real.clone() };
                shorter.ids.truncate(len);
                shorter.types.iter_mut().for_each(|types| types.truncate(len));
                shorter.real.iter_mut().for_each(|real| real.truncate(len));
                (ids.len(), Prompt::Tokens(shorter))
            }
            Prompt::Chat(_) | Prompt::Unmarked(_) => {
                let all = self.unchecked(&prompt)?;
                return if all.ids.len() <= len { Ok(prompt) } else { self.fit(Prompt::Tokens(all), len, cut) };
            }
            Prompt::Halves { .. } => return Ok(prompt),
        };
        if had <= len {
            return Ok(prompt);
        }
        cut.push(Truncated { had, kept: len });
        Ok(shorter)
    }

    /// A decoder's text, as the ids that it is read as.
    fn fit_words(&self, prompt: Prompt, len: usize, cut: &mut Vec<Truncated>) -> Result<Prompt> {
        if !matches!(prompt, Prompt::Text(_) | Prompt::Unmarked(_)) {
            return self.fit(prompt, len, cut);
        }
        let ids = self.decoder_reading(&prompt)?;
        if ids.len() <= len { Ok(prompt) } else { self.fit(Prompt::Ids(ids), len, cut) }
    }
}
