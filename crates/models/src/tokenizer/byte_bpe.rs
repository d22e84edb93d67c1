//! Byte BPE, as a GGUF file holds it: tokens, merges, and the name of the rule by which a text is cut before merging.

use tokenizers::models::bpe::BPE;
use tokenizers::normalizers::unicode::NFC;
use tokenizers::pre_tokenizers::PreTokenizerWrapper;
use tokenizers::pre_tokenizers::byte_level::ByteLevel;
use tokenizers::pre_tokenizers::digits::Digits;
use tokenizers::pre_tokenizers::sequence::Sequence;
use tokenizers::pre_tokenizers::split::{Split, SplitPattern};
use tokenizers::tokenizer::SplitDelimiterBehavior;

use super::vocabulary::Vocabulary;
use super::{Pieces, Tokenizer};

/// A byte BPE before it is put together.
pub(crate) struct ByteBpe {
    pub(crate) vocabulary: Vocabulary,
    /// Two tokens each, with a space between.
    pub(crate) merges: Vec<String>,
    /// `tokenizer.ggml.pre`.
    pub(crate) rule: String,
}

/// A rule by which texts are cut.
struct Rule {
    /// What llama.cpp calls it.
    names: &'static [&'static str],
    cut: Cut,
    /// Whether letters and the marks on them are joined to one character where there is one.
    composes: bool,
    /// Whether a piece that is a token is not merged from its parts.
    takes_whole: bool,
    /// Whether a text begins with a mark where the file does not say.
    begins: bool,
}

enum Cut {
    /// GPT-2's: words, numbers and the rest, each with a blank before it. (Radford et al. 2019)
    Words,
    /// The same after digits, each of which is alone.
    DigitsThenWords,
    /// At the matches of an expression.
    At(&'static str),
}

/// Three digits at most, letters with what stands before them. (tiktoken's cl100k_base)
const THREE_DIGITS: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";
/// The same with each digit alone.
const EACH_DIGIT: &str =
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";
/// Words are cut where small letters end and large ones begin. (Mistral's Tekken)
const BY_CASE: &str = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+";
/// The same with up to three digits, and with 's and its like. (tiktoken's o200k_base)
const BY_CASE_THREE_DIGITS: &str = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+";

const fn rule(names: &'static [&'static str], cut: Cut) -> Rule {
    Rule { names, cut, composes: false, takes_whole: false, begins: false }
}

static RULES: [Rule; 7] = [
    rule(&["gpt-2", "default"], Cut::Words),
    rule(&["smollm", "starcoder", "refact"], Cut::DigitsThenWords),
    Rule { takes_whole: true, begins: true, ..rule(&["llama-bpe", "llama3", "llama-v3"], Cut::At(THREE_DIGITS)) },
    rule(&["dbrx", "smaug-bpe"], Cut::At(THREE_DIGITS)),
    Rule { composes: true, ..rule(&["qwen2"], Cut::At(EACH_DIGIT)) },
    Rule { takes_whole: true, begins: true, ..rule(&["tekken"], Cut::At(BY_CASE)) },
    rule(&["gpt-4o"], Cut::At(BY_CASE_THREE_DIGITS)),
];

impl Rule {
    fn named(name: &str) -> Result<&'static Self, String> {
        RULES.iter().find(|rule| rule.names.contains(&name)).ok_or_else(|| {
            let names: Vec<&str> = RULES.iter().flat_map(|rule| rule.names).copied().collect();
            let known = names.join(", ");
            format!("its tokenizer's rule {name:?} (tokenizer.ggml.pre) is not supported yet; known are {known}")
        })
    }

    fn pre_tokenizer(&self) -> Result<PreTokenizerWrapper, String> {
        let words = ByteLevel::new(false, true, true);
        Ok(match self.cut {
            Cut::Words => words.into(),
            Cut::DigitsThenWords => Sequence::new(vec![Digits::new(true).into(), words.into()]).into(),
            Cut::At(expression) => {
                let pattern = SplitPattern::Regex(expression.to_owned());
                let split = Split::new(pattern, SplitDelimiterBehavior::Isolated, false)
                    .map_err(|error| format!("its tokenizer: {error}"))?;
                Sequence::new(vec![split.into(), ByteLevel::new(false, true, false).into()]).into()
            }
        })
    }
}

impl ByteBpe {
    /// Whether models of this rule begin a text with a mark where their file does not say.
    pub(crate) fn begins(rule: &str) -> bool {
        Rule::named(rule).is_ok_and(|rule| rule.begins)
    }

    /// Puts it together.
    ///
    /// # Errors
    /// Words on what does not fit.
    pub(crate) fn build(self) -> Result<Tokenizer, String> {
        let Self { vocabulary, merges, rule } = self;
        let rule = Rule::named(&rule)?;
        vocabulary.check()?;
        let pair = |merge: String| match merge.split_once(' ') {
            Some((left, right)) => Ok((left.to_owned(), right.to_owned())),
            None => Err(format!("its tokenizer has a merge {merge:?}, which must be two tokens with a space between")),
        };
        let merges = merges.into_iter().map(pair).collect::<Result<Vec<_>, String>>()?;
        let bpe = BPE::builder().vocab_and_merges(vocabulary.ids()?, merges).ignore_merges(rule.takes_whole);
        let mut tokenizer = vocabulary.tokenizer(bpe, Pieces::Bytes, false)?;
        tokenizer.inner.with_pre_tokenizer(Some(rule.pre_tokenizer()?));
        tokenizer.inner.with_decoder(Some(ByteLevel::default()));
        if rule.composes {
            tokenizer.inner.with_normalizer(Some(NFC)).map_err(|error| format!("its tokenizer: {error}"))?;
        }
        Ok(tokenizer)
    }
}
