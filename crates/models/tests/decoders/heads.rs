//! Models with a language head and without one, under any prefix.

use std::collections::HashMap;
use std::fs;

use attnscope_models::{Cache, Model, Prompt, Sampling};
use candle_core::{Tensor, safetensors};
use serde_json::json;

use crate::checkpoints::{Copied, Tiny, hidden, logits, numbers, trace};

#[test]
fn a_base_model_is_traced_but_has_no_logits() {
    for name in ["gpt2-base", "llama-base", "smollm3-base", "gemma3-base"] {
        let tiny = Tiny::named(name);
        let model = tiny.open();
        assert_eq!(trace(&model, &tiny.case.ids).sites.len(), model.shape().layers);
        let error = model.next_logits(&tiny.case.ids, &mut Cache::default()).unwrap_err().to_string();
        assert!(error.contains(name) && error.contains("has no language head"), "{error}");
        let prompt = Prompt::Ids(tiny.case.ids.clone());
        let error = model.generate(&prompt, &Sampling::greedy(1), |_| true).unwrap_err().to_string();
        assert!(error.contains("has no language head"), "{error}");
    }
}

/// A model that was made for another task has blocks under the usual prefix, and no head that names tokens.
#[test]
fn a_classifier_is_a_model_without_a_language_head() {
    let tiny = Tiny::named("qwen3-plain");
    let architectures = json!(["Qwen3ForSequenceClassification"]);
    let classifier = tiny.copy().without("lm_head.weight").set("architectures", architectures).open();
    assert_eq!(hidden(&classifier, &tiny.case.ids), hidden(&tiny.open(), &tiny.case.ids));
    assert!(classifier.next_logits(&[1], &mut Cache::default()).is_err());
}

fn renamed(mut copy: Copied, rename: impl Fn(&str) -> String) -> Copied {
    let tensors: HashMap<String, Tensor> = copy.tensors.into_iter().map(|(name, t)| (rename(&name), t)).collect();
    copy.tensors = tensors;
    copy
}

#[test]
fn a_prefix_changes_nothing() {
    for (name, prefix) in [
        ("gpt2-lm", "transformer."),
        ("llama-tied", "model."),
        ("gemma2-lm", "model."),
        ("gpt_neox-parallel", "gpt_neox."),
    ] {
        let tiny = Tiny::named(name);
        let bare = renamed(tiny.copy(), |name| name.strip_prefix(prefix).unwrap_or(name).to_owned());
        assert!(bare.tensors.keys().all(|name| !name.starts_with(prefix)));
        let (a, b) = (logits(&tiny.open(), &tiny.case.ids), logits(&bare.open(), &tiny.case.ids));
        assert_eq!(numbers(&a), numbers(&b), "{name}");
    }
    for (name, prefix) in [("gpt2-base", "transformer."), ("llama-base", "model."), ("gemma3-base", "model.")] {
        let tiny = Tiny::named(name);
        let named = renamed(tiny.copy(), |name| format!("{prefix}{name}"));
        assert_eq!(hidden(&named.open(), &tiny.case.ids), hidden(&tiny.open(), &tiny.case.ids), "{name}");
    }
}

/// Weights in several files with an index are the same weights.
#[test]
fn shards_change_nothing() {
    let tiny = Tiny::named("gemma2-lm");
    let copy = tiny.copy();
    let folder = copy.write();
    fs::remove_file(folder.path().join("model.safetensors")).unwrap();
    let mut names: Vec<&String> = copy.tensors.keys().collect();
    names.sort();
    let mut places = serde_json::Map::new();
    for (part, names) in names.chunks(names.len().div_ceil(3)).enumerate() {
        let file = format!("model-{}-of-3.safetensors", part + 1);
        let tensors: HashMap<&str, Tensor> = names.iter().map(|name| (&***name, copy.tensors[*name].clone())).collect();
        safetensors::save(&tensors, folder.path().join(&file)).unwrap();
        places.extend(names.iter().map(|name| ((*name).clone(), json!(file))));
    }
    let index = json!({"metadata": {}, "weight_map": places}).to_string();
    fs::write(folder.path().join("model.safetensors.index.json"), index).unwrap();
    let sharded = Model::open(folder.path()).unwrap();
    assert_eq!(hidden(&sharded, &tiny.case.ids), hidden(&tiny.open(), &tiny.case.ids));
}

/// Greedy generation through the cache takes what reading all at once would.
#[test]
fn generation_takes_the_likeliest() {
    for tiny in Tiny::all().iter().filter(|tiny| !tiny.name.ends_with("-base") && !tiny.turns_by_length()) {
        let model = tiny.open();
        let mut read = tiny.case.ids[..12].to_vec();
        let new = model.generate(&Prompt::Ids(read.clone()), &Sampling::greedy(4), |_| true).unwrap().ids;
        for id in new {
            let logits = model.next_logits(&read, &mut Cache::default()).unwrap();
            let best = (0..logits.len()).max_by(|a, b| logits[*a].total_cmp(&logits[*b])).unwrap();
            assert_eq!(id as usize, best, "{}", tiny.name);
            read.push(id);
        }
    }
}
