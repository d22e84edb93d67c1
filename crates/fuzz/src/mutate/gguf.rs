//! Damage to GGUF files: counts, lengths, types, dimensions and offsets where they stand, entries gone or twice, values of
//! another type.

use std::ops::Range;

use super::bytes;
use crate::random::Random;

/// What a header holds, by where it stands.
#[derive(Debug, Default)]
struct Map {
    /// Whole numbers that say how much of something follows, or of which type it is: where, and how wide.
    numbers: Vec<(usize, usize)>,
    /// Values of the metadata that are numbers, likewise.
    values: Vec<(usize, usize)>,
    /// Texts, without their lengths.
    texts: Vec<Range<usize>>,
    /// Entries of the metadata, and tensors: key, type and value.
    entries: Vec<Range<usize>>,
    tensors: Vec<Range<usize>>,
}

/// A file with its header changed; none where it has none.
pub(crate) fn spoil(file: &[u8], other: &[u8], words: &[String], random: &mut Random) -> Option<Vec<u8>> {
    let map = Map::of(file)?;
    let mut spoiled = file.to_vec();
    match random.below(12) {
        0..=3 => {
            let (at, width) = *random.pick(&map.numbers);
            bytes::replace(&mut spoiled, at, width, random);
        }
        4..=6 if !map.values.is_empty() => {
            let (at, width) = *random.pick(&map.values);
            bytes::replace(&mut spoiled, at, width, random);
        }
        7 | 8 if !map.texts.is_empty() => {
            let at = random.pick(&map.texts).clone();
            let text = match random.below(4) {
                0 => Vec::new(),
                1 => vec![0xC3; at.len()],
                2 => file[random.pick(&map.texts).clone()].to_vec(),
                _ => random.pick(words).clone().into_bytes(),
            };
            put(&mut spoiled, at, &text);
        }
        9 | 10 => {
            let tensors = random.once_in(3) && !map.tensors.is_empty();
            let (list, count) = if tensors { (&map.tensors, 8) } else { (&map.entries, 16) };
            if list.is_empty() {
                return None;
            }
            let at = random.pick(list).clone();
            let (put, counted) = match random.below(3) {
                0 => (Vec::new(), -1),
                1 => ([&file[at.clone()]; 2].concat(), 1),
                // One of another file in its place.
                _ => {
                    let theirs = Map::of(other)?;
                    let list = if tensors { theirs.tensors } else { theirs.entries };
                    (other[list.get(random.below(list.len()))?.clone()].to_vec(), 0)
                }
            };
            spoiled.splice(at, put);
            let old = u64::from_le_bytes(file[count..count + 8].try_into().ok()?);
            spoiled[count..count + 8].copy_from_slice(&old.wrapping_add_signed(counted).to_le_bytes());
            // What is kept of the data begins where it did, or not.
            realign(&mut spoiled, file);
        }
        _ => return None,
    }
    Some(spoiled)
}

/// Puts a text of another length in the place of one, with its length.
fn put(file: &mut Vec<u8>, at: Range<usize>, text: &[u8]) {
    let whole = file.clone();
    let start = at.start - 8;
    file.splice(at, text.iter().copied());
    file[start..start + 8].copy_from_slice(&(text.len() as u64).to_le_bytes());
    realign(file, &whole);
}

/// The data begins at a multiple of 32: as many zeros before it as that takes.
fn realign(file: &mut Vec<u8>, before: &[u8]) {
    let (Some(old), Some(new)) = (Map::of(before).map(|map| map.end()), Map::of(file).map(|map| map.end())) else {
        return;
    };
    let (old, start) = (old.next_multiple_of(32) - old, new.next_multiple_of(32));
    if new + old <= file.len() {
        file.splice(new..new + old, vec![0; start - new]);
    }
}

impl Map {
    fn of(file: &[u8]) -> Option<Self> {
        let mut walk = Walk { file, at: 8, map: Self::default() };
        if file.get(..4)? != b"GGUF" {
            return None;
        }
        walk.map.numbers.push((4, 4));
        let (tensors, entries) = (walk.number(8)?, walk.number(8)?);
        for _ in 0..entries {
            let start = walk.at;
            walk.text()?;
            let kind = walk.number(4)?;
            walk.value(kind, 0)?;
            walk.map.entries.push(start..walk.at);
        }
        for _ in 0..tensors {
            let start = walk.at;
            walk.text()?;
            for _ in 0..walk.number(4)? {
                walk.number(8)?;
            }
            walk.number(4)?;
            walk.number(8)?;
            walk.map.tensors.push(start..walk.at);
        }
        Some(walk.map)
    }

    /// Where the header ends.
    fn end(&self) -> usize {
        self.tensors.last().or(self.entries.last()).map_or(24, |last| last.end)
    }
}

struct Walk<'a> {
    file: &'a [u8],
    at: usize,
    map: Map,
}

impl Walk<'_> {
    fn number(&mut self, width: usize) -> Option<u64> {
        let mut bytes = [0; 8];
        bytes[..width].copy_from_slice(self.file.get(self.at..self.at + width)?);
        self.map.numbers.push((self.at, width));
        self.at += width;
        Some(u64::from_le_bytes(bytes))
    }

    fn skip(&mut self, len: u64) -> Option<Range<usize>> {
        let end = self.at.checked_add(usize::try_from(len).ok()?)?;
        let range = self.at..end;
        self.file.get(range.clone())?;
        self.at = end;
        Some(range)
    }

    fn text(&mut self) -> Option<()> {
        let len = self.number(8)?;
        let text = self.skip(len)?;
        self.map.texts.push(text);
        Some(())
    }

    fn value(&mut self, kind: u64, depth: usize) -> Option<()> {
        let width = match kind {
            0 | 1 | 7 => 1,
            2 | 3 => 2,
            4..=6 => 4,
            8 => return self.text(),
            9 if depth < 4 => {
                let (kind, len) = (self.number(4)?, self.number(8)?);
                return (0..len).try_for_each(|_| self.value(kind, depth + 1));
            }
            10..=12 => 8,
            _ => return None,
        };
        let at = self.skip(width as u64)?.start;
        self.map.values.push((at, width));
        Some(())
    }
}
