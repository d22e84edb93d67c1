//! What of all interventions concerns one attention.

use attnscope_inspect::{Site, SiteKind};
use attnscope_kernel::{Knockout, Params, View};

use super::{Change, Intervention, Interventions, Mean, mean, pattern, within};
use crate::error::{Error, Result};

/// What of all interventions concerns one attention of one layer.
pub(crate) struct Here<'a> {
    kind: SiteKind,
    layer: usize,
    changes: Vec<&'a Change>,
}

/// Sizes of an attention and where it stands in its text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    /// Queries of this run.
    pub(crate) len: usize,
    /// Keys, those of a cache among them.
    pub(crate) kv_len: usize,
    /// Query heads.
    pub(crate) heads: usize,
    /// How many queries came in earlier runs; none in a run without a cache, which reads the whole text.
    pub(crate) before: Option<usize>,
}

impl Interventions {
    /// Those that concern one attention.
    pub(crate) fn here(&self, kind: SiteKind, layer: usize) -> Here<'_> {
        let concerns = |of: &&Intervention| of.site == kind && of.layer.is_none_or(|of| of == layer);
        Here { kind, layer, changes: self.list.iter().filter(concerns).map(|of| &of.change).collect() }
    }
}

impl Here<'_> {
    /// The kernel's rules: of the cells that are cut those that this run has, by its own positions.
    pub(crate) fn cuts(&self, sizes: Sizes) -> Result<Vec<Knockout>> {
        let mut cuts = Vec::new();
        for change in &self.changes {
            let Change::Cut(rule) = change else { continue };
            if sizes.before.is_none() {
                for (what, index, len) in [("query", rule.query, sizes.len), ("key", rule.key, sizes.kv_len)] {
                    within(what, index, len, || self.range(what, len))?;
                }
            }
            cuts.extend(sizes.own(*rule));
        }
        Ok(cuts)
    }

    fn range(&self, what: &str, len: usize) -> String {
        let kind = self.kind;
        let which = if what == "query" { "queries" } else { "keys" };
        format!("the {kind} attention has {len} {which}, 0 to {}", len.saturating_sub(1))
    }

    /// Whether a head has the pattern of another run.
    pub(crate) fn has_patterns(&self) -> bool {
        self.changes.iter().any(|change| matches!(change, Change::Pattern(..)))
    }

    /// Gives heads the patterns of other runs. `v` is (1, kv_len, kv_heads, v_head_dim).
    pub(crate) fn patch(&self, out: &mut [f32], v: View, params: &Params, sizes: Sizes) -> Result<()> {
        for change in &self.changes {
            let Change::Pattern(head, site) = change else { continue };
            pattern::check(site, v, params, sizes)?;
            pattern::mix(site, *head, v, sizes, out)?;
        }
        Ok(())
    }

    /// What is kept of an attention whose heads have the patterns of other runs.
    pub(crate) fn patched(&self, mut kept: Site, sizes: Sizes) -> Site {
        for change in &self.changes {
            if let Change::Pattern(head, site) = change {
                kept = pattern::keep(site, *head, kept, sizes);
            }
        }
        kept
    }

    /// Puts means in the place of what heads made. `real` says which of the run's tokens are no padding.
    pub(crate) fn average(&self, out: &mut [f32], real: Option<&[bool]>, sizes: Sizes) -> Result<()> {
        for change in &self.changes {
            let Change::Mean(which, of) = change else { continue };
            let vector = match of {
                Mean::Given(vector) => Some(&vector[..]),
                Mean::OfThisRun if sizes.before.is_none() => None,
                Mean::OfThisRun => {
                    let layer = self.layer;
                    return Err(Error::Text(format!(
                        "the mean over this text of a head of layer {layer} is not known before its end, which a run with a \
                         cache has not seen; give the mean of another run"
                    )));
                }
            };
            for head in (0..sizes.heads).filter(|head| which.is_none_or(|which| which == *head)) {
                mean::put(out, vector, real, head, sizes)?;
            }
        }
        Ok(())
    }
}

impl Sizes {
    /// A rule as it is in this run; none where the run has no such cell.
    pub(super) fn own(self, rule: Knockout) -> Option<Knockout> {
        let query = match rule.query {
            Some(query) => Some(query.checked_sub(self.before.unwrap_or(0)).filter(|query| *query < self.len)?),
            None => None,
        };
        let key = match rule.key {
            Some(key) => Some(Some(key).filter(|key| *key < self.kv_len)?),
            None => None,
        };
        Some(Knockout { query, key, ..rule })
    }
}
