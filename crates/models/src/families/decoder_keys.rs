//! Of a config.json, what decoders alone say.

use serde_json::Value;

use super::keys::Keys;

/// What turns the last vectors into logits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Head {
    /// A matrix of its own.
    Own,
    /// The token embedding again, where the checkpoint has no head of its own.
    Tied,
    /// Nothing: a base model, or one made for another task.
    Absent,
}

impl<'a> Keys<'a> {
    /// Whether a key is there, if only with null.
    fn says(&self, key: &str) -> bool {
        self.0.get(key).is_some()
    }

    pub(crate) fn number(&self, key: &str) -> Result<f64, String> {
        self.optional_number(key)?.ok_or_else(|| format!("{key} is missing"))
    }

    pub(crate) fn optional_number(&self, key: &str) -> Result<Option<f64>, String> {
        self.get(key).map(|_| self.number_or(key, 0.0)).transpose()
    }

    /// A number that null switches off; `usual` only where the key is missing.
    pub(crate) fn switched_number(&self, key: &str, usual: Option<f64>) -> Result<Option<f64>, String> {
        if self.says(key) { self.optional_number(key) } else { Ok(usual) }
    }

    /// A size that null switches off; `usual` only where the key is missing.
    pub(crate) fn switched_size(&self, key: &str, usual: Option<usize>) -> Result<Option<usize>, String> {
        if self.says(key) { self.get(key).map(|_| self.size(key)).transpose() } else { Ok(usual) }
    }

    pub(crate) fn list(&self, key: &str) -> Result<Option<&'a [Value]>, String> {
        let list = |value: &'a Value| match value.as_array() {
            Some(list) => Ok(&list[..]),
            None => Err(format!("{key} must be a list, not {value}")),
        };
        self.get(key).map(list).transpose()
    }

    pub(crate) fn numbers(&self, key: &str) -> Result<Vec<f64>, String> {
        let list = self.list(key)?.ok_or_else(|| format!("{key} is missing"))?;
        let number =
            |value: &Value| value.as_f64().ok_or_else(|| format!("{key} must be a list of numbers, not {value}"));
        list.iter().map(number).collect()
    }

    /// A switch that is supported in one position only.
    pub(crate) fn only(&self, key: &str, supported: bool) -> Result<(), String> {
        match self.flag_or(key, supported)? == supported {
            true => Ok(()),
            false => Err(format!("{key} {} is not supported yet; {supported} is", !supported)),
        }
    }

    /// The language head that `architectures` and `tie_word_embeddings` (by default `tied`) speak of.
    pub(crate) fn head(&self, tied: bool) -> Result<Head, String> {
        let tied = self.flag_or("tie_word_embeddings", tied)?;
        let architectures = self.list("architectures")?.unwrap_or_default();
        let headed = |value: &Value| {
            value.as_str().is_some_and(|name| name.ends_with("ForCausalLM") || name.ends_with("LMHeadModel"))
        };
        Ok(match (architectures.is_empty() || architectures.iter().any(headed), tied) {
            (false, _) => Head::Absent,
            (true, true) => Head::Tied,
            (true, false) => Head::Own,
        })
    }
}
