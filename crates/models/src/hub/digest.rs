//! What a file's etag says of what is in it: the Hub's is the SHA-256 of a large file, and git's name of a small one.

use sha1::Sha1;
use sha2::{Digest, Sha256};

/// A sum over a file, as it comes.
pub(super) enum Sum {
    Sha256(Sha256),
    /// SHA-1 over `blob {length}\0` and the file.
    Git(Sha1),
    /// An etag of another kind, which says nothing.
    Unknown,
}

impl Sum {
    /// Of a file with this etag and length.
    pub(super) fn new(etag: &str, size: u64) -> Self {
        let is_hex = etag.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        match etag.len() {
            64 if is_hex => Self::Sha256(Sha256::new()),
            40 if is_hex => Self::Git(Sha1::new_with_prefix(format!("blob {size}\0"))),
            _ => Self::Unknown,
        }
    }

    pub(super) fn add(&mut self, bytes: &[u8]) {
        match self {
            Self::Sha256(sum) => sum.update(bytes),
            Self::Git(sum) => sum.update(bytes),
            Self::Unknown => {}
        }
    }

    /// Whether the file is the one that was announced, as far as its etag tells.
    pub(super) fn is(self, etag: &str) -> bool {
        let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        match self {
            Self::Sha256(sum) => hex(&sum.finalize()) == etag,
            Self::Git(sum) => hex(&sum.finalize()) == etag,
            Self::Unknown => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Sum;

    #[test]
    fn a_file_is_told_by_either_kind_of_etag() {
        // `git hash-object` and `sha256sum` of "hello\n".
        let git = "ce013625030ba8dba906f756967f9e9ca394464a";
        let sha256 = "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03";
        for etag in [git, sha256] {
            let told = |text: &[u8]| {
                let mut sum = Sum::new(etag, 6);
                text.chunks(4).for_each(|part| sum.add(part));
                sum.is(etag)
            };
            assert!(told(b"hello\n"));
            assert!(!told(b"hallo\n"));
        }
        assert!(Sum::new("of-some-mirror", 6).is("of-some-mirror"));
    }
}
