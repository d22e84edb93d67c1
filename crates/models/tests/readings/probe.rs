use std::collections::HashSet;
use std::fs;
use std::path::Path;

use attnscope_inspect::{At, Trace};
use attnscope_models::{Keep, Model, Probe, Prompt};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::common::model;
use crate::support::Tiny;

#[test]
fn a_probe_is_random_words_said_twice() {
    let tiny = Tiny::named("llama-tied");
    let ids = |seed, len| tiny.model.probe_ids(Probe { seed, len }).unwrap();
    let first = ids(0, 10);
    // No mark before a text here.
    assert_eq!(first.len(), 20);
    assert_eq!(first[..10], first[10..]);
    assert_eq!(first.iter().collect::<HashSet<_>>().len(), 10, "each another: {first:?}");
    assert!(first.iter().all(|id| tiny.model.tokenizer().is_word(*id)));
    assert_eq!(ids(0, 10), first);
    assert_ne!(ids(1, 10), first);
}

/// What a tokenizer puts before a text stands before a probe, once.
#[test]
fn the_mark_that_begins_a_text_begins_a_probe() {
    let folder = TempDir::new().unwrap();
    let plain = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tiny/llama-tied");
    for name in ["config.json", "model.safetensors"] {
        fs::copy(plain.join(name), folder.path().join(name)).unwrap();
    }
    let tokenizer = fs::read_to_string(plain.join("tokenizer.json")).unwrap();
    let mut tokenizer: Value = serde_json::from_str(&tokenizer).unwrap();
    let mark = tokenizer["added_tokens"][0].clone();
    assert_eq!(mark["special"], true);
    let name = mark["content"].as_str().unwrap();
    let begins = json!([{"SpecialToken": {"id": name, "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}]);
    tokenizer["post_processor"] = json!({
        "type": "TemplateProcessing", "single": begins, "pair": begins,
        "special_tokens": {name: {"id": name, "ids": [mark["id"]], "tokens": [name]}},
    });
    fs::write(folder.path().join("tokenizer.json"), tokenizer.to_string()).unwrap();
    let begun = Model::open(folder.path()).unwrap();
    let ids = begun.probe_ids(Probe { seed: 3, len: 5 }).unwrap();
    assert_eq!((ids.len(), u64::from(ids[0])), (11, mark["id"].as_u64().unwrap()));
    assert_eq!(ids[1..6], ids[6..]);
    // The words are those of the same model without the mark.
    let tiny = Tiny::named("llama-tied");
    assert_eq!(ids[1..], tiny.model.probe_ids(Probe { seed: 3, len: 5 }).unwrap());
}

/// The mean weight on a key a fixed way back, over the second time.
fn mean(trace: &Trace, at: At, (start, len): (usize, usize), key: impl Fn(usize) -> usize) -> f64 {
    let weight = |query: usize| trace.row(at, query).unwrap().weights[key(query)];
    (start + len..start + 2 * len).map(weight).sum::<f64>() / len as f64
}

#[test]
fn scores_are_means_of_the_weights_of_that_run() {
    for name in ["llama-tied", "gpt_neox-parallel", "gemma2-lm", "mistral-window"] {
        let tiny = Tiny::named(name);
        let probe = Probe { seed: 5, len: 12 };
        let ids = tiny.model.probe_ids(probe).unwrap();
        let start = ids.len() - 24;
        let trace = tiny.model.trace(&Prompt::Ids(ids), Keep::All, &|_, _| true).unwrap();
        let found = tiny.model.probe(probe, &|_, _| true).unwrap();
        assert_eq!(found.len(), tiny.model.shape().layers * tiny.model.shape().q_heads);
        for head in found {
            let at = At { layer: head.layer, head: head.head, ..At::default() };
            let duplicate = mean(&trace, at, (start, 12), |query| query - 12);
            let induction = mean(&trace, at, (start, 12), |query| query - 11);
            assert!((head.duplicate.unwrap() - duplicate).abs() < 1e-9, "{name} {head:?} {duplicate}");
            assert!((head.induction.unwrap() - induction).abs() < 1e-9, "{name} {head:?} {induction}");
            let previous = (1..start + 24).map(|query| trace.row(at, query).unwrap().weights[query - 1]);
            assert!((head.previous.unwrap() - previous.sum::<f64>() / (start + 23) as f64).abs() < 1e-9);
        }
    }
}

#[test]
fn what_cannot_be_probed_says_why() {
    for name in ["bert-mlm", "t5-relu", "bart-lm", "modernbert-base"] {
        let tiny = Tiny::named(name);
        let refused = tiny.model.probe(Probe { seed: 0, len: 8 }, &|_, _| true).unwrap_err().to_string();
        assert!(refused.contains(name) && refused.contains("from left to right"), "{refused}");
    }
    let tiny = Tiny::named("gpt2-lm");
    let refused = |len| tiny.model.probe_ids(Probe { seed: 0, len }).unwrap_err().to_string();
    assert!(refused(33).contains("at most 64 tokens, so 2 to 32"), "{}", refused(33));
    assert!(refused(1).contains("2 to 32") && refused(usize::MAX).contains("2 to 32"));
    assert!(tiny.model.probe_ids(Probe { seed: 0, len: 32 }).is_ok());
}

/// A trained model has heads that look at the token before, and heads that look for what followed the last time.
#[test]
fn smollm2_has_previous_token_and_induction_heads() {
    let Some(model) = model("smollm2-135m-instruct.Q4_1.gguf") else { return };
    let found = model.probe(Probe { seed: 0, len: 64 }, &|_, _| true).unwrap();
    let best = |score: fn(&attnscope_inspect::Repeats) -> f64| {
        let head = found.iter().max_by(|a, b| score(a).total_cmp(&score(b))).unwrap();
        (score(head), head.layer, head.head)
    };
    let (previous, duplicate, induction) = (
        best(|head| head.previous.unwrap()),
        best(|head| head.duplicate.unwrap()),
        best(|head| head.induction.unwrap()),
    );
    eprintln!("previous {previous:?}, duplicate {duplicate:?}, induction {induction:?}");
    assert!(previous.0 > 0.8, "{previous:?}");
    assert!(induction.0 > 0.5, "{induction:?}");
    // By chance a head would give a key one in a hundred.
    assert!(duplicate.0 > 0.2, "{duplicate:?}");
}
