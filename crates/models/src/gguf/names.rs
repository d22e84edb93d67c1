//! How GGUF files name and order what a Hugging Face folder has. Families ask for tensors by the names of a folder alone.

/// The names of one family.
#[derive(Debug)]
pub(crate) struct Names {
    /// What comes before the number of a block in a folder; here it is `blk.`.
    pub(crate) blocks: &'static str,
    /// Parts of a block: in a folder, here, and how the numbers differ.
    pub(crate) parts: &'static [(&'static str, &'static str, Stored)],
    /// What is outside of the blocks.
    pub(crate) others: &'static [(&'static str, &'static str, Stored)],
}

/// How a file holds the numbers of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stored {
    /// As a folder does.
    Same,
    /// With the two halves of each query head's rows interleaved: each even row turns with the odd one after it.
    InterleavedQueries,
    /// The same of key heads.
    InterleavedKeys,
    /// With 1 added: the weight of a norm, of which a folder has by how much it differs from 1.
    Whole,
    /// The other way round: (out, inp) where a folder has (inp, out).
    Turned,
}

/// Rotary factors, which are read with the configuration.
pub(super) const FACTORS: [&str; 3] = ["rope_freqs.weight", "rope_factors_long.weight", "rope_factors_short.weight"];

impl Names {
    /// The name here of what a folder calls `name`, and how it is stored; none where these files have no such tensor.
    pub(super) fn here(&self, name: &str) -> Option<(String, Stored)> {
        let (stem, kind) = name.rsplit_once('.').filter(|(_, kind)| ["weight", "bias"].contains(kind))?;
        let numbered = stem.strip_prefix(self.blocks).and_then(|rest| rest.split_once('.'));
        if let Some((block, part)) = numbered {
            let (_, here, stored) = self.parts.iter().find(|(folder, ..)| *folder == part)?;
            return Some((format!("blk.{block}.{here}.{kind}"), *stored));
        }
        let (_, here, stored) = self.others.iter().find(|(folder, ..)| *folder == stem)?;
        Some((format!("{here}.{kind}"), *stored))
    }
}
