//! What a GGUF file says of itself in its first bytes.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use attnscope_inspect::escaped;

use super::header::{entry, opening, other_version};
use super::value::Value;
use crate::families::Entry;

/// Files say what they are before anything long, such as their vocabulary.
const LOOK: u64 = 16 << 10;
/// The longest name that is believed, in bytes.
const LONGEST: usize = 100;

/// `general.name`; none where it is not among the first entries, or the file is no such file.
pub(crate) fn name(path: &Path) -> Option<String> {
    let name = said(path, "general.name")?;
    let name = name.trim();
    (1..=LONGEST).contains(&name.len()).then(|| escaped(name))
}

/// The family of its `general.architecture`.
pub(crate) fn family(path: &Path) -> Option<&'static Entry> {
    Entry::of_gguf(&said(path, "general.architecture")?)
}

/// A text among the first entries.
fn said(path: &Path, wanted: &str) -> Option<String> {
    let mut start = Vec::new();
    let file = File::open(path).ok().filter(|_| path.is_file())?;
    file.take(LOOK).read_to_end(&mut start).ok()?;
    if !start.starts_with(b"GGUF") || other_version(&start).is_some() {
        return None;
    }
    let mut bytes = opening(&start).ok()?;
    let (_tensors, entries) = (bytes.u64().ok()?, bytes.u64().ok()?);
    for _ in 0..entries {
        // Ends at a list that is longer than the look.
        let (key, value) = entry(&mut bytes).ok()?;
        if key == wanted.as_bytes() {
            return match value {
                Value::Text(text) => std::str::from_utf8(text).ok().map(str::to_owned),
                _ => None,
            };
        }
    }
    None
}
