//! What interventions change: in the prediction at one position, and in every position's vector.

mod scan;

use std::sync::Arc;

use attnscope_inspect::{TokenAt, Trace};
use candle_core::Tensor;
use serde::Serialize;

use crate::attend::Keep;
use crate::error::{Error, Result};
use crate::generate::likeliest;
use crate::intervene::{Interventions, Reached};
use crate::memory::Memory;
use crate::model::Model;
use crate::texts::{Begun, Progress, Read, Texts};
use crate::tokenizer::MASKS;

pub use scan::{Ranked, Scan};

/// A text that was read once as the model reads it, to be read again with interventions.
pub struct Experiment<'m> {
    model: &'m Model,
    texts: Texts,
    names: Trace,
    at: usize,
    /// What is followed: a token of the vocabulary; none in a model without a head that names words.
    token: Option<u32>,
    before: Outcome,
    /// What that run left for others to go on from: the vectors before each layer, and what an encoder made of its text.
    states: Vec<Tensor>,
    memory: Option<Arc<Memory>>,
}

/// What a model made of a text.
struct Outcome {
    /// (len, hidden), after the last layer and its norm.
    vectors: Vec<Vec<f32>>,
    /// The natural logarithms of the probabilities of the whole vocabulary at the position looked at, and the logits.
    words: Option<(Vec<f64>, Vec<f32>)>,
}

/// What interventions changed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Effect {
    /// The position that is looked at.
    pub at: TokenAt,
    /// The likeliest tokens there without the interventions, the first first: the next token in a causal model, the one that
    /// stands there in one that names masked words. None where the model has no head for that.
    pub before: Option<Vec<Likely>>,
    /// The same with them.
    pub after: Option<Vec<Likely>>,
    /// The Kullback-Leibler divergence of the second distribution from the first, in nats, over the whole vocabulary: sum of
    /// p_before ln(p_before / p_after).
    pub kl: Option<f64>,
    /// By how much the logit of [`Effect::token`] changed: after minus before.
    pub logit_diff: Option<f64>,
    /// The token that is followed.
    pub token: Option<Followed>,
    /// How far each position's last vector moved.
    pub vectors: Vec<Moved>,
    /// In words, one for each cut of cells that no query sees anyway, so that nothing of the change is its.
    pub warnings: Vec<String>,
}

/// A token and what speaks for it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Likely {
    /// Its text.
    pub token: String,
    /// Its number in the vocabulary.
    pub id: u32,
    /// Its probability: softmax over the whole vocabulary.
    pub prob: f64,
    /// Its logit.
    pub logit: f32,
}

/// One token, before and after.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Followed {
    /// Its text.
    pub token: String,
    /// Its number in the vocabulary.
    pub id: u32,
    /// Its probabilities before and after.
    pub prob: [f64; 2],
    /// Its logits.
    pub logit: [f32; 2],
    /// How many tokens are likelier.
    pub rank: [usize; 2],
}

/// How far a vector moved.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Moved {
    /// Its position.
    pub index: usize,
    /// The token there.
    pub token: String,
    /// The cosine of the angle between the vectors before and after.
    pub cosine: f64,
    /// |after - before| / |before|.
    pub relative_l2: f64,
}

