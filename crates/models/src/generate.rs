//! Text that goes on, one token after another, with a key-value cache.

use crate::error::{Error, Result};
use crate::model::{Model, Prompt};

/// Always the likeliest token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Greedy {
    /// Tokens at most.
    pub max_tokens: usize,
}

/// One more token.
#[derive(Clone, Debug, PartialEq)]
pub struct Generated {
    /// Its id.
    pub id: u32,
    /// The text that it completes; empty while a character is not whole yet.
    pub text: String,
}

impl Model {
    /// Goes on with a prompt, calling `each` with every new token; stops when it returns false, at the model's end
    /// mark, or when its context is full.
    ///
    /// # Errors
    /// If the prompt cannot be read or the model has no language head.
    pub fn generate(
        &self,
        prompt: &Prompt,
        options: Greedy,
        mut each: impl FnMut(&Generated) -> bool,
    ) -> Result<Vec<u32>> {
        let (mut cache, read) = self.begin(prompt)?;
        let room = self.shape().context - read.len();
        let (mut next, mut new) = (read, Vec::new());
        let mut shown = 0;
        while new.len() < options.max_tokens.min(room) {
            let logits = self.next_logits(&next, &mut cache)?;
            let id = likeliest(&logits)?;
            if self.tokenizer().ends(id) {
                break;
            }
            new.push(id);
            let text = self.tokenizer().decode(&new)?;
            // A character whose last bytes are still to come reads as a replacement mark.
            let whole = if text.ends_with(char::REPLACEMENT_CHARACTER) { shown } else { text.len() };
            let generated = Generated { id, text: text.get(shown..whole).unwrap_or_default().to_owned() };
            shown = whole;
            if !each(&generated) {
                break;
            }
            next = vec![id];
        }
        Ok(new)
    }
}

pub(crate) fn likeliest(logits: &[f32]) -> Result<u32> {
    let best = (0..).zip(logits).filter(|(_, logit)| logit.is_finite()).max_by(|(_, a), (_, b)| a.total_cmp(b));
    match best {
        Some((id, _)) => Ok(id),
        None => Err(Error::Text("every logit is NaN: the checkpoint is damaged".to_owned())),
    }
}
