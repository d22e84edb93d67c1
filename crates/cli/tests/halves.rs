//! Encoder-decoders and pairs of texts on the command line, on tiny models with random weights.

mod common;

use std::path::PathBuf;

use common::{fails, json, printed};
use tempfile::TempDir;

fn tiny(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../models/tests/tiny").join(name);
    path.canonicalize().unwrap().to_str().unwrap().to_owned()
}

const TEXT: [&str; 4] = ["--text", "The robot was tired.", "--target", "She walked on the moon"];

fn texts(tokens: &serde_json::Value) -> Vec<&str> {
    tokens.as_array().unwrap().iter().map(|token| token["text"].as_str().unwrap()).collect()
}

#[test]
fn each_axis_of_a_cross_attention_has_the_tokens_of_its_text() {
    let t5 = tiny("t5-relu");
    let cross = [&TEXT[..], &["--site", "cross", "--layer", "2", "--head", "1"]].concat();
    let map = json(&[&["show", &t5], &cross[..]].concat());
    assert_eq!(texts(&map["tokens"]), ["<pad>", " she", " walked", " on", " the", " moon"]);
    assert_eq!(texts(&map["key_tokens"]), [" the", " robot", " was", " tired", ".", "</s>"]);
    let own = json(&[&["show", &t5], &TEXT[..]].concat());
    assert_eq!((&own["tokens"], &own["key_tokens"]), (&map["tokens"], &serde_json::Value::Null));

    let cell = json(&[&["cell", &t5], &cross[..], &["--query", "moon", "--key", "robot"]].concat());
    assert_eq!((&cell["query"]["index"], &cell["key"]["index"]), (&5.into(), &1.into()));
    assert_eq!((&cell["query"]["token"], &cell["key"]["token"]), (&" moon".into(), &" robot".into()));
    assert!((cell["weight"].as_f64().unwrap() - map["weights"][5][1].as_f64().unwrap()).abs() < 1e-6);
    let row = printed(&[&["row", &t5], &cross[..], &["--query", "moon"]].concat());
    assert!(row.contains("robot") && !row.contains("walked"), "{row}");
    fails(&[&["row", &t5], &cross[..], &["--query", "robot"]].concat(), &["no token reads \"robot\"", "\"moon\""]);
}

#[test]
fn a_kept_trace_and_its_pictures_name_both_texts() {
    let folder = TempDir::new().unwrap();
    let file = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let kept = json(&[&["trace", &tiny("bart-lm")], &TEXT[..], &["-o", &file("t.safetensors")]].concat());
    assert_eq!(kept["sites"], 8);
    let place = ["--site", "cross", "--layer", "1"];
    for name in ["map.csv", "map.svg"] {
        printed(&[&["export", &file("t.safetensors"), "-o", &file(name)], &place[..]].concat());
    }
    let csv = std::fs::read_to_string(file("map.csv")).unwrap();
    let (head, rows) = csv.split_once("\r\n").unwrap();
    // The encoder's tokens across, the decoder's down.
    assert!(head.contains(",1 T,") && !head.contains(" S,"), "{head}");
    assert!(rows.contains("\n2,S,") && !rows.contains(",T,"), "{rows}");
    let svg = std::fs::read_to_string(file("map.svg")).unwrap();
    assert!(svg.contains("The robot was tired. → She walked on the moon"));
}

