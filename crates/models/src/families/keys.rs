//! A config.json, value by value: what is wrong with one is said with its key, what it is, and what would do.

use serde_json::Value;

/// The entries of a configuration. One that is null counts as left out.
#[derive(Clone, Copy)]
pub(crate) struct Keys<'a>(pub(crate) &'a Value);

impl<'a> Keys<'a> {
    pub(crate) fn get(&self, key: &str) -> Option<&'a Value> {
        self.0.get(key).filter(|value| !value.is_null())
    }

    /// A whole number that must be there.
    pub(crate) fn size(&self, key: &str) -> Result<usize, String> {
        let value = self.get(key).ok_or_else(|| format!("{key} is missing"))?;
        let whole = value.as_u64().and_then(|n| usize::try_from(n).ok());
        whole.ok_or_else(|| format!("{key} must be a whole number, not {value}"))
    }

    /// An object within; null where it is left out.
    pub(crate) fn part(&self, key: &str) -> Result<&'a Value, String> {
        match self.get(key) {
            None => Ok(&Value::Null),
            Some(part) if part.is_object() => Ok(part),
            Some(other) => Err(format!("{key} must be an object, not {other}")),
        }
    }

    pub(crate) fn size_or(&self, key: &str, usual: usize) -> Result<usize, String> {
        self.get(key).map_or(Ok(usual), |_| self.size(key))
    }

    pub(crate) fn number_or(&self, key: &str, usual: f64) -> Result<f64, String> {
        let number = |value: &Value| value.as_f64().ok_or_else(|| format!("{key} must be a number, not {value}"));
        self.get(key).map_or(Ok(usual), number)
    }

    pub(crate) fn flag_or(&self, key: &str, usual: bool) -> Result<bool, String> {
        let flag = |value: &Value| value.as_bool().ok_or_else(|| format!("{key} must be true or false, not {value}"));
        self.get(key).map_or(Ok(usual), flag)
    }

    pub(crate) fn word_or(&self, key: &str, usual: &'a str) -> Result<&'a str, String> {
        let word = |value: &'a Value| value.as_str().ok_or_else(|| format!("{key} must be a text, not {value}"));
        self.get(key).map_or(Ok(usual), word)
    }

    pub(crate) fn id_or(&self, key: &str, usual: u32) -> Result<u32, String> {
        let Some(value) = self.get(key) else { return Ok(usual) };
        let id = value.as_u64().and_then(|id| u32::try_from(id).ok());
        id.ok_or_else(|| format!("{key} must be a token id, not {value}"))
    }

    /// One of a few words, each with what it means.
    pub(crate) fn one_of<T: Copy>(&self, key: &str, usual: &'a str, known: &[(&str, T)]) -> Result<T, String> {
        let word = self.word_or(key, usual)?;
        match known.iter().find(|(name, _)| *name == word) {
            Some((_, meaning)) => Ok(*meaning),
            None => {
                let names: Vec<String> = known.iter().map(|(name, _)| format!("{name:?}")).collect();
                let are = if names.len() == 1 { "is" } else { "are" };
                Err(format!("{key} {word:?} is not supported yet; {} {are}", names.join(", ")))
            }
        }
    }
}
