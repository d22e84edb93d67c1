//! `--truncate`: a text that is too long is read as far as the model reads.

use attnscope_models::{Ask, Model, Prompt, Source};

use super::Reading;
use crate::output;

impl Reading {
    /// The prompt as it is read by a model, with room for so many tokens to come after it.
    pub(crate) fn fit(&self, model: &Model, prompt: Prompt, room: usize) -> anyhow::Result<Prompt> {
        if !self.truncate {
            return Ok(prompt);
        }
        let (prompt, cut) = model.truncate(prompt, room)?;
        for text in cut {
            output::complain(&format!("truncated: the first {} of {} tokens are read", text.kept, text.had));
        }
        Ok(prompt)
    }

    /// The same of a question to a source. One that is no model has a text of its own, which it says itself.
    pub(crate) fn fit_ask<'a>(&self, source: &Source, mut ask: Ask<'a>) -> anyhow::Result<Ask<'a>> {
        if let Source::Model(model) = source {
            ask.prompt = ask.prompt.map(|prompt| self.fit(model, prompt, 0)).transpose()?;
        }
        Ok(ask)
    }
}
