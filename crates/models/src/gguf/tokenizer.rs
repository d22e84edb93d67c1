//! The tokenizer that a header holds.

use super::keys::Keys;
use super::value::Value;
use crate::Tokenizer;
use crate::error::Result;
use crate::tokenizer::{ByteBpe, Kind, SentencePiece, Vocabulary};

pub(super) fn read(keys: &Keys) -> Result<Tokenizer> {
    let kind = keys.text("tokenizer.ggml.model")?;
    let built = match &*kind {
        "gpt2" => byte_bpe(keys)?,
        "llama" => sentencepiece(keys)?,
        other => {
            let known = "\"gpt2\" (byte BPE) and \"llama\" (SentencePiece) are";
            return Err(keys.fail(format!("tokenizer {other:?} (tokenizer.ggml.model) is not supported yet; {known}")));
        }
    };
    built.map_err(|problem| keys.fail(problem))
}

fn byte_bpe(keys: &Keys) -> Result<Result<Tokenizer, String>> {
    let rule = keys.optional_text("tokenizer.ggml.pre")?.unwrap_or_else(|| "gpt-2".into()).into_owned();
    let merges = texts(keys, "tokenizer.ggml.merges")?;
    let begins = ByteBpe::begins(&rule);
    Ok(ByteBpe { vocabulary: vocabulary(keys, begins)?, merges, rule }.build())
}

fn sentencepiece(keys: &Keys) -> Result<Result<Tokenizer, String>> {
    keys.refuse_flag("tokenizer.ggml.remove_extra_whitespaces")?;
    let number = |value: Value| match value {
        Value::Number(x) => Some(x),
        _ => None,
    };
    // Llama, Gemma and Phi-3 begin every text with a mark, where their files do not say otherwise.
    let vocabulary = vocabulary(keys, true)?;
    keys.list("tokenizer.ggml.scores")?;
    let parts = SentencePiece {
        vocabulary,
        scores: keys.listed("tokenizer.ggml.scores", "a list of numbers", number)?.unwrap_or_default(),
        blank_first: keys.optional_flag("tokenizer.ggml.add_space_prefix")?.unwrap_or(true),
        // A Phi-3's marks swallow the blanks that follow them; nothing in its file says so.
        swallowing: keys.architecture == "phi3",
    };
    Ok(parts.build())
}

fn vocabulary(keys: &Keys, begins: bool) -> Result<Vocabulary> {
    let kind = |value: Value| {
        Some(match value.whole()? {
            2 | 3 => Kind::Mark,
            4 => Kind::Whole,
            6 => Kind::Byte,
            _ => Kind::Piece,
        })
    };
    let id = |name: &str| keys.optional_size(&format!("tokenizer.ggml.{name}_token_id"));
    let wants = |name: &str, usual| -> Result<bool> {
        Ok(keys.optional_flag(&format!("tokenizer.ggml.add_{name}_token"))?.unwrap_or(usual))
    };
    let ends = [id("eos")?, id("eot")?, id("eom")?];
    Ok(Vocabulary {
        tokens: texts(keys, "tokenizer.ggml.tokens")?,
        kinds: keys.listed("tokenizer.ggml.token_type", "a list of whole numbers", kind)?.unwrap_or_default(),
        unknown: id("unknown")?,
        first: if wants("bos", begins)? { id("bos")? } else { None },
        last: if wants("eos", false)? { id("eos")? } else { None },
        ends: ends.into_iter().flatten().collect(),
    })
}

fn texts(keys: &Keys, key: &str) -> Result<Vec<String>> {
    keys.list(key)?;
    let text = |value: Value| value.text().map(std::borrow::Cow::into_owned);
    Ok(keys.listed(key, "a list of texts", text)?.unwrap_or_default())
}
