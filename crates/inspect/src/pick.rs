use std::fmt;
use std::str::FromStr;

use serde::de::Visitor;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

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
        let at = |head| At { site, layer, head };
        Ok(match self {
            Self::Head(head) => vec![at(head)],
            Self::Mean => (0..trace.site(site, layer)?.q_heads()).map(at).collect(),
        })
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

impl FromStr for Pick {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "mean" => Ok(Self::Mean),
            _ => text.parse().map(Self::Head).map_err(|_| "a head must be a number or `mean`"),
        }
    }
}

impl<'de> Deserialize<'de> for Pick {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;

        impl Visitor<'_> for Either {
            type Value = Pick;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a number or `mean`")
            }

            fn visit_u64<E: serde::de::Error>(self, head: u64) -> Result<Pick, E> {
                usize::try_from(head).map(Pick::Head).map_err(E::custom)
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Pick, E> {
                text.parse().map_err(E::custom)
            }
        }

        deserializer.deserialize_any(Either)
    }
}
