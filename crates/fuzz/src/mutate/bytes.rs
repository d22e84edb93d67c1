//! Damage to bytes of which nothing is known.

use crate::random::Random;

/// The bytes with one thing changed; `other` is something to take pieces from.
pub(crate) fn spoil(file: &[u8], other: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = file.to_vec();
    // Headers stand first, and most of a file is numbers, where damage is dull.
    let reach = match random.below(3) {
        0 => bytes.len(),
        1 => bytes.len().min(64),
        _ => bytes.len().min(2048),
    };
    let at = random.below(reach);
    match random.below(10) {
        0 | 1 if !bytes.is_empty() => bytes[at] ^= 1 << random.below(8),
        2 if !bytes.is_empty() => bytes[at] = *random.pick(&[0, 0xFF, 0x7F, 0x80, b'"', b'[', b'{', b'-', b'9']),
        3..=5 => put_number(&mut bytes, at, random),
        6 => bytes.truncate(random.below(bytes.len())),
        7 => {
            // A piece twice, or gone.
            let end = (at + 1 + random.below(64)).min(bytes.len());
            let piece = if random.once_in(2) { [&bytes[at..end]; 2].concat() } else { Vec::new() };
            bytes.splice(at..end, piece);
        }
        8 if !other.is_empty() => {
            let from = random.below(other.len());
            let len = (1 + random.below(64)).min(other.len() - from).min(bytes.len() - at);
            bytes[at..at + len].copy_from_slice(&other[from..from + len]);
        }
        _ => {
            // The beginning of one with the end of the other.
            let from = random.below(other.len() + 1);
            bytes.truncate(at);
            bytes.extend_from_slice(&other[from..]);
        }
    }
    bytes
}

/// A whole number of some width in place of what stands there.
fn put_number(bytes: &mut [u8], at: usize, random: &mut Random) {
    let width = *random.pick(&[1, 2, 4, 8]);
    // Numbers mostly stand at multiples of four.
    let at = if random.once_in(2) { at / 4 * 4 } else { at };
    replace(bytes, at, width, random);
}

/// The number of `width` bytes at `at` becomes an edge, or one more or less than it was.
pub(crate) fn replace(bytes: &mut [u8], at: usize, width: usize, random: &mut Random) {
    let Some(place) = bytes.get_mut(at..at + width) else { return };
    let mut old = [0; 8];
    old[..width].copy_from_slice(place);
    let old = u64::from_le_bytes(old);
    let new = match random.below(6) {
        0 => old.wrapping_add(1),
        1 => old.wrapping_sub(1),
        2 => old.wrapping_mul(2),
        _ => random.edge(),
    };
    place.copy_from_slice(&new.to_le_bytes()[..width]);
}
