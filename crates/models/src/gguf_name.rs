//! What a GGUF file calls itself, from a look at its first bytes.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use attnscope_inspect::escaped;

/// Files say what they are before anything long, such as their vocabulary.
const LOOK: u64 = 16 << 10;
/// The longest name that is believed, in bytes.
const LONGEST: usize = 100;

/// `general.name`; none where it is not among the first entries, or the file is no such file.
pub(crate) fn name(path: &Path) -> Option<String> {
    let mut start = Vec::new();
    File::open(path).ok().filter(|_| path.is_file())?.take(LOOK).read_to_end(&mut start).ok()?;
    let mut header = Header(&start);
    // A magic, a version, and how many tensors there are.
    if header.take(4)? != b"GGUF" {
        return None;
    }
    header.take(4 + 8)?;
    for _ in 0..header.count()? {
        let key = header.text()?;
        let kind = u32::from_le_bytes(header.take(4)?.try_into().ok()?);
        let value = match kind {
            0 | 1 | 7 => header.take(1)?,
            2 | 3 => header.take(2)?,
            4..=6 => header.take(4)?,
            8 => header.text()?,
            10..=12 => header.take(8)?,
            // A list, which may be long.
            _ => return None,
        };
        if key == b"general.name" {
            let name = std::str::from_utf8(value).ok()?.trim();
            return (kind == 8 && (1..=LONGEST).contains(&name.len())).then(|| escaped(name));
        }
    }
    None
}

/// Bytes that have not been looked at.
struct Header<'a>(&'a [u8]);

impl<'a> Header<'a> {
    fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(taken)
    }

    fn count(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.take(8)?.try_into().ok()?))
    }

    /// A length, and as many bytes.
    fn text(&mut self) -> Option<&'a [u8]> {
        let len = usize::try_from(self.count()?).ok()?;
        self.take(len)
    }
}
