//! Readings of a run that need the model's weights: what a layer would say, what a head adds to a logit, how much of its
//! values a head passes on, and what its heads do on a text that repeats itself. `docs/readings.md` says what each can tell.

mod direct;
mod lens;
mod probe;
mod values;

pub use direct::{Contribution, Direct};
pub use lens::{Lens, LensLayer};
pub use probe::Probe;

use attnscope_inspect::{TokenAt, Trace};
use candle_core::Tensor;

use crate::attend::Keep;
use crate::effect::usual;
use crate::error::{Error, Result};
use crate::intervene::Interventions;
use crate::model::{Model, Prompt};
use crate::stream::Stream;
use crate::texts::{Begun, Read};

/// A text, and the position in it that is looked at.
#[derive(Clone, Copy)]
pub struct Looking<'a> {
    /// What is read.
    pub prompt: &'a Prompt,
    /// A position, or the text of a token that occurs once, of an encoder-decoder's two texts in the decoder's. Where none is
    /// given, the last; in a model that names masked words, the mask, or the last that is no mark.
    pub at: Option<&'a str>,
    /// Called after each layer with (done, in all); the run stops when it returns false.
    pub progress: &'a (dyn Fn(usize, usize) -> bool + Sync),
}

/// A run, and what passed one position of it.
struct Looked {
    trace: Trace,
    position: TokenAt,
    stream: Stream,
    /// (1, hidden), after the last norm.
    last: Tensor,
}

impl Model {
    fn look(&self, &Looking { prompt, at, progress }: &Looking, keep: Keep) -> Result<Looked> {
        let texts = self.texts(prompt, progress)?;
        let names = self.named(&texts)?;
        let index = match at {
            Some(name) => names.find_position(name)?,
            None => usual(self, &names)?,
        };
        let token = names.tokens.get(index).map(|token| token.text.clone()).unwrap_or_default();
        let mut stream = Stream::at(index);
        let begun = Begun { stream: Some(&mut stream), ..Begun::default() };
        let Read { hidden, sites, .. } = self.read(&texts, Interventions::NONE, keep, begun, progress)?;
        let last = hidden.narrow(0, index, 1)?;
        Ok(Looked { trace: names.with_sites(sites)?, position: TokenAt { index, token }, stream, last })
    }

    /// The id of a token that a user means: an integer is always an id, anything else the text of one token, exactly.
    ///
    /// # Errors
    /// If the text is not one token, or the id beyond the vocabulary.
    pub fn token_id(&self, name: &str) -> Result<u32> {
        let vocab = self.shape().vocab;
        if !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit()) {
            let id = name.parse().ok().filter(|id| (*id as usize) < vocab);
            return id.ok_or_else(|| {
                Error::Text(format!("token {name} is beyond the vocabulary: ids are 0 to {}", vocab - 1))
            });
        }
        self.tokenizer().one(name).ok_or_else(|| {
            Error::Text(format!(
                "{name:?} is not one token of this model; a blank before it may belong to it (\" Paris\"), or give its id"
            ))
        })
    }
}
