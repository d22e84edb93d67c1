//! Which heads a picture of the heads shows, and in which order.

use std::collections::BTreeSet;
use std::str::FromStr;

use attnscope_inspect::{HeadStats, SiteKind, Trace};

/// By what heads are sorted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Statistic {
    /// Mean entropy of a row, in nats.
    Entropy,
    /// Mean weight on the first token.
    First,
    /// Mean weight on the token itself.
    Own,
    /// Mean weight on the token before.
    Previous,
    /// Mean distance between query and key, in tokens.
    Distance,
    /// The larger of the two errors of the proof.
    Proof,
}

impl Statistic {
    /// Every statistic.
    pub const ALL: [Self; 6] = [Self::Entropy, Self::First, Self::Own, Self::Previous, Self::Distance, Self::Proof];

    /// As it is called on the command line and on the page.
    pub fn name(self) -> &'static str {
        match self {
            Self::Entropy => "entropy",
            Self::First => "first",
            Self::Own => "self",
            Self::Previous => "previous",
            Self::Distance => "distance",
            Self::Proof => "proof",
        }
    }

    /// Its value; none where the head has none.
    pub(super) fn of(self, head: &HeadStats) -> Option<f64> {
        match self {
            Self::Entropy => Some(head.entropy),
            Self::First => Some(head.first),
            Self::Own => head.own,
            Self::Previous => head.previous,
            Self::Distance => head.distance,
            // An error that is no number is the largest.
            Self::Proof if head.proof.row_sum_error.is_nan() => Some(f64::NAN),
            Self::Proof if head.proof.output_error.is_nan() => Some(f64::NAN),
            Self::Proof => Some(head.proof.row_sum_error.max(head.proof.output_error)),
        }
    }
}

/// A choice of heads. Without any, all of them, layer by head.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choice {
    /// A list in this order instead of a grid.
    pub by: Option<Statistic>,
    /// Whether the smallest comes first.
    pub rising: bool,
    /// These heads alone; the others are faint in a grid, and not in a list.
    pub only: Option<Only>,
}

/// Heads, each as its layer and its number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Only(BTreeSet<(usize, usize)>);

impl FromStr for Only {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let one = |part: &str| {
            let (layer, head) = part.split_once('.')?;
            Some((layer.parse().ok()?, head.parse().ok()?))
        };
        let all = text.split(',').map(str::trim).filter(|part| !part.is_empty());
        all.map(|part| one(part).ok_or_else(|| format!("{part:?} is no head; give layer.head, such as 3.0,4.2")))
            .collect::<Result<_, _>>()
            .map(Self)
    }
}

impl Only {
    /// That it names heads, and each is there.
    ///
    /// # Errors
    /// Saying which is not.
    pub fn check(&self, trace: &Trace, site: SiteKind, layer: Option<usize>) -> Result<(), String> {
        let there = |one: &(usize, usize)| {
            let meant = trace.sites.iter().filter(|found| found.kind == site && found.layer == one.0);
            layer.is_none_or(|layer| layer == one.0) && meant.into_iter().any(|found| one.1 < found.q_heads())
        };
        match self.0.iter().find(|one| !there(one)) {
            Some((layer, head)) => Err(format!("there is no head {layer}.{head} among those shown")),
            None if self.0.is_empty() => Err("it names no head; give layer.head, such as 3.0,4.2".to_owned()),
            None => Ok(()),
        }
    }
}

impl Choice {
    /// Whether a head is chosen.
    pub(super) fn has(&self, layer: usize, head: usize) -> bool {
        self.only.as_ref().is_none_or(|Only(all)| all.contains(&(layer, head)))
    }

    /// The chosen heads with their values, in order; those without a value come last.
    pub(super) fn sorted(&self, by: Statistic, heads: &[HeadStats]) -> Vec<(usize, usize, Option<f64>)> {
        let chosen = heads.iter().filter(|head| self.has(head.layer, head.head));
        let mut order: Vec<_> = chosen.map(|head| (head.layer, head.head, by.of(head))).collect();
        order.sort_by(|a, b| match (a.2, b.2) {
            (Some(a), Some(b)) if self.rising => a.total_cmp(&b),
            (Some(a), Some(b)) => b.total_cmp(&a),
            (a, b) => a.is_none().cmp(&b.is_none()),
        });
        order
    }
}

#[cfg(test)]
mod tests {
    use super::{Choice, Only};

    #[test]
    fn heads_are_named_by_layer_and_number() {
        let choice = Choice { only: Some("3.0, 4.12".parse().unwrap()), ..Choice::default() };
        assert!(choice.has(3, 0) && choice.has(4, 12) && !choice.has(3, 12));
        assert!("3".parse::<Only>().unwrap_err().contains("layer.head"));
        assert!(Choice::default().has(9, 9));
    }
}
