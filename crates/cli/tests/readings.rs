//! Readings on the command line: rollout, lens, shares of a logit, rows by value, and what heads do on repeated tokens.

mod common;

use std::path::PathBuf;

use common::{attnscope, fails, json, model, numbers, printed, refused};
use serde_json::Value;
use tempfile::TempDir;

const SMOLLM2: &str = "smollm2-135m-instruct.Q4_1.gguf";

fn tiny(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../models/tests/tiny").join(name);
    path.canonicalize().unwrap().to_str().unwrap().to_owned()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// One layer of one head: rollout is half of the row, and half of the token itself.
#[test]
fn rollout_of_one_layer_is_half_its_row() {
    for way in ["--causal", "--bidirectional"] {
        let row = numbers(&json(&["row", "example", way, "--query", "it"])["weights"]);
        let rollout = json(&["rollout", "example", way, "--query", "it"]);
        assert_eq!(
            (&rollout["query"]["index"], &rollout["layers"], &rollout["site"]),
            (&6.into(), &1.into(), &"self".into())
        );
        for (key, (got, weight)) in numbers(&rollout["weights"]).iter().zip(row).enumerate() {
            let want = 0.5 * weight + if key == 6 { 0.5 } else { 0.0 };
            assert!((got - want).abs() < 1e-9, "key {key}: {got}, not {want}");
        }
        assert!((number(&rollout["sum"]) - 1.0).abs() < 1e-6);
    }
    let text = printed(&["rollout", "example", "--query", "6", "--top", "2"]);
    assert!(text.contains("query 6 it") && text.contains("8 others") && text.contains("1.000000"), "{text}");
    fails(&["rollout", "example", "--query", "10"], &["query 10 is out of range"]);
    fails(&["rollout", "example", "--query", "it", "--site", "encoder"], &["no encoder attention"]);
    fails(&["rollout", &tiny("t5-relu"), "--query", "0", "--site", "cross"], &["from one text to another"]);
}

#[test]
fn a_row_by_value_names_its_length() {
    let by = json(&["row", "example", "--query", "it", "--by", "value"]);
    let (weights, value) = (numbers(&by["weights"]), &by["value"]);
    assert_eq!(value["by"], "v");
    let (lengths, moved, shares) = (numbers(&value["lengths"]), numbers(&value["moved"]), numbers(&value["shares"]));
    let sum: f64 = moved.iter().sum();
    for key in 0..10 {
        assert!((weights[key] * lengths[key] - moved[key]).abs() < 1e-12);
        assert!((moved[key] / sum - shares[key]).abs() < 1e-12);
    }
    let cell = json(&["cell", "example", "--query", "it", "--key", "robot"]);
    assert!((number(&cell["share"]) - shares[1]).abs() < 1e-9);
    assert!(by.get("scores").is_some(), "the row itself is there too");

    // With the model at hand it is what the output projection makes of the value.
    let path = tiny("llama-tied");
    let place = ["--text", "the robot was tired", "--layer", "1", "--head", "2", "--query", "3", "--by", "value"];
    let by = json(&[&["row", &path], &place[..]].concat());
    assert_eq!(by["value"]["by"], "v_wo");
    // A kept trace has no projection.
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("t.safetensors");
    json(&["trace", &path, "--text", "the robot was tired", "-o", file.to_str().unwrap()]);
    let kept = json(&["row", file.to_str().unwrap(), "--layer", "1", "--head", "2", "--query", "3", "--by", "value"]);
    assert_eq!((&kept["value"]["by"], &kept["weights"]), (&"v".into(), &by["weights"]));
    assert_ne!(kept["value"]["lengths"], by["value"]["lengths"]);
    let mean = json(&["row", &path, "--text", "the robot", "--head", "mean", "--query", "1", "--by", "value"]);
    assert!(mean["value"]["lengths"].is_null() && !numbers(&mean["value"]["moved"]).is_empty());
    let text = printed(&[&["row", &path], &place[..]].concat());
    assert!(text.contains("|v W_O|") && text.contains('%'), "{text}");
    assert!(printed(&["row", "example", "--query", "it", "--by", "value"]).contains("no output projection"));
}

#[test]
fn the_lens_ends_in_what_the_model_says() {
    let path = tiny("gpt2-lm");
    let lens = json(&["lens", &path, "--text", "the robot was", "--top", "4"]);
    let layers = lens["layers"].as_array().unwrap();
    assert_eq!((layers.len(), &layers[0]["layer"], &layers[2]["layer"]), (3, &Value::Null, &1.into()));
    assert_eq!((&layers[2]["top"][0]["id"], &layers[2]["rank"]), (&lens["said"]["id"], &0.into()));
    assert!(number(&layers[2]["kl"]) < 1e-9);
    assert_eq!(layers[0]["top"].as_array().unwrap().len(), 4);
    let next = json(&["generate", &path, "--prompt", "the robot was", "--max-tokens", "1"]);
    assert_eq!(next["ids"][0], lens["said"]["id"]);
    let text = printed(&["lens", &path, "--text", "the robot was", "--at", "0"]);
    assert!(
        text.contains("position 0") && text.lines().any(|line| line.trim_start().starts_with("embedding")),
        "{text}"
    );
    fails(&["lens", &tiny("bert-base"), "--text", "he said"], &["no head that names words"]);
    fails(&["lens", "example"], &["example", "only a model"]);
}

#[test]
fn heads_are_ranked_by_what_they_add_to_a_logit() {
    let path = tiny("gemma2-lm");
    let ask = ["heads", &path, "--text", "the robot was tired", "--logit", "77"];
    let direct = json(&ask);
    let heads = direct["heads"].as_array().unwrap();
    assert_eq!(heads.len(), 12);
    let of_heads: f64 = heads.iter().map(|head| number(&head["contribution"])).sum();
    let nets: f64 = numbers(&direct["feed_forward"]).iter().sum();
    let parts = ["embedding", "attention_biases", "last_biases"].map(|name| number(&direct[name]));
    let sum = of_heads + nets + parts.iter().sum::<f64>();
    assert!(
        (sum - number(&direct["sum"])).abs() < 1e-9 && (sum - number(&direct["uncapped"])).abs() < 1e-3,
        "{direct}"
    );
    assert_eq!((&direct["token"]["id"], direct["softcap"].is_null()), (&77.into(), false));
    let text = printed(&[&ask[..], &["--top", "3"]].concat());
    assert!(text.contains("9 others of them") && text.contains("softcap"), "{text}");
    let layer = json(&[&ask[..], &["--layer", "1"]].concat());
    assert!(layer["heads"].as_array().unwrap().iter().all(|head| head["layer"] == 1));
    assert_eq!(layer["sum"], direct["sum"], "the account is of the whole model");
    fails(&[&ask[..], &["--layer", "3"]].concat(), &["layer 3", "0 to 2"]);
    fails(&[&ask[..], &["--at", "nowhere"]].concat(), &["no token reads \"nowhere\""]);
    fails(&["heads", &path, "--logit", "no such token"], &["not one token"]);
    fails(&["heads", &tiny("bert-mlm"), "--logit", "5"], &["activation"]);
    fails(&["heads", "example", "--logit", "5"], &["example", "only a model"]);
}

#[test]
fn a_probe_measures_three_scores() {
    let path = tiny("gpt_neox-parallel");
    let heads = json(&["heads", &path, "--probe", "--probe-len", "20"]);
    let heads = heads.as_array().unwrap();
    assert_eq!(heads.len(), 8);
    for head in heads {
        for score in ["previous", "duplicate", "induction"] {
            assert!((0.0..=1.0).contains(&number(&head[score])), "{head}");
        }
        assert!(head["layer"].is_u64() && head["head"].is_u64() && head["site"] == "self");
    }
    let again = |seed: &str| json(&["heads", &path, "--probe", "--probe-len", "20", "--seed", seed]);
    assert_eq!(again("0").as_array().unwrap(), heads);
    assert_ne!(again("1").as_array().unwrap(), heads);
    assert_eq!(
        json(&["heads", &path, "--probe", "--probe-len", "20", "--layer", "1"]).as_array().unwrap(),
        &heads[4..]
    );
    let text = printed(&["heads", &path, "--probe", "--probe-len", "20"]);
    assert!(text.contains("induction: ") && text.contains("seed 0"), "{text}");
    fails(&["heads", &path, "--probe"], &["64 tokens said twice", "at most 64", "2 to 32"]);
    fails(&["heads", &tiny("bert-mlm"), "--probe"], &["from left to right"]);
    fails(&["heads", "example", "--probe"], &["example", "only a model"]);
    for wrong in [&["--probe", "--text", "he"][..], &["--seed", "3"], &["--at", "2"], &["--probe", "--logit", "5"]] {
        refused(attnscope(&[&["heads", &path][..], wrong].concat()), 2, &[]);
    }
}

#[test]
fn repeats_are_of_the_text_that_is_read() {
    let heads = json(&["heads", &tiny("llama-tied"), "--text", "the robot the robot", "--repeats"]);
    assert_eq!(heads.as_array().unwrap().len(), 8);
    assert!(number(&heads[0]["duplicate"]) >= 0.0);
    // "The" is not "the".
    let example = json(&["heads", "example", "--repeats"]);
    assert!(example[0]["duplicate"].is_null() && example[0]["previous"].is_f64(), "{example}");
    assert!(printed(&["heads", "example", "--repeats"]).contains("previous: 0.0 "), "the one head is named");
}

#[test]
fn smollm2_answers_as_the_documentation_says() {
    let Some(model) = model(SMOLLM2) else { return };
    let prompt = ["--text", "The capital of France is"];
    let lens = json(&[&["lens", &model], &prompt[..]].concat());
    assert_eq!((&lens["said"]["token"], lens["layers"].as_array().unwrap().len()), (&" Paris".into(), 31));
    let direct = json(&[&["heads", &model, "--logit", " Paris"], &prompt[..]].concat());
    assert_eq!(direct["heads"].as_array().unwrap().len(), 270);
    assert_eq!(direct["token"]["id"], lens["said"]["id"]);
    let off = (number(&direct["sum"]) - number(&direct["uncapped"])).abs();
    assert!(off < 1e-4 * number(&direct["uncapped"]).abs(), "{off}");
}

#[test]
fn one_token_alone_has_no_score() {
    let llama = tiny("llama-tied");
    for head in json(&["heads", &llama, "--repeats", "--ids", "5"]).as_array().unwrap() {
        assert!(["previous", "duplicate", "induction"].iter().all(|score| head[score].is_null()), "{head}");
    }
    assert!(json(&["heads", &llama, "--ids", "5"])[0]["previous"].is_null());
    let said = printed(&["heads", &llama, "--repeats", "--ids", "5"]);
    assert!(!said.contains("0.0000") && !said.contains("previous:"), "{said}");
}

/// An option of one reading is not passed over by another.
#[test]
fn options_go_with_their_reading() {
    let llama = tiny("llama-tied");
    let wrong: [&[&str]; 7] = [
        &["--seed", "3"],
        &["--repeats", "--seed", "3"],
        &["--logit", "5", "--probe-len", "8"],
        &["--text", "a", "--seed", "3"],
        &["--probe", "--at", "3"],
        &["--repeats", "--top", "3"],
        &["--ids", "3", "--system", "a"],
    ];
    for more in wrong {
        refused(attnscope(&[&["heads", &llama], more].concat()), 2, &["--help"]);
    }
    fails(&["lens", &llama, "--at", "99"], &["position 99 is out of range"]);
    fails(&["heads", &llama, "--logit", "5", "--at", "99"], &["position 99 is out of range"]);
}

/// Standard input is read once, by whatever command.
#[test]
fn every_command_reads_a_text_from_standard_input() {
    let llama = tiny("llama-tied");
    let commands: [&[&str]; 6] = [
        &["lens"],
        &["heads", "--logit", "5"],
        &["heads", "--repeats"],
        &["knockout", "--heads", "0.1"],
        &["rollout", "--query", "1"],
        &["row", "--query", "1", "--by", "value"],
    ];
    for args in commands {
        let piped = [args, &[&llama, "--json", "--file", "-"]].concat();
        let output = attnscope(&piped).write_stdin("the robot was here").output().unwrap();
        let said: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{args:?}: {output:?}"));
        assert_eq!(said, json(&[args, &[&llama, "--text", "the robot was here"]].concat()), "{args:?}");
    }
}
