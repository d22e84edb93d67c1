//! Cuts that find nothing to cut: what a model's own mask hides is hidden already.

use std::collections::BTreeMap;

use attnscope_inspect::{SiteKind, Trace};
use attnscope_kernel::{Hidden, Knockout, Mask, Params};

use super::{Change, Interventions, Sizes};

/// Which cuts of a run had anything to cut.
#[derive(Clone, Debug, Default)]
pub struct Reached {
    /// By their place in the list: why all of their cells were hidden in every attention so far; none where any was seen.
    cuts: BTreeMap<usize, Option<Hidden>>,
}

impl Interventions {
    /// Notes which cuts concern cells of one attention that its own mask shows.
    pub(crate) fn reach(&self, (kind, layer): (SiteKind, usize), params: &Params, sizes: Sizes, reached: &mut Reached) {
        let mask = Mask::new(params, sizes.len, sizes.kv_len);
        for (place, of) in self.list.iter().enumerate() {
            let Change::Cut(rule) = &of.change else { continue };
            if of.site != kind || of.layer.is_some_and(|of| of != layer) {
                continue;
            }
            let Some(rule) = sizes.own(*rule) else { continue };
            let why = hidden(&mask, rule, sizes.len);
            let known = reached.cuts.entry(place).or_insert(why);
            *known = known.and(why).and(*known);
        }
    }

    /// In words, one for each cut that changed nothing, because no query sees what it hides.
    pub(crate) fn idle(&self, reached: &Reached) -> Vec<String> {
        let idle = reached.cuts.iter().filter_map(|(place, why)| Some((self.list.get(*place)?, (*why)?)));
        let words = idle.map(|(of, why)| match &of.change {
            Change::Cut(rule) => format!("{of} changes nothing: {}", words(*rule, why)),
            _ => format!("{of} changes nothing"),
        });
        words.collect()
    }

    /// The same for a run that was kept, which had no interventions.
    pub fn hidden_anyway(&self, run: &Trace) -> Vec<String> {
        let mut reached = Reached::default();
        for site in &run.sites {
            let sizes = Sizes { len: site.q_len(), kv_len: site.kv_len(), heads: site.q_heads(), before: None };
            self.reach((site.kind, site.layer), &site.params, sizes, &mut reached);
        }
        self.idle(&reached)
    }
}

/// Why no cell of a rule is seen; none where any is. Without knockouts all heads see the same.
fn hidden(mask: &Mask, rule: Knockout, len: usize) -> Option<Hidden> {
    let mut why = None;
    for query in rule.query.map_or(0..len, |query| query..query + 1) {
        match rule.key {
            Some(key) => why = Some(mask.hidden(0, 0, query, key)?),
            None if mask.sees_nothing(0, 0, query) => why = mask.hidden(0, 0, query, 0),
            None => return None,
        }
    }
    why
}

fn words(rule: Knockout, why: Hidden) -> String {
    let Knockout { query, key, .. } = rule;
    let (Some(query), Some(key)) = (query, key) else {
        return match (query, key) {
            (Some(query), _) => format!("query {query} sees no key anyway"),
            (_, Some(key)) => format!("no query sees key {key} anyway"),
            _ => "no query sees any key anyway".to_owned(),
        };
    };
    let why = match why {
        Hidden::Future => "which comes after it",
        Hidden::OutsideWindow => "which lies outside of its window",
        Hidden::Padding => "which is padding",
        Hidden::OtherSegment => "which is of another text",
        _ => "which is hidden",
    };
    format!("query {query} does not see key {key} anyway, {why}")
}
