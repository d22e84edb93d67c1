//! What cannot be done is refused, in one line that says what there is.

use attnscope_inspect::{At, SiteKind};
use attnscope_models::{Heads, Interventions, Mean, mean_output};

use crate::support::{Tiny, every, trace, try_vectors};

fn refused(tiny: &Tiny, interventions: &Interventions, parts: &[&str]) {
    let error = try_vectors(&tiny.model, tiny.text(), interventions).unwrap_err();
    assert_eq!(error.lines().count(), 1, "{error}");
    for part in parts {
        assert!(error.contains(part), "{error:?} does not say {part:?}");
    }
}

#[test]
fn out_of_range_is_answered_with_the_range() {
    for name in ["llama-tied", "bert-mlm", "t5-relu"] {
        let tiny = Tiny::named(name);
        for has in tiny.model.attentions() {
            let heads = |layer, head| Heads { site: has.kind, layer, head };
            let none = Interventions::default;
            let (layers, last) = (format!("layers 0 to {}", has.layers - 1), format!("0 to {}", has.heads - 1));
            refused(&tiny, &none().cut(heads(Some(has.layers), None), None, None), &["layer", "out of range", &layers]);
            let beyond = heads(None, Some(has.heads));
            refused(&tiny, &none().cut(beyond, None, None), &["head", "out of range", &last]);
            refused(&tiny, &none().mean(beyond, Mean::OfThisRun), &["head", "out of range", &last]);
            let kind = format!("the {} attention has", has.kind);
            refused(&tiny, &none().cut(every(has.kind), Some(999), None), &["query 999 is out of range", &kind]);
            refused(&tiny, &none().cut(every(has.kind), None, Some(999)), &["key 999 is out of range", &kind]);
        }
    }
}

#[test]
fn an_attention_that_a_model_has_not_is_named() {
    let tiny = Tiny::named("llama-tied");
    for site in [SiteKind::Cross, SiteKind::Encoder] {
        let cut = Interventions::default().cut(every(site), None, None);
        refused(&tiny, &cut, &["llama-tied has no", site.name(), "choose `self`"]);
    }
}

#[test]
fn means_and_patterns_must_fit() {
    let tiny = Tiny::named("qwen3-plain");
    let (plain, head) = (trace(&tiny.model, tiny.text(), Interventions::NONE), every(SiteKind::SelfAttention));
    let none = Interventions::default;
    refused(&tiny, &none().mean(head, Mean::Given(vec![0.0; 3])), &["has 3 numbers"]);
    let beyond = At { head: 99, ..At::default() };
    for error in [none().pattern(beyond, &plain).unwrap_err(), mean_output(&plain, beyond).unwrap_err()] {
        assert!(error.to_string().starts_with("head 99 is out of range"), "{error}");
    }
    let mut short = tiny.text().clone();
    short.ids.truncate(9);
    let shorter = none().pattern(At::default(), &trace(&tiny.model, &short, Interventions::NONE)).unwrap();
    refused(&tiny, &shorter, &["layer 0 self", "is of 9 queries and 9 keys", "as many tokens"]);
    let own = none().pattern(At::default(), &plain).unwrap();
    refused(&tiny, &own.clone().cut(head, None, Some(2)), &["head 0 of layer 0", "another run's pattern"]);
    refused(&tiny, &own.pattern(At::default(), &plain).unwrap(), &["head 0 of layer 0", "second pattern"]);
    // Cuts of other heads are no contradiction.
    let beside = none().pattern(At::default(), &plain).unwrap().cut(Heads { head: Some(1), ..head }, None, None);
    try_vectors(&tiny.model, tiny.text(), &beside).unwrap();

    // From a run of another model, or of one that was padded otherwise.
    let gemma = Tiny::named("gemma2-lm");
    let mut same = gemma.text().clone();
    same.ids.truncate(tiny.text().ids.len());
    let mut case = tiny.text().clone();
    case.ids.truncate(same.ids.len());
    let foreign = none().pattern(At::default(), &trace(&gemma.model, &same, Interventions::NONE)).unwrap();
    let error = try_vectors(&tiny.model, &case, &foreign).unwrap_err();
    assert!(error.contains("take it from a run of the same model"), "{error}");
    let mut padded = tiny.text().clone();
    padded.real = Some((0..padded.ids.len()).map(|at| at > 0).collect());
    let padded = none().pattern(At::default(), &trace(&tiny.model, &padded, Interventions::NONE)).unwrap();
    refused(&tiny, &padded, &["another mask or scale", "padded alike"]);
}

/// A head that is cut out has no output of which a mean could be wanted.
#[test]
fn a_head_is_not_cut_out_and_given_its_mean() {
    let tiny = Tiny::named("llama-tied");
    let one = |layer, head| Heads { layer, head, ..Heads::default() };
    let both = |cut, mean| Interventions::default().cut(cut, None, None).mean(mean, Mean::OfThisRun);
    for (cut, mean) in [
        (one(Some(1), Some(1)), one(Some(1), Some(1))),
        (one(Some(1), None), one(None, Some(2))),
        (one(None, Some(3)), one(Some(0), None)),
    ] {
        refused(&tiny, &both(cut, mean), &["cut out and have its mean", "cut self", "its mean"]);
    }
    assert!(try_vectors(&tiny.model, tiny.text(), &both(one(Some(1), Some(1)), one(Some(1), Some(2)))).is_ok());
    // Some of its cells are another matter.
    let cell = Interventions::default().cut(one(Some(1), Some(1)), None, Some(2));
    assert!(try_vectors(&tiny.model, tiny.text(), &cell.mean(one(Some(1), Some(1)), Mean::OfThisRun)).is_ok());
}