impl<'m> Experiment<'m> {
    /// Reads texts without any intervention. `at` is the position to look at, by default the mask of a text with one mask, else
    /// the last position, in a model that is not causal the last that is no mark. `token` is the id of the token to follow, by
    /// default the likeliest there.
    ///
    /// # Errors
    /// If there is no such position or token, several masks and no position, or the run fails or was stopped.
    pub fn new(
        model: &'m Model,
        texts: Texts,
        at: Option<&str>,
        token: Option<u32>,
        progress: Progress,
    ) -> Result<Self> {
        let names = model.named(&texts)?;
        let at = match at {
            Some(name) => names.find_position(name)?,
            None => usual(model, &names)?,
        };
        let mut states = Vec::new();
        let begun = Begun { states: Some(&mut states), ..Begun::default() };
        let Read { hidden, memory, .. } = model.read(&texts, Interventions::NONE, Keep::Nothing, begun, progress)?;
        let before = Outcome::of(model, &hidden, at)?;
        let token = match (&before.words, token) {
            (None, None) => None,
            (None, Some(_)) => {
                let name = model.name();
                return Err(Error::Text(format!(
                    "{name} has no head that names words, so there is no token to follow"
                )));
            }
            (Some((_, logits)), Some(id)) if id as usize >= logits.len() => {
                let last = logits.len() - 1;
                return Err(Error::Text(format!("token {id} is beyond the vocabulary: ids are 0 to {last}")));
            }
            (Some((_, logits)), None) => Some(likeliest(logits)?),
            (Some(_), given) => given,
        };
        Ok(Self { model, texts, names, at, token, before, states, memory })
    }

    /// The tokens of the texts, in a trace that kept nothing else.
    pub fn names(&self) -> &Trace {
        &self.names
    }

    /// Reads the texts with interventions, and says what that changes. `top` is how many of the likeliest tokens to name.
    ///
    /// # Errors
    /// If an intervention does not fit the model or the text, or the run was stopped.
    pub fn effect(&self, interventions: &Interventions, top: usize, progress: Progress) -> Result<Effect> {
        let mut reached = Reached::default();
        let after = self.run(interventions, Some(&mut reached), progress)?;
        let both = self.before.words.as_ref().zip(after.words.as_ref());
        let token = self.token.zip(both).map(|(id, (before, after))| self.followed(id, [before, after]));
        let moved = self.names.tokens.iter().enumerate().zip(self.before.vectors.iter().zip(&after.vectors));
        Ok(Effect {
            at: self.at(),
            before: self.before(top),
            after: both.map(|(_, after)| self.likely(after, top)),
            kl: both.map(|(before, after)| divergence(&before.0, &after.0)),
            logit_diff: token.as_ref().map(Followed::logit_diff),
            token,
            vectors: moved.map(|((index, token), (a, b))| Moved::new(index, token.text.clone(), a, b)).collect(),
            warnings: interventions.idle(&reached),
        })
    }

    /// The token that is followed, and its text.
    pub fn token(&self) -> Option<(u32, String)> {
        self.token.map(|id| (id, self.text(id)))
    }

    /// The likeliest tokens without any intervention.
    pub fn before(&self, top: usize) -> Option<Vec<Likely>> {
        self.before.words.as_ref().map(|words| self.likely(words, top))
    }

    /// The position that is looked at.
    pub fn at(&self) -> TokenAt {
        TokenAt {
            index: self.at,
            token: self.names.tokens.get(self.at).map(|token| token.text.clone()).unwrap_or_default(),
        }
    }

    /// A run with interventions: from the first layer on in which anything is changed.
    fn run(&self, interventions: &Interventions, reached: Option<&mut Reached>, progress: Progress) -> Result<Outcome> {
        // Only a model with an encoder apart has sites `encoder`; its decoder hears of them from its first layer on.
        let (memory, first) = match interventions.first_layers() {
            (Some(_), _) => (None, 0),
            (None, first) => (self.memory.clone(), first.unwrap_or(usize::MAX)),
        };
        // After the last layer there is a state as well, which is none to go on from.
        let first = first.min(self.states.len().saturating_sub(2));
        let resume = self.states.get(first).filter(|_| first > 0).map(|state| (first, state.clone()));
        let begun = Begun { memory, resume, reached, ..Begun::default() };
        let read = self.model.read(&self.texts, interventions, Keep::Nothing, begun, progress)?;
        Outcome::of(self.model, &read.hidden, self.at)
    }

    fn followed(&self, id: u32, both: [&(Vec<f64>, Vec<f32>); 2]) -> Followed {
        let index = id as usize;
        Followed {
            token: self.text(id),
            id,
            prob: both.map(|(logs, _)| logs[index].exp()),
            logit: both.map(|(_, logits)| logits[index]),
            rank: both.map(|(_, logits)| logits.iter().filter(|logit| **logit > logits[index]).count()),
        }
    }

