//! Which token comes next: the likeliest, or one that is drawn from the likelier ones.

use std::hash::{BuildHasher, Hasher, RandomState};

use crate::error::{Error, Result};

/// How a text goes on. By default always with the likeliest token; as soon as one of temperature, top-k, top-p, min-p or a
/// seed is given, with one that is drawn.
///
/// What is given is applied in this order, which is that of transformers: repetition penalty, temperature, top-k, top-p,
/// min-p.
#[derive(Clone, Debug, PartialEq)]
pub struct Sampling {
    /// Tokens at most.
    pub max_tokens: usize,
    /// Scores are divided by it: below 1 the likely become likelier. At least [`Sampling::COLDEST`].
    pub temperature: Option<f64>,
    /// Only so many tokens with the highest scores, and those that equal the last of them. (Fan et al. 2018)
    pub top_k: Option<usize>,
    /// Only the fewest likeliest tokens whose probabilities sum to this, above 0 and at most 1. (Holtzman et al. 2019)
    pub top_p: Option<f64>,
    /// Only tokens at least this share as likely as the likeliest, 0 to 1. (Nguyen et al. 2024)
    pub min_p: Option<f64>,
    /// What scores above 0 of tokens that were there before, the prompt's included, are divided by, and those below 0
    /// multiplied by. Above 0; 1 is none. (Keskar et al. 2019)
    pub repetition_penalty: Option<f64>,
    /// The same seed draws the same tokens; without one, every run draws others.
    pub seed: Option<u64>,
    /// Texts before which a continuation ends.
    pub stop: Vec<String>,
}

impl Default for Sampling {
    fn default() -> Self {
        Self {
            max_tokens: 64,
            temperature: None,
            top_k: None,
            top_p: None,
            min_p: None,
            repetition_penalty: None,
            seed: None,
            stop: Vec::new(),
        }
    }
}

impl Sampling {
    /// The lowest temperature: below it even the smallest difference decides, as without one.
    pub const COLDEST: f64 = 1e-6;

    /// At most so many tokens, each the likeliest.
    pub fn greedy(max_tokens: usize) -> Self {
        Self { max_tokens, ..Self::default() }
    }

    /// Whether tokens are drawn.
    pub fn draws(&self) -> bool {
        let Self { temperature, top_k, top_p, min_p, seed, .. } = self;
        temperature.is_some() || top_k.is_some() || top_p.is_some() || min_p.is_some() || seed.is_some()
    }

    /// That every value means something.
    ///
    /// # Errors
    /// Naming the one that does not, what it is, and what it must be.
    pub fn check(&self) -> Result<()> {
        let share = |x: f64| x > 0.0 && x <= 1.0;
        let checks = [
            ("temperature", self.temperature, "at least 0.000001; leave it out to take the likeliest token", {
                (|x| x.is_finite() && x >= Self::COLDEST) as fn(f64) -> bool
            }),
            ("top-p", self.top_p, "above 0 and at most 1", share),
            ("min-p", self.min_p, "0 to 1", |x| (0.0..=1.0).contains(&x)),
            ("repetition penalty", self.repetition_penalty, "a number above 0; 1 is none", |x| {
                x.is_finite() && x > 0.0
            }),
        ];
        for (name, value, want, fine) in checks {
            if let Some(value) = value.filter(|value| !fine(*value)) {
                return Err(Error::Text(format!("the {name} is {value}, but must be {want}")));
            }
        }
        if self.top_k == Some(0) {
            return Err(Error::Text("top-k is 0, but must be at least 1: of no token, none can be drawn".to_owned()));
        }
        if self.stop.iter().any(String::is_empty) {
            return Err(Error::Text("a stop string is empty: every text would end before it began".to_owned()));
        }
        Ok(())
    }

