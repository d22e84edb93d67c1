//! What a run is made to do otherwise than its model would: cells cut out, a head's output put in place of what it made, a
//! head given the pattern of another run. All of it takes effect in [`Run::attend_at`](crate::Run), so families know nothing of it.

mod here;
mod mean;
mod pattern;
mod reached;

use std::collections::BTreeSet;
use std::fmt;

use attnscope_inspect::{At, Site, SiteKind, Trace};
use attnscope_kernel::Knockout;

use crate::error::{Error, Result};
use crate::model::Model;

pub(crate) use here::Sizes;
pub use mean::mean_output;
pub use reached::Reached;

/// A list of changes to a run; the empty list changes nothing, to the last bit.
///
/// Positions of queries and keys are counted from the beginning of the text, also in a run that goes on after a cache.
///
/// What a run keeps is what it did: cut cells are said to be `knocked_out`, and a head with another run's pattern has that
/// run's q and k (its layer then has a k and v for each query head). Of a head whose output was replaced by a mean it keeps
/// what the head itself made.
#[derive(Clone, Debug, Default)]
pub struct Interventions {
    list: Vec<Intervention>,
}

#[derive(Clone, Debug)]
struct Intervention {
    site: SiteKind,
    /// None is every layer.
    layer: Option<usize>,
    change: Change,
}

#[derive(Clone, Debug)]
enum Change {
    /// Hides cells.
    Cut(Knockout),
    /// Puts one vector in the place of a head's output at every position; none is every head.
    Mean(Option<usize>, Mean),
    /// Gives a head the weights of another run.
    Pattern(usize, Box<Site>),
}

/// Over what a head's output is averaged.
#[derive(Clone, Debug, PartialEq)]
pub enum Mean {
    /// The positions of the run itself, as far as they are no padding. A run that goes on after a cache does not know
    /// them all, and is refused.
    OfThisRun,
    /// Those of another run: (v_head_dim) numbers, see [`mean_output`].
    Given(Vec<f32>),
}

/// Which heads: of one kind of attention, of one layer and one head, or of every one where there is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Heads {
    /// Which attention of the layers.
    pub site: SiteKind,
    /// The layer, from 0; none is every one.
    pub layer: Option<usize>,
    /// The query head, from 0; none is every one.
    pub head: Option<usize>,
}

impl Interventions {
    /// None.
    pub const NONE: &'static Self = &Self { list: Vec::new() };

    /// Cuts cells out: of one query or every one, and of one key or every one. With neither it is the heads' whole attention
    /// that is cut: their output is 0 at every position.
    #[must_use]
    pub fn cut(mut self, Heads { site, layer, head }: Heads, query: Option<usize>, key: Option<usize>) -> Self {
        self.list.push(Intervention { site, layer, change: Change::Cut(Knockout { head, query, key }) });
        self
    }

    /// Puts a mean in the place of the heads' outputs, the same at every position.
    #[must_use]
    pub fn mean(mut self, Heads { site, layer, head }: Heads, of: Mean) -> Self {
        self.list.push(Intervention { site, layer, change: Change::Mean(head, of) });
        self
    }

    /// Gives a head the pattern that it had in another run of the same model on a text of the same length: its weights come
    /// back from that run's q, k and lse, and mix this run's values.
    ///
    /// # Errors
    /// If the other run has no such head.
    pub fn pattern(mut self, at: At, run: &Trace) -> Result<Self> {
        let site = run.site(at.site, at.layer)?;
        let heads = site.q_heads();
        within("head", Some(at.head), heads, || {
            format!("the layer has {heads} heads, 0 to {}", heads.saturating_sub(1))
        })?;
        let change = Change::Pattern(at.head, Box::new(site.clone()));
        self.list.push(Intervention { site: at.site, layer: Some(at.layer), change });
        Ok(self)
    }

    /// Whether nothing is changed.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The first layer of an encoder-decoder's encoder, and of any other stack, in which something is changed; none where nothing
    /// is.
    pub(crate) fn first_layers(&self) -> (Option<usize>, Option<usize>) {
        let first = |encoder: bool| {
            let those = self.list.iter().filter(|of| (of.site == SiteKind::Encoder) == encoder);
            those.map(|of| of.layer.unwrap_or(0)).min()
        };
        (first(true), first(false))
    }

