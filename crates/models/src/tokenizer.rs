//! Text to token ids and back, and tokens as a person reads them.

mod byte_bpe;
mod sentencepiece;
mod vocabulary;

use std::path::Path;

use attnscope_inspect::Token;
use serde::Deserialize;
use serde_json::Value;
use tokenizers::{EncodeInput, Encoding, PostProcessor, TruncationParams};

use crate::caught::caught;
use crate::error::{Error, Result};
use crate::{charsmap, template};

pub(crate) use byte_bpe::ByteBpe;
pub(crate) use sentencepiece::SentencePiece;
pub(crate) use vocabulary::{Kind, Vocabulary};

/// A model's own tokenizer.
pub struct Tokenizer {
    inner: tokenizers::Tokenizer,
    pieces: Pieces,
    /// What ends a generated text.
    end: Vec<u32>,
}

/// How encoders write the mark of a word that is to be named.
pub(crate) const MASKS: [&str; 2] = ["[MASK]", "<mask>"];

/// No tokenizer.json is longer, in bytes.
const LARGEST: u64 = 256 << 20;

/// How a vocabulary writes the bytes of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pieces {
    /// Each byte is a printable character of its own (GPT-2).
    Bytes,
    /// Text with U+2581 where there is a blank, and single bytes as `<0xE1>` (SentencePiece with byte fallback: Llama 2,
    /// Mistral, Phi-3, Gemma).
    Fallback,
    /// Plain text, `##` where a piece goes on with a word (WordPiece).
    Plain,
    /// Plain text, U+2581 where there is a blank (SentencePiece).
    Blanks,
}

/// What is looked at of a tokenizer.json before its library reads it: all but the vocabulary, which may be large.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Parts {
    normalizer: Value,
    post_processor: Value,
    decoder: Value,
}

impl Tokenizer {
    /// Opens a tokenizer.json alone, which does not say what ends a generated text.
    ///
    /// # Errors
    /// If it is missing or broken.
    pub fn open(path: &Path) -> Result<Self> {
        Self::from_file(path, Vec::new())
    }

    /// Opens a tokenizer.json. Truncation and padding that it may ask for are switched off: a text is read whole.
    /// `end` are the ids that end a generated text.
    pub(crate) fn from_file(path: &Path, end: Vec<u32>) -> Result<Self> {
        if !path.exists() {
            return Err(Error::file(path, "this model folder has no tokenizer.json"));
        }
        let bad = |error: String| Error::file(path, format!("does not read as a tokenizer: {error}"));
        let about = std::fs::metadata(path).map_err(|error| bad(error.to_string()))?;
        // Opening a pipe would wait for somebody to write.
        if !about.is_file() {
            return Err(bad("it is no file".to_owned()));
        }
        let size = about.len();
        if size > LARGEST {
            return Err(bad(format!("it is {size} bytes long, and none is longer than {LARGEST}")));
        }
        let json = std::fs::read(path).map_err(|error| bad(error.to_string()))?;
        // The library panics on what is not JSON, so it must not see any.
        let text = std::str::from_utf8(&json).map_err(|error| bad(error.to_string()))?;
        let parts: Parts = serde_json::from_str(text).map_err(|error| bad(error.to_string()))?;
        template::check(&parts.post_processor).map_err(bad)?;
        charsmap::check(&parts.normalizer).map_err(bad)?;
        let read = caught(|| tokenizers::Tokenizer::from_bytes(&json));
        let read = read.ok_or_else(|| bad("it is damaged inside; fetch it again".to_owned()))?;
        let mut inner = read.map_err(|error| bad(error.to_string()))?;
        inner.with_truncation(None).map_err(|error| Error::file(path, error.to_string()))?;
        inner.with_padding(None);
        let pieces = match inner.get_decoder() {
            Some(tokenizers::DecoderWrapper::ByteLevel(_)) => Pieces::Bytes,
            Some(tokenizers::DecoderWrapper::Metaspace(_)) => Pieces::Blanks,
            _ if falls_back(&parts.decoder) => Pieces::Fallback,
            _ => Pieces::Plain,
        };
        Ok(Self { inner, pieces, end })
    }