    /// The scores of every token after all that is given, -inf for one that is out; `seen` are the tokens before, the
    /// prompt's included.
    ///
    /// # Errors
    /// As [`Sampling::check`]; or if no logit is finite.
    pub fn scores(&self, logits: &[f32], seen: &[u32]) -> Result<Vec<f64>> {
        self.check()?;
        let finite = |x: &f32| if x.is_finite() { f64::from(*x) } else { f64::NEG_INFINITY };
        let mut scores: Vec<f64> = logits.iter().map(finite).collect();
        if largest(&scores) == f64::NEG_INFINITY {
            return Err(Error::Text("every logit is NaN: the checkpoint is damaged".to_owned()));
        }
        if let Some(penalty) = self.repetition_penalty {
            let mut seen = seen.to_vec();
            seen.sort_unstable();
            seen.dedup();
            for id in seen {
                if let Some(score) = scores.get_mut(id as usize) {
                    *score = if *score < 0.0 { *score * penalty } else { *score / penalty };
                }
            }
        }
        if let Some(temperature) = self.temperature {
            scores.iter_mut().for_each(|score| *score /= temperature);
        }
        if let Some(k) = self.top_k.filter(|k| *k < scores.len()) {
            let mut sorted = scores.clone();
            let (_, last, _) = sorted.select_nth_unstable_by(k - 1, |a, b| b.total_cmp(a));
            let last = *last;
            keep(&mut scores, |score| score >= last);
        }
        if let Some(p) = self.top_p {
            nucleus(&mut scores, p);
        }
        if let Some(least) = self.min_p {
            let top = largest(&scores);
            keep(&mut scores, |score| (score - top).exp() >= least);
        }
        Ok(scores)
    }
}

/// Takes out the least likely tokens, whose probabilities together are at most 1 - p; never the likeliest of all.
fn nucleus(scores: &mut [f64], p: f64) {
    let mut order: Vec<usize> = (0..scores.len()).filter(|id| scores[*id] > f64::NEG_INFINITY).collect();
    order.sort_unstable_by(|a, b| scores[*a].total_cmp(&scores[*b]).then(b.cmp(a)));
    order.pop();
    let top = largest(scores);
    let all: f64 = scores.iter().map(|score| (score - top).exp()).sum();
    let mut mass = 0.0;
    for id in order {
        mass += (scores[id] - top).exp() / all;
        if mass > 1.0 - p {
            break;
        }
        scores[id] = f64::NEG_INFINITY;
    }
}

fn keep(scores: &mut [f64], kept: impl Fn(f64) -> bool) {
    scores.iter_mut().filter(|score| !kept(**score)).for_each(|score| *score = f64::NEG_INFINITY);
}

fn largest(scores: &[f64]) -> f64 {
    scores.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

/// Chooses one token after another.
pub(crate) struct Chooser<'a> {
    sampling: &'a Sampling,
    /// What the next draw depends on, where tokens are drawn.
    state: Option<u64>,
}

impl<'a> Chooser<'a> {
    /// # Errors
    /// As [`Sampling::check`].
    pub(crate) fn new(sampling: &'a Sampling) -> Result<Self> {
        sampling.check()?;
        let any = || RandomState::new().build_hasher().finish();
        Ok(Self { sampling, state: sampling.draws().then(|| sampling.seed.unwrap_or_else(any)) })
    }

    /// The seed, where tokens are drawn; to be asked for before the first is.
    pub(crate) fn seed(&self) -> Option<u64> {
        self.state
    }

    /// # Errors
    /// If no logit is finite.
    pub(crate) fn choose(&mut self, logits: &[f32], seen: &[u32]) -> Result<u32> {
        let scores = self.sampling.scores(logits, seen)?;
        let likeliest = || (0..).zip(&scores).max_by(|(_, a), (_, b)| a.total_cmp(b)).map_or(0, |(id, _)| id);
        let Some(state) = &mut self.state else { return Ok(likeliest()) };
        let top = largest(&scores);
        let weight = |score: &f64| (score - top).exp();
        let mut rest = unit(state) * scores.iter().map(weight).sum::<f64>();
        for (id, weight) in (0..).zip(scores.iter().map(weight)).filter(|(_, weight)| *weight > 0.0) {
            rest -= weight;
            if rest < 0.0 {
                return Ok(id);
            }
        }
        // Rounding may leave a hair.
        Ok(likeliest())
    }
}

/// A number from 0 to 1, 1 left out; the same for ever for a seed. (SplitMix64, Steele et al. 2014)
fn unit(state: &mut u64) -> f64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
}
