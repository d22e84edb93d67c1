//! The header of a GGUF file: its entries, and where its tensors are. (ggml-org/ggml, docs/gguf.md)

use std::collections::BTreeMap;

use super::bytes::Bytes;
use super::value::Value;

/// What a file says of itself.
pub(crate) struct Header<'a> {
    pub(super) entries: BTreeMap<String, Value<'a>>,
    pub(super) tensors: BTreeMap<String, Place>,
    /// Where the tensors begin, in bytes from the start of the file.
    pub(super) data: usize,
}

/// Where a tensor is, and how it is stored.
pub(crate) struct Place {
    /// Its ggml type.
    pub(super) code: u32,
    /// Its dimensions, the slowest first.
    pub(super) shape: Vec<usize>,
    /// Where it begins, in bytes from where the tensors do.
    pub(super) offset: u64,
}

/// No tensor has more dimensions.
const MOST_DIMENSIONS: u32 = 4;
/// The fewest bytes of an entry: an empty key, a type, and a value of one byte.
const SMALLEST_ENTRY: usize = 8 + 4 + 1;
/// The fewest bytes of what is said of a tensor: an empty name, no dimensions, type and offset.
const SMALLEST_TENSOR: usize = 8 + 4 + 4 + 8;

/// What follows magic and version: the number of tensors, that of entries, the entries.
pub(super) fn opening(all: &[u8]) -> Result<Bytes<'_>, String> {
    let mut bytes = Bytes::new(all);
    bytes.take(4)?;
    bytes.u32()?;
    Ok(bytes)
}

/// Why a file that begins with the magic is not read, whatever follows; none where it is.
pub(super) fn other_version(all: &[u8]) -> Option<String> {
    let version = all.get(4..8).and_then(|bytes| bytes.try_into().ok()).map(u32::from_le_bytes)?;
    match version {
        2 | 3 => None,
        other if other.swap_bytes() <= 3 => {
            Some("is a GGUF file for big-endian machines, which is not read".to_owned())
        }
        other => Some(format!("is a GGUF file of version {other}, which is not read; 2 and 3 are")),
    }
}

/// An entry.
pub(super) fn entry<'a>(bytes: &mut Bytes<'a>) -> Result<(&'a [u8], Value<'a>), String> {
    Ok((bytes.text()?, Value::read(bytes)?))
}

impl<'a> Header<'a> {
    /// Reads it from a whole file that begins with the magic.
    pub(super) fn read(all: &'a [u8]) -> Result<Self, String> {
        let mut bytes = opening(all)?;
        let tensor_count = bytes.count("a tensor count", SMALLEST_TENSOR)?;
        let entry_count = bytes.count("a metadata count", SMALLEST_ENTRY)?;
        let mut entries = BTreeMap::new();
        for at in 1..=entry_count {
            let read = entry(&mut bytes).map_err(|problem| format!("metadata entry {at} of {entry_count}: {problem}"));
            let (key, value) = read?;
            let key = String::from_utf8_lossy(key).into_owned();
            if entries.contains_key(&key) {
                return Err(format!("its metadata has {key} twice"));
            }
            entries.insert(key, value);
        }
        let mut tensors = BTreeMap::new();
        for at in 1..=tensor_count {
            let (name, place) =
                Place::read(&mut bytes).map_err(|problem| format!("tensor {at} of {tensor_count}: {problem}"))?;
            if tensors.contains_key(&name) {
                return Err(format!("it has a tensor {name} twice"));
            }
            tensors.insert(name, place);
        }
        let alignment = alignment(&entries)?;
        let data = bytes.at().checked_next_multiple_of(alignment).ok_or("its tensors begin beyond every file")?;
        Ok(Self { entries, tensors, data })
    }
}

/// What every tensor begins at a multiple of.
fn alignment(entries: &BTreeMap<String, Value>) -> Result<usize, String> {
    const KEY: &str = "general.alignment";
    let Some(value) = entries.get(KEY) else { return Ok(32) };
    match value.whole().and_then(|n| usize::try_from(n).ok()) {
        // The format wants multiples of 8, and the numbers of every ggml type can be read in place at those.
        Some(n) if n > 0 && n.is_multiple_of(8) => Ok(n),
        Some(n) => Err(format!("{KEY} is {n}, which must be a multiple of 8")),
        None => Err(format!("{KEY} must be a whole number, not {}", value.kind())),
    }
}

impl Place {
    fn read(bytes: &mut Bytes) -> Result<(String, Self), String> {
        let name = String::from_utf8_lossy(bytes.text()?).into_owned();
        let within = |problem: String| format!("{name}: {problem}");
        let dimensions = bytes.u32().map_err(within)?;
        if dimensions > MOST_DIMENSIONS {
            return Err(format!("{name} has {dimensions} dimensions, and none has more than {MOST_DIMENSIONS}"));
        }
        let mut shape = Vec::new();
        for _ in 0..dimensions {
            let size = bytes.u64().map_err(within)?;
            shape.push(usize::try_from(size).map_err(|_| format!("{name} has a dimension of {size}"))?);
        }
        shape.reverse();
        let (code, offset) = (bytes.u32().map_err(within)?, bytes.u64().map_err(within)?);
        Ok((name, Self { code, shape, offset }))
    }
}
