//! A head with the weights of another run.

use attnscope_inspect::{At, Trace};
use attnscope_models::{Heads, Interventions, Model};

use crate::support::{Case, Tiny, apart, trace, vectors};

/// Every head with its own pattern of a run.
fn all(model: &Model, run: &Trace) -> Interventions {
    let mut patterns = Interventions::default();
    for has in model.attentions() {
        for (layer, head) in (0..has.layers).flat_map(|layer| (0..has.heads).map(move |head| (layer, head))) {
            patterns = patterns.pattern(At { site: has.kind, layer, head }, run).unwrap();
        }
    }
    patterns
}

/// The same number of other tokens.
fn other(case: &Case) -> Case {
    let mut other = case.clone();
    let id = |id: &u32| 20 + (id * 7 + 3) % 60;
    let last = other.ids.len() - 1;
    other.ids[1..last].iter_mut().for_each(|one| *one = id(one));
    if let Some(ids) = &mut other.decoder_ids {
        ids[1..].iter_mut().for_each(|one| *one = id(one));
    }
    other
}

#[test]
fn its_own_pattern_changes_nothing_that_matters() {
    for tiny in Tiny::all() {
        for (name, case) in &tiny.cases {
            let own = all(&tiny.model, &trace(&tiny.model, case, Interventions::NONE));
            let plain = vectors(&tiny.model, case, Interventions::NONE);
            let off = apart(&vectors(&tiny.model, case, &own), &plain);
            assert!(off < 1e-5, "{} {name}: {off}", tiny.name);
        }
    }
}

/// The trace shows the pattern that was put in, and proves that it made the output.
#[test]
fn a_patched_head_has_the_weights_of_the_other_run() {
    for tiny in Tiny::all() {
        let (model, case) = (&tiny.model, tiny.text());
        let plain = trace(model, case, Interventions::NONE);
        // The other run was itself cut into.
        for site in tiny.kinds() {
            let layer = tiny.last(site);
            let at = At { site, layer, head: 1 };
            let cut = Heads { site, layer: Some(layer), head: None };
            let theirs = trace(model, &other(case), &Interventions::default().cut(cut, Some(4), Some(2)));
            let patched = Interventions::default().pattern(at, &theirs).unwrap();
            let kept = trace(model, case, &patched);
            assert_eq!(kept.model.note, format!("pattern of {site} {layer}.1 from another run"));
            for query in [1, 4, 7] {
                let (got, want) = (kept.row(at, query).unwrap(), theirs.row(at, query).unwrap());
                assert_eq!((&got.weights, &got.mask), (&want.weights, &want.mask), "{} {site}", tiny.name);
                assert_ne!(got.weights, plain.row(at, query).unwrap().weights, "{} {site}", tiny.name);
                // Its neighbours keep theirs: nothing before this layer changed.
                let beside = At { head: 0, ..at };
                let (got, want) = (kept.row(beside, query).unwrap(), plain.row(beside, query).unwrap());
                assert_eq!(got.weights, want.weights, "{} {site}", tiny.name);
            }
            for head in kept.heads(None).unwrap() {
                assert!(head.proof.holds(), "{} {head:?}", tiny.name);
            }
            assert!(apart(&vectors(model, case, &patched), &vectors(model, case, Interventions::NONE)) > 1e-4);
        }
    }
}
