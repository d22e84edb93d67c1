//! The last few traces, so that what is asked again is not run again.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use attnscope_inspect::{Site, Trace};

use crate::entry::Kind;

/// How many traces are kept.
const COUNT: usize = 8;
/// How many bytes their numbers may take; the newest is kept whatever it takes.
const BYTES: usize = 4 << 30;

/// What a trace is made of: two that agree in this agree in everything.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Wish {
    /// The id of an entry.
    pub(crate) source: String,
    /// What to read; none where the entry has one text.
    pub(crate) text: Option<String>,
    /// Which mask; none where the entry has one.
    pub(crate) causal: Option<bool>,
}

/// A trace that was made, and what is told of it.
pub(crate) struct Kept {
    pub(crate) id: String,
    pub(crate) wish: Wish,
    pub(crate) kind: Kind,
    pub(crate) trace: Trace,
    /// How long it took to make.
    pub(crate) seconds: f64,
}

impl Wish {
    /// The name of its trace. A page that outlives a server gets the trace it means, or none: a number that counts
    /// up would name another one.
    pub(crate) fn id(&self, name: &str) -> String {
        let mut hasher = DefaultHasher::new();
        (name, self).hash(&mut hasher);
        format!("{:016x}", hasher.finish())
    }
}

impl Kept {
    /// What its numbers take, as if none were mapped from a file.
    fn bytes(&self) -> usize {
        let of = |site: &Site| {
            let floats: usize = [&site.q, &site.k, &site.v, &site.out].iter().map(|tensor| tensor.data.len()).sum();
            4 * floats + 8 * site.lse.len()
        };
        if self.kind == Kind::Model { self.trace.sites.iter().map(of).sum() } else { 0 }
    }
}

/// The least recently used first.
#[derive(Default)]
pub(crate) struct Shelf(Mutex<Vec<Arc<Kept>>>);

impl Shelf {
    pub(crate) fn get(&self, id: &str) -> Option<Arc<Kept>> {
        self.take(|kept| kept.id == id)
    }

    pub(crate) fn find(&self, wish: &Wish) -> Option<Arc<Kept>> {
        self.take(|kept| kept.wish == *wish)
    }

    /// Keeps a trace, and forgets those that were not asked about for the longest. If the same was made twice at a
    /// time, the first stays.
    pub(crate) fn keep(&self, kept: Kept) -> Arc<Kept> {
        let mut all = self.lock();
        if let Some(same) = used(&mut all, |other| other.wish == kept.wish) {
            return same;
        }
        let kept = Arc::new(kept);
        all.push(kept.clone());
        let mut bytes: usize = all.iter().map(|kept| kept.bytes()).sum();
        while all.len() > 1 && (all.len() > COUNT || bytes > BYTES) {
            bytes -= all.remove(0).bytes();
        }
        kept
    }

    fn take(&self, is: impl Fn(&Kept) -> bool) -> Option<Arc<Kept>> {
        used(&mut self.lock(), is)
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Arc<Kept>>> {
        // Nothing that can panic leaves the list half changed.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The one that is meant, which is now the most recently used.
fn used(all: &mut [Arc<Kept>], is: impl Fn(&Kept) -> bool) -> Option<Arc<Kept>> {
    let at = all.iter().position(|kept| is(kept))?;
    all[at..].rotate_left(1);
    all.last().cloned()
}

#[cfg(test)]
mod tests {
    use attnscope_inspect::example::Example;

    use super::*;

    fn wish(text: &str) -> Wish {
        Wish { source: "s1".to_owned(), text: Some(text.to_owned()), causal: None }
    }

    fn kept(text: &str) -> Kept {
        let trace = Example::load().trace(false).expect("the example runs");
        Kept { id: wish(text).id("m"), wish: wish(text), kind: Kind::Model, trace, seconds: 0.0 }
    }

    #[test]
    fn the_least_recently_used_is_forgotten() {
        let shelf = Shelf::default();
        let ids: Vec<String> = (0..COUNT).map(|i| shelf.keep(kept(&i.to_string())).id.clone()).collect();
        assert!(shelf.get(&ids[0]).is_some());
        shelf.keep(kept("one more"));
        assert!(shelf.get(&ids[0]).is_some(), "it was used");
        assert!(shelf.get(&ids[1]).is_none(), "nobody asked for it");
        assert!(ids[2..].iter().all(|id| shelf.get(id).is_some()));
        assert!(shelf.find(&wish("one more")).is_some());
    }

    #[test]
    fn the_same_is_kept_once() {
        let shelf = Shelf::default();
        let first = shelf.keep(kept("a"));
        assert!(Arc::ptr_eq(&first, &shelf.keep(kept("a"))));
    }

    #[test]
    fn ids_differ_where_the_source_the_text_or_the_mask_does() {
        let a = wish("a");
        let others =
            [wish("b"), Wish { causal: Some(true), ..a.clone() }, Wish { source: "s2".to_owned(), ..a.clone() }];
        assert!(others.iter().all(|other| other.id("m") != a.id("m")));
        assert_ne!(a.id("m"), a.id("n"));
        assert_eq!(a.id("m"), wish("a").id("m"));
    }

    #[test]
    fn bytes_are_those_of_the_numbers() {
        // Ten tokens; q and k of 4, v and out of 3, one lse each.
        assert_eq!(kept("a").bytes(), 10 * (4 * (4 + 4 + 3 + 3) + 8));
    }
}
