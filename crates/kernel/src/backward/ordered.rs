//! Sums whose terms come from several threads and are added in a fixed order all the same.

use std::collections::BTreeMap;
use std::mem;
use std::ops::Range;
use std::sync::Mutex;

use super::head::lock;

/// One sum of `terms`. A term that comes before its turn is laid aside until it is due; nobody waits.
pub(super) struct Ordered<D> {
    terms: Range<usize>,
    state: Mutex<State<D>>,
}

struct State<D> {
    next: usize,
    sum: Vec<f32>,
    early: BTreeMap<usize, Vec<f32>>,
    /// Where the sum is to go.
    place: Option<D>,
}

impl<D> Ordered<D> {
    pub(super) fn new(terms: Range<usize>, place: D) -> Self {
        let state = State { next: terms.start, sum: Vec::new(), early: BTreeMap::new(), place: Some(place) };
        Self { terms, state: Mutex::new(state) }
    }

    /// The numbers of its terms.
    pub(super) fn terms(&self) -> Range<usize> {
        self.terms.clone()
    }

    /// Adds term `at`; with the last one, gives the whole sum and its place. What is left in `term` is arbitrary.
    #[inline(always)]
    pub(super) fn add(&self, at: usize, term: &mut Vec<f32>) -> Option<(Vec<f32>, D)> {
        let mut state = lock(&self.state);
        if at != state.next {
            let room = vec![0.0; term.len()];
            state.early.insert(at, mem::replace(term, room));
            return None;
        }
        if state.sum.is_empty() {
            let room = vec![0.0; term.len()];
            state.sum = mem::replace(term, room);
        } else {
            add(&mut state.sum, term);
        }
        state.next += 1;
        while let next = state.next
            && let Some(term) = state.early.remove(&next)
        {
            add(&mut state.sum, &term);
            state.next += 1;
        }
        if state.next < self.terms.end {
            return None;
        }
        let place = state.place.take()?;
        Some((mem::take(&mut state.sum), place))
    }
}

#[inline(always)]
fn add(sum: &mut [f32], term: &[f32]) {
    for (sum, term) in sum.iter_mut().zip(term) {
        *sum += term;
    }
}

#[cfg(test)]
mod tests {
    use super::Ordered;

    #[test]
    fn the_order_of_arrival_changes_nothing() {
        let terms = [1e8f32, 1.0, -1e8, 0.5];
        let sum = |order: [usize; 4]| {
            let ordered = Ordered::new(3..7, "place");
            let mut done = order.iter().filter_map(|at| ordered.add(at + 3, &mut vec![terms[*at]]));
            let (sum, place) = done.next().unwrap();
            assert_eq!((place, done.count()), ("place", 0));
            sum
        };
        let want = vec![((terms[0] + terms[1]) + terms[2]) + terms[3]];
        for order in [[0, 1, 2, 3], [3, 2, 1, 0], [1, 0, 3, 2], [2, 3, 0, 1]] {
            assert_eq!(sum(order), want);
        }
    }
}