    /// The ids of a text, with the marks that the model expects around it.
    ///
    /// # Errors
    /// If the tokenizer fails.
    pub fn encode(&self, text: &str) -> Result<Vec<u32>> {
        Ok(self.read(text, true)?.get_ids().to_vec())
    }

    /// The ids of a text without those marks; marks that the text itself spells are read as such.
    ///
    /// # Errors
    /// If the tokenizer fails.
    pub fn encode_unmarked(&self, text: &str) -> Result<Vec<u32>> {
        Ok(self.read(text, false)?.get_ids().to_vec())
    }

    /// The ids of two texts put together as the model expects them, and which of the two each is of, 0 or 1.
    ///
    /// # Errors
    /// If the tokenizer fails.
    pub fn encode_pair(&self, first: &str, second: &str) -> Result<(Vec<u32>, Vec<u32>)> {
        let encoding = self.read((first, second), true)?;
        Ok((encoding.get_ids().to_vec(), encoding.get_type_ids().to_vec()))
    }

    /// The same tokenizer, but its texts, or pairs of them, have no more than `len` tokens: where they would, words are left
    /// out at the end of the longer text, and no marks. None where the marks alone are more.
    pub(crate) fn shortened(&self, len: usize) -> Option<Self> {
        let marks =
            self.inner.get_post_processor().map_or(0, |marks| marks.added_tokens(true).max(marks.added_tokens(false)));
        if len <= marks {
            return None;
        }
        let mut inner = self.inner.clone();
        let params = TruncationParams { max_length: len, ..TruncationParams::default() };
        inner.with_truncation(Some(params)).ok()?;
        Some(Self { inner, pieces: self.pieces, end: self.end.clone() })
    }

    /// Whether it puts a mark between two texts.
    pub fn knows_pairs(&self) -> bool {
        self.inner.get_post_processor().is_some_and(|marks| marks.added_tokens(true) > marks.added_tokens(false))
    }

    /// The same without the marks.
    ///
    /// # Errors
    /// If the tokenizer fails.
    pub fn encode_pair_unmarked(&self, first: &str, second: &str) -> Result<(Vec<u32>, Vec<u32>)> {
        let encoding = self.read((first, second), false)?;
        Ok((encoding.get_ids().to_vec(), encoding.get_type_ids().to_vec()))
    }

