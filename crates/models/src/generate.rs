//! Text that goes on, one token after another, with a key-value cache.

use std::time::{Duration, Instant};

use attnscope_inspect::Trace;

use crate::attend::{Keep, Run};
use crate::error::{Error, Result};
use crate::model::{Model, Prompt};
use crate::sampling::{Chooser, Sampling};
use crate::seq2seq::Begun;
use crate::stitch::Stitch;
use crate::streamed::Streamed;

/// One more token; or, after the last of them, text that was held back until then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Generated {
    /// Its id; none for text that was held back.
    pub id: Option<u32>,
    /// The text that is certain now: whole characters, and nothing that may be the beginning of a stop string.
    pub text: String,
}

/// What was generated.
#[derive(Clone, Debug, PartialEq)]
pub struct Continuation {
    /// The ids that it goes on from; of an encoder-decoder, those of its decoder.
    pub prompt_ids: Vec<u32>,
    /// The ids that the encoder of an encoder-decoder read; none in a model without one.
    pub encoder_ids: Option<Vec<u32>>,
    /// The ids of all new tokens, those that spell a stop string included.
    pub ids: Vec<u32>,
    /// The text up to where it stops.
    pub text: String,
    /// Why there is no more.
    pub ended: Ended,
    /// With which seed tokens were drawn; none where the likeliest was taken.
    pub seed: Option<u64>,
    /// How long the prompt took, the first new token included; none where no token was asked for.
    pub prompt_time: Option<Duration>,
    /// How long all other tokens took.
    pub decode_time: Duration,
}

impl Continuation {
    /// Tokens of the prompt that were read in a second, those of an encoder's text among them; none where no token was asked
    /// for, and so none read.
    pub fn prompt_tokens_per_second(&self) -> Option<f64> {
        let read = self.prompt_ids.len() + self.encoder_ids.as_ref().map_or(0, Vec::len);
        self.prompt_time.and_then(|time| per_second(read, time))
    }

    /// Tokens after the first that were generated in a second; none where there are none.
    pub fn decode_tokens_per_second(&self) -> Option<f64> {
        per_second(self.ids.len().saturating_sub(1), self.decode_time)
    }

    /// The error that there is no more of it, or no trace of it. Where there is nothing, only why.
    fn broken_off(self, why: Error) -> Error {
        match self.ids.is_empty() {
            true => why,
            false => Error::BrokenOff { made: Box::new(self), why: Box::new(why) },
        }
    }
}

fn per_second(tokens: usize, time: Duration) -> Option<f64> {
    (tokens > 0 && !time.is_zero()).then(|| tokens as f64 / time.as_secs_f64())
}

/// Why a continuation has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The model itself ended it.
    EndMark,
    /// A stop string came.
    StopString,
    /// As many tokens as were wanted.
    MaxTokens,
    /// The model reads no longer text.
    Context,
    /// Whoever asked for it had enough.
    Interrupted,
    /// The run failed; the [`Error::BrokenOff`] that this comes in says why.
    Failed,
}

impl Ended {
    /// The name used in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::EndMark => "end_mark",
            Self::StopString => "stop_string",
            Self::MaxTokens => "max_tokens",
            Self::Context => "context",
            Self::Interrupted => "interrupted",
            Self::Failed => "failed",
        }
    }
}

impl Model {
    /// Goes on with a prompt, calling `each` with every new token and with what was held back, and stops when it returns
    /// false.
    ///
    /// # Errors
    /// If the prompt cannot be read, the model has no language head, or a value of `sampling` means nothing; and
    /// [`Error::BrokenOff`], with what there is, if the run fails after a new token.
    pub fn generate(
        &self,
        prompt: &Prompt,
        sampling: &Sampling,
        each: impl FnMut(&Generated) -> bool,
    ) -> Result<Continuation> {
        Ok(self.go_on(prompt, sampling, None, each)?.0)
    }

    /// The same, with a trace of the prompt and all that follows it as one text: the row of every token, the last new one
    /// included, in O(n) memory. The weights are those that were used when the token was read.
    ///
    /// # Errors
    /// As [`Model::generate`]; a text that broke off leaves no trace.
    pub fn generate_traced(
        &self,
        prompt: &Prompt,
        sampling: &Sampling,
        each: impl FnMut(&Generated) -> bool,
    ) -> Result<(Continuation, Trace)> {
        let mut stitch = Stitch::default();
        let (made, begun, all) = self.go_on(prompt, sampling, Some(&mut stitch), each)?;
        match self.stitched(prompt, &made, begun, &all, stitch) {
            Ok(trace) => Ok((made, trace)),
            Err(why) => Err(made.broken_off(why)),
        }
    }

