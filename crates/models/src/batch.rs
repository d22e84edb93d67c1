//! Several texts brought to one length.

use crate::error::Result;
use crate::model::{Model, Prompt, Reading};

/// On which side of a text its padding lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Before its first token: the last ones of all texts then stand in one column.
    Left,
    /// After its last.
    Right,
}

impl Model {
    /// The tokens of several prompts, all as many as the longest has: the others are padded on one side. Read as
    /// [`Prompt::Tokens`] each gives what it gives alone: padding is seen by none, and takes no position of a decoder.
    ///
    /// # Errors
    /// As [`Model::reading`], of the first prompt that does not read.
    pub fn padded(&self, prompts: &[Prompt], side: Side) -> Result<Vec<Reading>> {
        let readings = prompts.iter().map(|prompt| self.reading(prompt)).collect::<Result<Vec<_>>>()?;
        let longest = readings.iter().map(|reading| reading.ids.len()).max().unwrap_or(0);
        let pad = self.tokenizer().padding();
        Ok(readings.into_iter().map(|reading| reading.padded(longest, side, pad)).collect())
    }
}

impl Reading {
    fn padded(self, len: usize, side: Side, pad: u32) -> Self {
        let missing = len - self.ids.len();
        let real = self.real.unwrap_or_else(|| vec![true; self.ids.len()]);
        Self {
            ids: filled(self.ids, missing, side, pad),
            types: self.types.map(|types| filled(types, missing, side, 0)),
            real: Some(filled(real, missing, side, false)),
        }
    }
}

fn filled<T: Clone>(known: Vec<T>, missing: usize, side: Side, with: T) -> Vec<T> {
    let padding = vec![with; missing];
    match side {
        Side::Left => [padding, known].concat(),
        Side::Right => [known, padding].concat(),
    }
}