    fn read<'s>(&self, text: impl Into<EncodeInput<'s>> + Send, marks: bool) -> Result<Encoding> {
        let failed = |error: String| Error::Text(format!("this model's tokenizer cannot read the text: {error}"));
        let encoding = caught(|| self.inner.encode(text, marks)).ok_or_else(|| failed("it is damaged".to_owned()))?;
        encoding.map_err(|error| failed(error.to_string()))
    }

    /// An id to fill up a text with, which nothing will see: the tokenizer's own mark for that, where it has one.
    pub(crate) fn padding(&self) -> u32 {
        let named = ["[PAD]", "<pad>", "<|endoftext|>"].iter().find_map(|mark| self.inner.token_to_id(mark));
        named.or(self.end.first().copied()).unwrap_or(0)
    }

    /// How it writes the mark that stands for a word which is to be named; none where it has none.
    pub(crate) fn mask(&self) -> Option<&'static str> {
        MASKS.into_iter().find(|mask| self.inner.token_to_id(mask).is_some_and(|id| self.is_mark(id)))
    }

    /// The id of a text that is exactly one token, marks left aside.
    pub fn one(&self, text: &str) -> Option<u32> {
        match caught(|| self.inner.encode(text, false))?.ok()?.get_ids() {
            &[id] => Some(id),
            _ => None,
        }
    }

    /// The text of ids; marks are left out.
    ///
    /// # Errors
    /// If the tokenizer fails.
    pub fn decode(&self, ids: &[u32]) -> Result<String> {
        let failed = |error: String| failed("cannot write its tokens", &error);
        let text = caught(|| self.inner.decode(ids, true)).ok_or_else(|| failed("it is damaged".to_owned()))?;
        text.map_err(|error| failed(error.to_string()))
    }

    /// The marks that it puts before every text.
    ///
    /// # Errors
    /// If the tokenizer fails.
    pub fn before_text(&self) -> Result<Vec<u32>> {
        let mut ids = self.encode("a")?;
        let words = ids.iter().position(|id| self.is_word(*id));
        ids.truncate(words.unwrap_or(0));
        Ok(ids)
    }

    /// Whether an id is of the vocabulary, and no mark.
    pub fn is_word(&self, id: u32) -> bool {
        self.inner.id_to_token(id).is_some() && !self.is_mark(id)
    }

    fn is_mark(&self, id: u32) -> bool {
        let added = self.inner.get_added_vocabulary().get_added_tokens_decoder();
        added.get(&id).is_some_and(|token| token.special)
    }

    /// Number of tokens in the vocabulary, marks included.
    pub fn vocab(&self) -> usize {
        self.inner.get_vocab_size(true)
    }

    /// Whether this id ends a generated text.
    pub fn ends(&self, id: u32) -> bool {
        self.end.contains(&id)
    }

    /// Tokens as a person reads them: bytes joined to whole characters. Tokens that share a character all show it,
    /// and say which part of it they are.
    pub fn tokens(&self, ids: &[u32]) -> Vec<Token> {
        let mut tokens: Vec<Token> = Vec::with_capacity(ids.len());
        // Bytes of a character that has begun but not ended, and the token with which it began.
        let (mut open, mut first) = (Vec::new(), 0);
        for (index, &id) in ids.iter().enumerate() {
            let special = self.is_mark(id);
            let piece = self.inner.id_to_token(id).unwrap_or_default();
            if special {
                open.clear();
                tokens.push(Token { id: Some(id), text: piece, special, part: None });
                continue;
            }
            if open.is_empty() {
                first = index;
            }
            open.extend(self.bytes(&piece));
            tokens.push(Token::plain(Some(id), String::from_utf8_lossy(&open)));
            match std::str::from_utf8(&open) {
                Err(error) if error.error_len().is_none() => continue,
                Ok(text) if first < index => {
                    let count = (index + 1 - first) as u32;
                    for (part, token) in (0..).zip(&mut tokens[first..]) {
                        token.text = text.to_owned();
                        token.part = Some((part, count));
                    }
                }
                _ => {}
            }
            open.clear();
        }
        tokens
    }

    /// The bytes that a piece of the vocabulary stands for.
    fn bytes(&self, piece: &str) -> Vec<u8> {
        match self.pieces {
            Pieces::Plain => piece.as_bytes().to_vec(),
            Pieces::Blanks => piece.replace('\u{2581}', " ").into_bytes(),
            Pieces::Bytes => piece.chars().flat_map(byte_of).collect(),
            Pieces::Fallback => {
                single_byte(piece).map_or_else(|| piece.replace('\u{2581}', " ").into_bytes(), |byte| vec![byte])
            }
        }
    }
}

/// The library's words quote what it met, however long that is.
fn failed(what: &str, error: &str) -> Error {
    Error::Text(format!("this model's tokenizer {what}: {}", attnscope_inspect::fit_to_show(error)))
}

/// Whether a decoder of a tokenizer.json reads `<0xE1>` as a byte.
fn falls_back(decoder: &Value) -> bool {
    let list = decoder["decoders"].as_array();
    list.is_some_and(|list| list.iter().any(|decoder| decoder["type"] == "ByteFallback"))
}

/// The byte that a piece like `<0xE1>` stands for; none where it is another.
fn single_byte(piece: &str) -> Option<u8> {
    let digits = piece.strip_prefix("<0x")?.strip_suffix('>')?;
    if digits.len() == 2 { u8::from_str_radix(digits, 16).ok() } else { None }
}

/// The byte that a character of a GPT-2 vocabulary stands for: printable Latin-1 stands for itself, and the bytes
/// that are left over, in order, for the characters from U+0100 on. Other characters stand for themselves.
fn byte_of(c: char) -> Vec<u8> {
    let printable = |byte: u8| matches!(byte, 0x21..=0x7E | 0xA1..=0xAC | 0xAE..=0xFF);
    match u32::from(c) {
        code @ 0..=0xFF if printable(code as u8) => vec![code as u8],
        code @ 0x100..=0x143 => {
            (0..=0xFF).filter(|byte| !printable(*byte)).nth(code as usize - 0x100).into_iter().collect()
        }
        _ => c.to_string().into_bytes(),
    }
}
