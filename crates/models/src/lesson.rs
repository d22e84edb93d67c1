//! What the lesson asks of a real model.

use candle_core::Tensor;
use serde::Serialize;

use crate::attend::{Keep, Run};
use crate::cache::Cache;
use crate::error::{Error, Result};
use crate::intervene::Interventions;
use crate::model::{Model, Prompt};

/// Asked between the steps of a longer answer: whether to go on.
pub type Going<'a> = &'a (dyn Fn(usize, usize) -> bool + Sync);

/// One word in two texts, layer by layer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Words {
    /// The texts' tokens.
    pub tokens: [Vec<String>; 2],
    /// Where the word stands in each.
    pub positions: [usize; 2],
    /// Its two vectors before each layer, and after the last.
    pub layers: Vec<Apart>,
    /// Whether the two come in as the same vector but for their place in the text.
    pub same_word_embedding: bool,
}

/// Two vectors of the same word.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Apart {
    /// Layers that have been passed.
    pub layer: usize,
    /// The cosine of the angle between them.
    pub cosine: f64,
    /// Whether they are the same to the last bit.
    pub equal: bool,
}

/// What one changed token changes, position by position.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cut {
    /// The tokens of the text.
    pub tokens: Vec<String>,
    /// The token put in.
    pub replaced_by: String,
    /// The largest change of each position's final vector.
    pub with_attention: Vec<f32>,
    /// The same where all attention is cut: exactly 0 everywhere else.
    pub without_attention: Vec<f32>,
}

/// One step of generation with a cache.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Step {
    /// The text of the new token.
    pub token: String,
    /// Keys in the cache that the step read.
    pub reads: usize,
    /// Tokens whose keys and values the step computed.
    pub computes: usize,
    /// Whether the keys and values of every earlier token are what they were, to the last bit.
    pub keys_unchanged: bool,
}

/// A word followed through the layers of one text.
struct Followed {
    id: u32,
    tokens: Vec<String>,
    place: usize,
    /// The vectors of every token before each layer, and after the last.
    states: Vec<Tensor>,
}

impl Model {
    /// Follows a word that occurs once in each of two texts through the layers.
    ///
    /// # Errors
    /// If the word does not occur once, as one token, in each text.
    pub fn words(&self, texts: &[String; 2], word: &str, going: Going) -> Result<Words> {
        let read = |text: &String| -> Result<Followed> {
            let ids = self.ids(&Prompt::Text(text.clone()))?;
            let tokens: Vec<String> = self.tokenizer().tokens(&ids).into_iter().map(|token| token.text).collect();
            let mut places = (0..ids.len()).filter(|i| tokens[*i].trim() == word);
            let (Some(place), None) = (places.next(), places.next()) else {
                return Err(Error::Text(format!("{word:?} must be one token of {text:?}, and occur once")));
            };
            let mut states = Vec::new();
            let run = Run { progress: going, states: Some(&mut states), ..Run::keeping(Keep::Nothing) };
            self.hidden(&ids, &mut { run })?;
            Ok(Followed { id: ids[place], tokens, place, states })
        };
        let [first, second] = texts;
        let (a, b) = (read(first)?, read(second)?);
        let vector = |states: &Tensor, place: usize| -> Result<Vec<f32>> { Ok(states.get(place)?.to_vec1()?) };
        let mut layers = Vec::new();
        for (layer, (x, y)) in a.states.iter().zip(&b.states).enumerate() {
            let (x, y) = (vector(x, a.place)?, vector(y, b.place)?);
            layers.push(Apart { layer, cosine: cosine(&x, &y), equal: x == y });
        }
        let same_word_embedding = a.id == b.id;
        Ok(Words { positions: [a.place, b.place], tokens: [a.tokens, b.tokens], layers, same_word_embedding })
    }

    /// Replaces one token and sees which positions' final vectors change, with attention and with all of it cut.
    ///
    /// # Errors
    /// If there is no such position, or the replacement is not one token.
    pub fn cut(&self, text: &str, position: usize, replacement: &str, going: Going) -> Result<Cut> {
        let ids = self.ids(&Prompt::Text(text.to_owned()))?;
        let tokens: Vec<String> = self.tokenizer().tokens(&ids).into_iter().map(|token| token.text).collect();
        let Some(old) = tokens.get(position) else {
            let last = tokens.len() - 1;
            return Err(Error::Text(format!("there is no token {position}: the text has tokens 0 to {last}")));
        };
        // A blank in front of the old token is part of it, and so of the new one.
        let blank = if old.starts_with(' ') { " " } else { "" };
        let mut other = ids.clone();
        other[position] = self.tokenizer().one(&format!("{blank}{}", replacement.trim())).ok_or_else(|| {
            Error::Text(format!("{replacement:?} is not one token of this model; try a short, common word"))
        })?;
        let change = |interventions: &Interventions| -> Result<Vec<f32>> {
            let run = |ids: &[u32]| -> Result<Tensor> {
                self.hidden(ids, &mut Run { progress: going, interventions, ..Run::keeping(Keep::Nothing) })
            };
            let difference = (run(&ids)? - run(&other)?)?.abs()?;
            Ok(difference.max(1)?.to_vec1()?)
        };
        Ok(Cut {
            replaced_by: replacement.trim().to_owned(),
            with_attention: change(Interventions::NONE)?,
            without_attention: change(&self.without_attention())?,
            tokens,
        })
    }

    /// Generates a few tokens and looks at the cache before and after each.
    ///
    /// # Errors
    /// If the model has no language head, or the text cannot be read.
    pub fn cached_steps(&self, text: &str, max_tokens: usize, going: Going) -> Result<(Vec<String>, Vec<Step>)> {
        let ids = self.ids(&Prompt::Text(text.to_owned()))?;
        let layers = self.shape().layers;
        let bits = |cache: &Cache, len: usize| -> Vec<Vec<u32>> { (0..layers).map(|l| cache.bits(l, len)).collect() };
        let prompt = self.tokenizer().tokens(&ids).into_iter().map(|token| token.text).collect();
        let (mut cache, mut next, mut new, mut steps) = (Cache::default(), ids, Vec::new(), Vec::new());
        let room = self.shape().context - next.len();
        for step in 0..max_tokens.min(room) {
            if !going(step, max_tokens) {
                return Err(Error::Stopped);
            }
            let (len, before) = (cache.len(), bits(&cache, cache.len()));
            let id = crate::generate::likeliest(&self.next_logits(&next, &mut cache)?)?;
            let keys_unchanged = before == bits(&cache, len);
            new.push(id);
            let token = self.tokenizer().tokens(&new).pop().map(|token| token.text).unwrap_or_default();
            steps.push(Step { token, reads: cache.len(), computes: next.len(), keys_unchanged });
            next = vec![id];
        }
        Ok((prompt, steps))
    }
}

fn cosine(a: &[f32], b: &[f32]) -> f64 {
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum::<f64>();
    dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
}