    /// In which kinds of attention something is changed.
    fn kinds(&self) -> BTreeSet<&'static str> {
        self.list.iter().map(|change| change.site.name()).collect()
    }

    /// That there is, in this model, what is to be changed, and that no change undoes another.
    pub(crate) fn check(&self, model: &Model) -> Result<()> {
        let kinds = model.attentions();
        if let Some(none) = self.kinds().iter().find(|kind| kinds.iter().all(|has| has.kind.name() != **kind)) {
            let (of, has) = (model.name().to_owned(), kinds.iter().map(|has| has.kind.name()).collect());
            return Err(attnscope_inspect::Error::NoSite { of, kind: none, has }.into());
        }
        for Intervention { site, layer, change } in &self.list {
            let Some(has) = kinds.iter().find(|has| has.kind == *site) else { continue };
            let head = match change {
                Change::Cut(rule) => rule.head,
                Change::Mean(head, _) => *head,
                Change::Pattern(head, _) => Some(*head),
            };
            within("layer", *layer, has.layers, || format!("there are layers 0 to {}", has.layers - 1))?;
            within("head", head, has.heads, || format!("a layer has {} heads, 0 to {}", has.heads, has.heads - 1))?;
        }
        self.check_means()?;
        self.check_patterns()
    }

    /// That no head is cut out whole and has a mean put in its place: there is no telling which of them is wanted.
    fn check_means(&self) -> Result<()> {
        let meet = |a: Option<usize>, b: Option<usize>| a.is_none() || b.is_none() || a == b;
        for mean in &self.list {
            let Change::Mean(head, _) = &mean.change else { continue };
            let cut = self.list.iter().find(|other| {
                let Change::Cut(rule) = &other.change else { return false };
                let whole = rule.query.is_none() && rule.key.is_none();
                whole && other.site == mean.site && meet(other.layer, mean.layer) && meet(rule.head, *head)
            });
            if let Some(cut) = cut {
                return Err(Error::Text(format!(
                    "a head cannot be cut out and have its mean in its place at once: {cut}, and {mean}; name each head in \
                     one of them alone"
                )));
            }
        }
        Ok(())
    }

    /// That no cell is cut of a head whose cells are all another run's.
    fn check_patterns(&self) -> Result<()> {
        for given in &self.list {
            let (Change::Pattern(head, _), Some(layer)) = (&given.change, given.layer) else { continue };
            let same = |other: &&Intervention| {
                other.site == given.site && other.layer.is_none_or(|other| other == layer) && other.hits(*head)
            };
            if self.list.iter().filter(same).count() > 1 {
                return Err(Error::Text(format!(
                    "head {head} of layer {layer} is given another run's pattern; nothing of it can be cut beside, nor a \
                     second pattern given"
                )));
            }
        }
        Ok(())
    }
}

/// How many are named where all are.
const NAMED: usize = 8;

/// In words: each as LAYER.HEAD, of a cut LAYER.HEAD.QUERY.KEY, where `*` is every one.
impl fmt::Display for Interventions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, one) in self.list.iter().take(NAMED).enumerate() {
            write!(f, "{}{one}", if index == 0 { "" } else { "; " })?;
        }
        if self.list.len() > NAMED { write!(f, "; ... {} in all", self.list.len()) } else { Ok(()) }
    }
}

impl fmt::Display for Intervention {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let any = |index: Option<usize>| index.map_or_else(|| "*".to_owned(), |index| index.to_string());
        let (site, layer) = (self.site, any(self.layer));
        match &self.change {
            Change::Cut(rule) => {
                let [head, query, key] = [rule.head, rule.query, rule.key].map(any);
                write!(f, "cut {site} {layer}.{head}.{query}.{key}")
            }
            Change::Mean(head, _) => write!(f, "output of {site} {layer}.{} its mean", any(*head)),
            Change::Pattern(head, _) => write!(f, "pattern of {site} {layer}.{head} from another run"),
        }
    }
}

impl Intervention {
    /// Whether it changes the weights of a head.
    fn hits(&self, head: usize) -> bool {
        match &self.change {
            Change::Cut(rule) => rule.head.is_none_or(|cut| cut == head),
            Change::Pattern(given, _) => *given == head,
            Change::Mean(..) => false,
        }
    }
}

/// Attention of one kind in a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attention {
    /// Which attention of a layer.
    pub kind: SiteKind,
    /// How many layers have it.
    pub layers: usize,
    /// Its query heads in each of them.
    pub heads: usize,
}

impl Model {
    /// Every kind of attention that it has.
    pub fn attentions(&self) -> Vec<Attention> {
        let shape = self.shape();
        let of = |kind, layers, heads| Attention { kind, layers, heads };
        let mut all = vec![of(SiteKind::SelfAttention, shape.layers, shape.q_heads)];
        if let Some(encoder) = self.family.encoder() {
            all.push(of(SiteKind::Cross, shape.layers, shape.q_heads));
            all.push(of(SiteKind::Encoder, encoder.layers(), encoder.heads()));
        }
        all
    }

    /// All of its attention cut: no position hears any other.
    pub fn without_attention(&self) -> Interventions {
        let all = self.attentions().into_iter();
        all.fold(Interventions::default(), |cut, has| cut.cut(Heads { site: has.kind, ..Heads::default() }, None, None))
    }
}

/// That an index, where there is one, lies below a length.
fn within(what: &'static str, index: Option<usize>, len: usize, range: impl FnOnce() -> String) -> Result<()> {
    match index {
        Some(got) if got >= len => Err(attnscope_inspect::Error::OutOfRange { what, got, range: range() }.into()),
        _ => Ok(()),
    }
}