    fn likely(&self, (logs, logits): &(Vec<f64>, Vec<f32>), top: usize) -> Vec<Likely> {
        let mut order: Vec<usize> = (0..logits.len()).filter(|id| !logits[*id].is_nan()).collect();
        order.sort_by(|a, b| logits[*b].total_cmp(&logits[*a]));
        let of = |id: &usize| Likely {
            token: self.text(*id as u32),
            id: *id as u32,
            prob: logs[*id].exp(),
            logit: logits[*id],
        };
        order.iter().take(top).map(of).collect()
    }

    fn text(&self, id: u32) -> String {
        self.model.tokenizer().tokens(&[id]).pop().map(|token| token.text).unwrap_or_default()
    }
}

impl Outcome {
    /// `hidden` is (len, hidden).
    fn of(model: &Model, hidden: &Tensor, at: usize) -> Result<Self> {
        // Of the whole vocabulary at one position alone.
        let words = match model.family.head() {
            None => None,
            Some(head) => {
                let logits: Vec<f32> = head.logits(&hidden.narrow(0, at, 1)?)?.flatten_all()?.to_vec1()?;
                Some((log_softmax(&logits), logits))
            }
        };
        Ok(Self { vectors: hidden.to_vec2()?, words })
    }
}

impl Followed {
    fn logit_diff(&self) -> f64 {
        f64::from(self.logit[1]) - f64::from(self.logit[0])
    }
}

impl Moved {
    /// From `a` to `b`, two vectors of one length.
    pub fn new(index: usize, token: String, a: &[f32], b: &[f32]) -> Self {
        let sum = |of: &dyn Fn(f64, f64) -> f64| -> f64 {
            a.iter().zip(b).map(|(a, b)| of(f64::from(*a), f64::from(*b))).sum()
        };
        let (aa, bb, ab) = (sum(&|a, _| a * a), sum(&|_, b| b * b), sum(&|a, b| a * b));
        let apart = sum(&|a, b| (b - a) * (b - a));
        // What did not move is exactly where it was.
        let (cosine, relative_l2) =
            if apart == 0.0 { (1.0, 0.0) } else { (ab / (aa * bb).sqrt(), (apart / aa).sqrt()) };
        Self { index, token, cosine, relative_l2 }
    }
}

/// The position to look at where none is given.
pub(crate) fn usual(model: &Model, names: &Trace) -> Result<usize> {
    let last = names.tokens.len() - 1;
    if model.shape().causal {
        return Ok(last);
    }
    let is_mask = |text: &str| MASKS.contains(&text.trim());
    let masks: Vec<usize> = (0..=last).filter(|at| is_mask(&names.tokens[*at].text)).collect();
    match masks[..] {
        [one] => Ok(one),
        [] => Ok((0..=last).rev().find(|at| !names.tokens[*at].special).unwrap_or(last)),
        _ => Err(Error::Text(format!("the text has {} masks; say with --at which one to look at", masks.len()))),
    }
}

/// ln softmax, in f64.
pub(crate) fn log_softmax(logits: &[f32]) -> Vec<f64> {
    let max = logits.iter().fold(f64::NEG_INFINITY, |max, x| max.max(f64::from(*x)));
    let sum: f64 = logits.iter().map(|x| (f64::from(*x) - max).exp()).sum();
    logits.iter().map(|x| f64::from(*x) - max - sum.ln()).collect()
}

/// KL(before || after), of logarithms of probabilities. What rounding would make negative is 0.
pub(crate) fn divergence(before: &[f64], after: &[f64]) -> f64 {
    let terms = before.iter().zip(after).filter(|(before, _)| before.exp() > 0.0);
    let sum: f64 = terms.map(|(before, after)| before.exp() * (before - after)).sum();
    if sum < 0.0 { 0.0 } else { sum }
}