    /// The trace of what was generated; `all` is its text.
    fn stitched(&self, prompt: &Prompt, made: &Continuation, begun: Begun, all: &str, stitch: Stitch) -> Result<Trace> {
        let ids = [&made.prompt_ids[..], &made.ids].concat();
        let tokens = self.tokenizer().tokens(&ids);
        let stitched = stitch.finish(&begun.cache)?;
        Ok(match begun.encoder {
            None => Trace::new(self.about(), self.text_of(prompt, &made.prompt_ids)? + all, tokens, stitched)?,
            Some((read, sites)) => {
                let sites = sites.into_iter().chain(stitched).collect();
                Trace::new(self.about(), self.tokenizer().decode(&ids)?, tokens, sites)?.with_encoder(read)?
            }
        })
    }

    /// What was generated, what it began with, and all of its text, what stopped it included.
    fn go_on(
        &self,
        prompt: &Prompt,
        sampling: &Sampling,
        mut stitch: Option<&mut Stitch>,
        mut each: impl FnMut(&Generated) -> bool,
    ) -> Result<(Continuation, Begun, String)> {
        let mut chooser = Chooser::new(sampling)?;
        let seed = chooser.seed();
        let start = Instant::now();
        let mut begun = self.begin(prompt, if stitch.is_some() { Keep::All } else { Keep::Nothing })?;
        if stitch.is_none() {
            begun.cache = begun.cache.forgetting();
        }
        let room = self.shape().context - begun.ids.len();
        let mut streamed = Streamed::after(self.tokenizer(), &begun.ids, &sampling.stop)?;
        let (mut read, mut unread) = (begun.ids.clone(), begun.ids.clone());
        let mut prompt_time = None;
        let mut on = || -> Result<Ended> {
            loop {
                let new = read.len() - begun.ids.len();
                if new >= sampling.max_tokens {
                    return Ok(Ended::MaxTokens);
                }
                if new >= room {
                    return Ok(Ended::Context);
                }
                let mut run =
                    Run { cache: Some(&mut begun.cache), stitch: stitch.as_deref_mut(), ..Run::keeping(Keep::Nothing) };
                let logits = self.next_logits_in(&unread, &mut run)?;
                unread.clear();
                let id = chooser.choose(&logits, &read)?;
                prompt_time.get_or_insert_with(|| start.elapsed());
                if self.tokenizer().ends(id) {
                    return Ok(Ended::EndMark);
                }
                read.push(id);
                unread.push(id);
                let wanted = each(&Generated { id: Some(id), text: streamed.push(id)? });
                if streamed.stopped() {
                    return Ok(Ended::StopString);
                }
                if !wanted {
                    return Ok(Ended::Interrupted);
                }
            }
        };
        let (ended, mut failed) = match on() {
            Ok(ended) => (ended, None),
            Err(why) => (Ended::Failed, Some(why)),
        };
        let rest = streamed.rest();
        if !rest.is_empty() {
            each(&Generated { id: None, text: rest });
        }
        let decode_time = prompt_time.map_or(Duration::ZERO, |time| start.elapsed().saturating_sub(time));
        let encoder_ids =
            begun.encoder.as_ref().map(|(read, _)| read.tokens.iter().filter_map(|token| token.id).collect());
        // Nothing comes after the last token, but it has a row of its own.
        if stitch.is_some() && !unread.is_empty() && failed.is_none() {
            let mut run = Run { cache: Some(&mut begun.cache), stitch, ..Run::keeping(Keep::Nothing) };
            failed = self.hidden(&unread, &mut run).err();
        }
        let made = Continuation {
            ids: read.split_off(begun.ids.len()),
            prompt_ids: begun.ids.clone(),
            encoder_ids,
            text: streamed.text().to_owned(),
            ended,
            seed,
            prompt_time,
            decode_time,
        };
        let all = streamed.all().to_owned();
        match failed {
            None => Ok((made, begun, all)),
            Some(why) => Err(made.broken_off(why)),
        }
    }
}

pub(crate) fn likeliest(logits: &[f32]) -> Result<u32> {
    let best = (0..).zip(logits).filter(|(_, logit)| logit.is_finite()).max_by(|(_, a), (_, b)| a.total_cmp(b));
    match best {
        Some((id, _)) => Ok(id),
        None => Err(Error::Text("every logit is NaN: the checkpoint is damaged".to_owned())),
    }
}
