//! Which families can be opened, and that they are, on the tiny models with random weights.

mod common;

use std::fs;
use std::path::PathBuf;

use common::{fails, json, printed};

fn tiny() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../models/tests/tiny")
}

#[test]
fn families_are_listed_with_what_they_were_proven_on() {
    let listed = json(&["models"]);
    let listed = listed.as_array().unwrap();
    let text = printed(&["models"]);
    for family in [
        "gpt2",
        "llama",
        "mistral",
        "qwen2",
        "qwen3",
        "smollm3",
        "phi3",
        "gemma2",
        "gemma3",
        "gpt_neox",
        "bert",
        "distilbert",
        "roberta",
        "albert",
        "modernbert",
        "t5",
        "bart",
    ] {
        let entry = listed.iter().find(|entry| entry["family"] == family).unwrap_or_else(|| panic!("no {family}"));
        assert_eq!(entry["formats"][0], "folder", "{family}");
        assert!(!entry["model_types"].as_array().unwrap().is_empty(), "{family}");
        assert!(!entry["proven_on"].as_array().unwrap().is_empty(), "{family}");
        assert!(text.lines().any(|line| line.split_whitespace().next() == Some(family)), "{text}");
    }
    let llama = listed.iter().find(|entry| entry["family"] == "llama").unwrap();
    assert_eq!(llama["formats"], serde_json::json!(["folder", "gguf"]));
}

/// Every tiny model of a family that is listed opens, and a cell of it is worked out.
#[test]
fn what_is_listed_opens() {
    let listed = json(&["models"]);
    let names = listed.as_array().unwrap().iter().flat_map(|entry| entry["proven_on"].as_array().unwrap().clone());
    let mut seen = 0;
    for name in names.filter_map(|name| name.as_str().unwrap().strip_prefix("tiny/").map(str::to_owned)) {
        let path = tiny().join(&name);
        assert!(fs::metadata(&path).is_ok(), "{name}");
        let path = path.to_str().unwrap();
        let mut ask = vec!["cell", path, "--layer", "1", "--head", "2", "--query", "9", "--key", "7"];
        if name.starts_with("t5-") || name.starts_with("bart-") {
            ask.extend(["--site", "encoder", "--text", "The water was there, so he said by now."]);
        }
        let cell = json(&ask);
        assert!((cell["row_sum"].as_f64().unwrap() - 1.0).abs() < 1e-5, "{name}: {cell}");
        seen += 1;
    }
    assert!(seen >= 34, "{seen}");
}

#[test]
fn an_encoder_says_what_it_does_instead_of_going_on() {
    let generate = |name: &str, parts: &[&str]| {
        let path = tiny().join(name);
        for more in [&[][..], &["--max-tokens", "0"]] {
            let args = [&["generate", path.to_str().unwrap(), "--prompt", "the robot"], more].concat();
            fails(&args, &[&[name, "an encoder and no decoder", "(t5, bart)"], parts].concat());
        }
    };
    generate("bert-mlm", &["`lens`", "[MASK]"]);
    generate("roberta-mlm", &["`lens`", "<mask>"]);
    generate("bert-base", &["`show`"]);
}

#[test]
fn a_base_model_cannot_go_on_with_a_text() {
    let path = tiny().join("llama-base");
    fails(&["generate", path.to_str().unwrap(), "--prompt", "the robot"], &["llama-base", "no language head"]);
}
