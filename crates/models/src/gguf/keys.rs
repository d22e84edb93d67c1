//! The entries of a header, value by value: what is wrong with one is said with its key, what it is, and what would do.

use std::borrow::Cow;
use std::path::Path;

use super::header::Header;
use super::value::{List, Value};
use crate::error::{Error, Result};

/// The entries of a file. A key that begins with a dot is one of its architecture: `.block_count` is
/// `llama.block_count` in a llama.
#[derive(Clone, Copy)]
pub(crate) struct Keys<'a> {
    pub(super) path: &'a Path,
    pub(super) header: &'a Header<'a>,
    pub(crate) architecture: &'a str,
}

impl<'a> Keys<'a> {
    /// The key as it stands in the file.
    fn whole<'k>(&self, key: &'k str) -> Cow<'k, str> {
        match key.starts_with('.') {
            true => Cow::Owned(format!("{}{key}", self.architecture)),
            false => Cow::Borrowed(key),
        }
    }

    pub(crate) fn get(&self, key: &str) -> Option<Value<'a>> {
        self.header.entries.get(&*self.whole(key)).copied()
    }

    fn must(&self, key: &str) -> Result<Value<'a>> {
        self.get(key).ok_or_else(|| self.fail(format!("its header has no {}", self.whole(key))))
    }

    pub(crate) fn text(&self, key: &str) -> Result<Cow<'a, str>> {
        let value = self.must(key)?;
        value.text().ok_or_else(|| self.wrong(key, "a text", value))
    }

    pub(crate) fn optional_text(&self, key: &str) -> Result<Option<Cow<'a, str>>> {
        self.get(key).map(|_| self.text(key)).transpose()
    }

    pub(crate) fn size(&self, key: &str) -> Result<usize> {
        let value = self.must(key)?;
        let whole = value.whole().and_then(|n| usize::try_from(n).ok());
        whole.ok_or_else(|| self.wrong(key, "a whole number", value))
    }

    pub(crate) fn optional_size(&self, key: &str) -> Result<Option<usize>> {
        self.get(key).map(|_| self.size(key)).transpose()
    }

    /// A number that is finite.
    pub(crate) fn number(&self, key: &str) -> Result<f64> {
        match self.must(key)? {
            Value::Number(x) if x.is_finite() => Ok(x),
            Value::Number(x) => Err(self.fail(format!("{} in its header is {x}", self.whole(key)))),
            other => Err(self.wrong(key, "a number", other)),
        }
    }

    pub(crate) fn optional_number(&self, key: &str) -> Result<Option<f64>> {
        self.get(key).map(|_| self.number(key)).transpose()
    }

    pub(crate) fn optional_flag(&self, key: &str) -> Result<Option<bool>> {
        match self.get(key) {
            None => Ok(None),
            Some(Value::Flag(flag)) => Ok(Some(flag)),
            Some(other) => Err(self.wrong(key, "true or false", other)),
        }
    }

    pub(crate) fn list(&self, key: &str) -> Result<List<'a>> {
        match self.must(key)? {
            Value::List(list) => Ok(list),
            other => Err(self.wrong(key, "a list", other)),
        }
    }

    /// A list, each of whose values is read by `as_one`; none where there is no such key.
    pub(crate) fn listed<T>(
        &self,
        key: &str,
        want: &str,
        as_one: impl Fn(Value<'a>) -> Option<T>,
    ) -> Result<Option<Vec<T>>> {
        let Some(_) = self.get(key) else { return Ok(None) };
        let one = |value| as_one(value).ok_or_else(|| self.wrong(key, want, value));
        self.list(key)?.values().map(one).collect::<Result<_>>().map(Some)
    }

    /// A switch that nothing here computes must be off.
    pub(crate) fn refuse_flag(&self, key: &str) -> Result<()> {
        match self.optional_flag(key)? {
            Some(true) => Err(self.fail(format!("{} is not supported yet", self.whole(key)))),
            _ => Ok(()),
        }
    }

    /// An option that nothing here computes must be off.
    pub(crate) fn refuse(&self, key: &str, off: f64) -> Result<()> {
        let number = match self.get(key) {
            None => return Ok(()),
            Some(Value::Number(x)) => x,
            Some(value) => match value.whole() {
                Some(n) => n as f64,
                None => return Err(self.wrong(key, "a number", value)),
            },
        };
        match number == off {
            true => Ok(()),
            false => Err(self.fail(format!("{} {number} is not supported yet", self.whole(key)))),
        }
    }

    /// The architecture's own number of layers, if its tensors can be those of so many.
    pub(crate) fn countable_layers(&self) -> Result<usize> {
        let (layers, tensors) = (self.size(".block_count")?, self.header.tensors.len());
        match layers <= tensors {
            true => Ok(layers),
            false => Err(self.fail(format!("its header says {layers} layers, but it has only {tensors} tensors"))),
        }
    }

    pub(crate) fn has_tensor(&self, name: &str) -> bool {
        self.header.tensors.contains_key(name)
    }

    pub(crate) fn fail(&self, problem: String) -> Error {
        Error::file(self.path, problem)
    }

    fn wrong(&self, key: &str, want: &str, got: Value) -> Error {
        self.fail(format!("{} in its header must be {want}, not {}", self.whole(key), got.kind()))
    }
}
