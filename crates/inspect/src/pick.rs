use serde::{Serialize, Serializer};

use crate::{At, Error, SiteKind, Trace};

/// One head, or the mean of a layer's heads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pick {
    /// One query head.
    Head(usize),
    /// The mean of the weights of all heads. A mean of rows that sum to 1 sums to 1; it is never softmaxed again.
    Mean,
}

impl Pick {
    /// The heads that are meant, of the attention they belong to.
    pub(crate) fn places(self, trace: &Trace, site: SiteKind, layer: usize) -> Result<Vec<At>, Error> {
        let heads = match self {
            Self::Head(head) => head..head + 1,
            Self::Mean => 0..trace.site(site, layer)?.q_heads(),
        };
        Ok(heads.map(|head| At { site, layer, head }).collect())
    }
}

impl Serialize for Pick {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Head(head) => serializer.serialize_u64(*head as u64),
            Self::Mean => serializer.serialize_str("mean"),
        }
    }
}