#[test]
fn pairs_and_targets_are_for_models_that_read_them() {
    let (bert, t5) = (tiny("bert-base"), tiny("t5-relu"));
    let pair = json(&["show", &bert, "--text", "He said", "--second", "They would know"]);
    let tokens = ["[CLS]", "he", "said", "[SEP]", "they", "would", "know", "[SEP]"];
    assert_eq!(texts(&pair["tokens"]), tokens);
    fails(&["show", &bert, "--text", "He", "--target", "said"], &["no encoder and decoder", "--target"]);
    let gpt2 = tiny("gpt2-lm");
    fails(&["generate", &gpt2, "--text", "He", "--target", "said"], &["no encoder and decoder", "--target"]);
    fails(&["show", &bert, "--second", "He said"], &["--second", "--text"]);
    // A decoder was never shown where one text would end and another begin.
    for more in [&[][..], &["--no-special-tokens"], &["--truncate"]] {
        let llama = tiny("llama-tied");
        let args = [&["show", &llama, "--text", "He", "--second", "said"], more].concat();
        fails(&args, &["llama-tied is a decoder", "no pairs", "leave out --second"]);
    }
    fails(&["show", "example", "--target", "it"], &["worked example", "text of its own"]);
    let ids = json(&["show", &t5, "--text", "the robot", "--target-ids", "0,5"]);
    assert_eq!(ids["tokens"].as_array().unwrap().len(), 2);
    // Without a target, what the model itself says.
    let said = json(&["generate", &t5, "--text", "the robot", "--max-tokens", "3"]);
    let own = json(&["show", &t5, "--text", "the robot"]);
    let read: Vec<_> = own["tokens"].as_array().unwrap().iter().skip(1).take(3).map(|token| &token["id"]).collect();
    assert_eq!(read, said["ids"].as_array().unwrap().iter().collect::<Vec<_>>());
}

/// Who names a model is told of that model, before it reads anything; who names a trace, of that file.
#[test]
fn a_site_that_is_not_there_is_told_of_what_was_named() {
    let folder = TempDir::new().unwrap();
    let file = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (bert, trace) = (tiny("bert-base"), file("t.safetensors"));
    printed(&["trace", &bert, "--text", "He said", "-o", &trace]);
    let map = file("map.csv");
    let commands: [&[&str]; 7] = [
        &["show"],
        &["row", "--query", "0"],
        &["cell", "--query", "0", "--key", "0"],
        &["rollout", "--query", "0"],
        &["export", "-o", &map],
        &["export", "-o", &map, "--what", "heads"],
        &["knockout", "--layers", "0"],
    ];
    for args in commands {
        for source in [&bert, &trace, "example"] {
            if args[0] == "knockout" && source == trace {
                continue;
            }
            for site in ["cross", "encoder"] {
                let said = fails(&[args, &[source, "--site", site]].concat(), &[]);
                let due = format!("{source} has no {site} attention, which is of encoder-decoders; choose `self`");
                assert_eq!(said, format!("error: {due}\n"), "{args:?}");
            }
        }
    }
}

/// Its stacks need not be of one depth: each has its own layers.
#[test]
fn a_layer_that_only_the_other_half_has_is_out_of_range() {
    for (name, site, layer, range) in [
        ("bart-lm", "encoder", "2", "there are layers 0 to 1"),
        ("bart-base", "self", "1", "there are layers 0 to 0"),
        ("bart-base", "cross", "1", "there are layers 0 to 0"),
    ] {
        let said = fails(&["show", &tiny(name), "--site", site, "--layer", layer], &[range]);
        assert!(said.contains(&format!("layer {layer} is out of range")), "{said}");
    }
    let deepest = json(&[&["show", &tiny("bart-lm"), "--layer", "2"], &TEXT[..]].concat());
    assert_eq!(deepest["site"], "self");
}

/// A layer of an encoder-decoder has heads of the same number in each of its attentions.
#[test]
fn the_table_of_heads_says_which_attention_each_is_of() {
    let said = printed(&[&["heads", &tiny("bart-lm")], &TEXT[..]].concat());
    let places: Vec<Vec<&str>> = said
        .lines()
        .filter(|line| line.ends_with("proven") && !line.starts_with("proven"))
        .map(|line| line.split_whitespace().take(3).collect())
        .collect();
    for place in [["encoder", "1", "0"], ["self", "2", "1"], ["cross", "2", "1"]] {
        assert!(places.contains(&place.to_vec()), "{said}");
    }
    let distinct: std::collections::BTreeSet<_> = places.iter().collect();
    assert_eq!(distinct.len(), places.len(), "{said}");
    assert!(!printed(&["heads", &tiny("gpt2-lm"), "--text", "the robot"]).contains("site"));
}
