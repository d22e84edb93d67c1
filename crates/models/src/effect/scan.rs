//! Which heads, or which keys, matter to a prediction: each is cut alone, and all are put in order.

use attnscope_inspect::SiteKind;
use serde::Serialize;

use super::{Experiment, Moved, divergence};
use crate::error::{Error, Result};
use crate::intervene::{Heads, Interventions};
use crate::texts::Progress;

/// What is cut, one after another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scan {
    /// Every head: its output is 0.
    Heads,
    /// Every key: no query of any head of any layer sees it.
    Keys,
}

/// What one of them changes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ranked {
    /// The layer of a head.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub layer: Option<usize>,
    /// A head.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub head: Option<usize>,
    /// The position of a key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<usize>,
    /// The token of a key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    /// By how much the natural logarithm of the probability of the token that is followed changes: without it, minus with it. What
    /// is ranked by: a logit may move only because all of them do.
    pub log_prob_diff: Option<f64>,
    /// By how much the logit of the token that is followed changes: without it, minus with it.
    pub logit_diff: Option<f64>,
    /// The probability of that token without it.
    pub prob: Option<f64>,
    /// KL(with it || without it), in nats.
    pub kl: Option<f64>,
    /// How far the last vector at the position looked at moves: |after - before| / |before|.
    pub relative_l2: f64,
}

impl Ranked {
    /// By what it is ranked.
    fn size(&self) -> f64 {
        self.log_prob_diff.unwrap_or(self.relative_l2).abs()
    }
}

impl Experiment<'_> {
    /// How many there are to cut: of a scan of keys only those that the position looked at can hear of.
    ///
    /// # Errors
    /// If the model has no such attention.
    pub fn to_scan(&self, scan: Scan, site: SiteKind) -> Result<usize> {
        Ok(self.cuts(scan, site)?.len())
    }

    /// Cuts each of them alone, and ranks them by how far they move the log probability of the token that is followed; in a model
    /// without a head that names words, by how far they move the last vector. `going` is asked before each with (done, in all),
    /// and all along; once it says no, those that were cut so far are ranked.
    ///
    /// # Errors
    /// If the model has no such attention, or a run fails.
    pub fn scan(&self, scan: Scan, site: SiteKind, going: Progress) -> Result<Vec<Ranked>> {
        let cuts = self.cuts(scan, site)?;
        let mut ranked = Vec::with_capacity(cuts.len());
        for (heads, key) in &cuts {
            let done = ranked.len();
            if !going(done, cuts.len()) {
                break;
            }
            let interventions = Interventions::default().cut(*heads, None, *key);
            match self.rank(*heads, *key, &interventions, &|_, _| going(done, cuts.len())) {
                Ok(one) => ranked.push(one),
                Err(Error::Stopped) => break,
                Err(error) => return Err(error),
            }
        }
        going(ranked.len(), cuts.len());
        ranked.sort_by(|a, b| b.size().total_cmp(&a.size()));
        Ok(ranked)
    }

    fn cuts(&self, scan: Scan, site: SiteKind) -> Result<Vec<(Heads, Option<usize>)>> {
        let all = Heads { site, layer: None, head: None };
        Interventions::default().cut(all, None, None).check(self.model)?;
        let has = self.model.attentions().into_iter().find(|has| has.kind == site);
        let (layers, heads) = has.map_or((0, 0), |has| (has.layers, has.heads));
        Ok(match scan {
            Scan::Heads => {
                let each = (0..layers).flat_map(|layer| (0..heads).map(move |head| (layer, head)));
                each.map(|(layer, head)| (Heads { site, layer: Some(layer), head: Some(head) }, None)).collect()
            }
            Scan::Keys => {
                let keys = self.names.key_tokens(site).len();
                // Nothing of what comes after a position reaches it.
                let ahead = site == SiteKind::SelfAttention && self.model.shape().causal;
                (0..if ahead { self.at + 1 } else { keys }).map(|key| (all, Some(key))).collect()
            }
        })
    }

    fn rank(
        &self,
        Heads { site, layer, head }: Heads,
        key: Option<usize>,
        interventions: &Interventions,
        progress: Progress,
    ) -> Result<Ranked> {
        let after = self.run(interventions, None, progress)?;
        let both = self.before.words.as_ref().zip(after.words.as_ref());
        let token = self.token.zip(both).map(|(id, (before, after))| self.followed(id, [before, after]));
        let moved = Moved::new(self.at, String::new(), &self.before.vectors[self.at], &after.vectors[self.at]);
        Ok(Ranked {
            layer,
            head,
            key,
            token: key.and_then(|key| Some(self.names.key_tokens(site).get(key)?.text.clone())),
            log_prob_diff: self
                .token
                .zip(both)
                .map(|(id, (before, after))| after.0[id as usize] - before.0[id as usize]),
            logit_diff: token.as_ref().map(super::Followed::logit_diff),
            prob: token.as_ref().map(|token| token.prob[1]),
            kl: both.map(|(before, after)| divergence(&before.0, &after.0)),
            relative_l2: moved.relative_l2,
        })
    }
}
