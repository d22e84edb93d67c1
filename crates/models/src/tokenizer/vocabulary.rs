//! A vocabulary as a list of tokens, from which a tokenizer is put together.

use ahash::AHashMap;
use tokenizers::models::bpe::BpeBuilder;
use tokenizers::processors::template::{SpecialToken, TemplateProcessing};
use tokenizers::{AddedToken, ModelWrapper};

use super::{Pieces, Tokenizer};
use crate::caught::caught;

/// The tokens of a model, and what is known of them.
#[derive(Debug, Default)]
pub(crate) struct Vocabulary {
    /// By id.
    pub(crate) tokens: Vec<String>,
    /// What each is; pieces of text where the list is shorter.
    pub(crate) kinds: Vec<Kind>,
    /// What stands for text that no token can write.
    pub(crate) unknown: Option<usize>,
    /// Put before every text, and after it.
    pub(crate) first: Option<usize>,
    pub(crate) last: Option<usize>,
    /// What ends a generated text.
    pub(crate) ends: Vec<usize>,
}

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A piece of text, or of a character.
    Piece,
    /// A text that is never cut, and is looked for before everything else.
    Whole,
    /// A mark, which is no text.
    Mark,
    /// A single byte, `<0xE1>`.
    Byte,
}

impl Vocabulary {
    pub(super) fn kind(&self, id: usize) -> Kind {
        self.kinds.get(id).copied().unwrap_or(Kind::Piece)
    }

    /// That ids are within the vocabulary, which fits ids of 32 bits.
    pub(super) fn check(&self) -> Result<(), String> {
        let len = self.tokens.len();
        let named = [self.first, self.last, self.unknown].into_iter().flatten();
        if named.chain(self.ends.iter().copied()).any(|id| id >= len) {
            return Err(format!("its tokenizer has a begin or end mark beyond its {len} tokens"));
        }
        u32::try_from(len).map(|_| ()).map_err(|_| format!("its tokenizer has {len} tokens, which is too many"))
    }

    /// Each token and its id.
    pub(super) fn ids(&self) -> Result<AHashMap<String, u32>, String> {
        let ids: AHashMap<String, u32> = self.tokens.iter().cloned().zip(0..).collect();
        match ids.len() == self.tokens.len() {
            true => Ok(ids),
            false => Err("its tokenizer has the same token twice".to_owned()),
        }
    }

    /// A tokenizer of a model that was made of this vocabulary. Marks swallow the blanks after them where `swallowing`.
    pub(super) fn tokenizer(self, bpe: BpeBuilder, pieces: Pieces, swallowing: bool) -> Result<Tokenizer, String> {
        let broken = |error: tokenizers::Error| format!("its tokenizer: {error}");
        // The library panics on a merge that makes no token.
        let built = caught(|| bpe.build());
        let bpe = built.ok_or("its tokenizer is damaged: a merge makes more than any token; fetch it again")?;
        let bpe = bpe.map_err(broken)?;
        let mut inner = tokenizers::Tokenizer::new(ModelWrapper::BPE(bpe));
        let keeps = |text: &str| ["<unk>", "<s>", "<|endoftext|>"].contains(&text);
        let added = |wanted: Kind, special: bool| -> Vec<AddedToken> {
            let of_kind =
                self.tokens.iter().enumerate().filter(|(id, text)| self.kind(*id) == wanted && !text.is_empty());
            let one = |text: &String| AddedToken::from(text.clone(), special).normalized(false);
            of_kind.map(|(_, text)| one(text).rstrip(swallowing && !keeps(text))).collect()
        };
        let (marks, wholes) = (added(Kind::Mark, true), added(Kind::Whole, false));
        inner.add_special_tokens(marks).map_err(broken)?;
        inner.add_tokens(wholes).map_err(broken)?;
        let id = |id: &Option<usize>| id.map(|id| (self.tokens[id].clone(), id as u32));
        let (first, last) = (id(&self.first), id(&self.last));
        if first.is_some() || last.is_some() {
            inner.with_post_processor(Some(around(first, last)?));
        }
        let end = self.ends.iter().map(|id| *id as u32).collect();
        Ok(Tokenizer { inner, pieces, end })
    }
}

/// Puts marks around a text, or around two that are read as one.
fn around(first: Option<(String, u32)>, last: Option<(String, u32)>) -> Result<TemplateProcessing, String> {
    let marks = [("first", first), ("last", last)];
    let mark = |at: usize| marks[at].1.as_ref().map(|_| marks[at].0.to_owned());
    let with = |texts: &[&str]| -> Vec<String> {
        mark(0).into_iter().chain(texts.iter().map(|text| (*text).to_owned())).chain(mark(1)).collect()
    };
    let named = |(name, mark): &(&str, Option<(String, u32)>)| {
        let (text, id) = mark.clone()?;
        Some(SpecialToken::new((*name).to_owned(), vec![id], vec![text]))
    };
    let specials = marks.iter().filter_map(named).collect::<Result<Vec<_>, _>>();
    let specials = specials.map_err(|error| format!("its tokenizer: {error}"))?;
    let mut builder = TemplateProcessing::builder();
    builder.try_single(with(&["$A"]))?.try_pair(with(&["$A", "$B:1"]))?.special_tokens(specials);
    builder.build().map_err(|error| format!("its tokenizer: {error}"))
}
