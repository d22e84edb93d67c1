//! `attnscope knockout`: what is said to have changed, over models of every kind, and what is refused.

mod common;

use std::path::PathBuf;

use common::{attnscope, fails, json, printed, refused, text};
use serde_json::Value;
use tempfile::TempDir;

fn tiny(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../models/tests/tiny").join(name);
    path.canonicalize().unwrap().to_str().unwrap().to_owned()
}

const TEXT: [&str; 2] = ["--text", "The robot was tired."];

fn knockout(source: &str, more: &[&str]) -> Value {
    json(&[&["knockout", source], more].concat())
}

#[test]
fn a_decoder_says_what_became_of_its_next_token() {
    let llama = tiny("llama-tied");
    let cut = knockout(&llama, &[&TEXT[..], &["--heads", "0.1,1.*", "--keys", "*.*.1", "--top", "3"]].concat());
    for side in ["before", "after"] {
        let list = cut[side].as_array().unwrap();
        assert_eq!(list.len(), 3);
        for likely in list {
            let mut names: Vec<&String> = likely.as_object().unwrap().keys().collect();
            names.sort();
            assert_eq!(names, ["id", "logit", "prob", "token"]);
        }
        assert!(list[0]["prob"].as_f64() >= list[1]["prob"].as_f64());
    }
    assert!(cut["kl"].as_f64().unwrap() > 0.0);
    // Of the token that was likeliest before.
    assert_eq!(cut["token"]["id"], cut["before"][0]["id"]);
    let [before, after] = [0, 1].map(|side| cut["token"]["logit"][side].as_f64().unwrap());
    assert!((cut["logit_diff"].as_f64().unwrap() - (after - before)).abs() < 1e-6);
    assert_eq!(cut["token"]["rank"][0], 0);
    let vectors = cut["vectors"].as_array().unwrap();
    assert_eq!(cut["at"]["index"], vectors.len() as u64 - 1);
    assert!(vectors.iter().all(|moved| moved["cosine"].is_f64() && moved["relative_l2"].is_f64()));

    let followed = knockout(&llama, &[&TEXT[..], &["--layers", "0", "--token", "7", "--at", "2"]].concat());
    assert_eq!((&followed["token"]["id"], &followed["at"]["index"]), (&7.into(), &2.into()));
    let table = printed(&[&["knockout", &llama], &TEXT[..], &["--layers", "0"]].concat());
    for part in ["cut self 0.*.*.*", "before", "after", "prob", "logit", "KL(before || after)", "rank 0 ->"] {
        assert!(table.contains(part), "{table}");
    }
}

/// An edge to a later token was never there; one that was there matters; a key cut is all of its edges.
#[test]
fn edges_and_tokens_are_named_as_everywhere() {
    let llama = tiny("llama-tied");
    let cut = |more: &[&str]| knockout(&llama, &[&["--text", "the robot was here"], more].concat());
    let none = cut(&["--edges", "*.*.0.1"]);
    assert_eq!((&none["kl"], &none["before"]), (&0.0.into(), &none["after"]));
    let why = "cut self *.*.0.1 changes nothing: query 0 does not see key 1 anyway, which comes after it";
    assert_eq!(none["warnings"], serde_json::json!([why]));
    let said = printed(&["knockout", &llama, "--text", "the robot was here", "--edges", "*.*.0.1,0.0.2.1"]);
    assert!(said.contains(&format!("\nnote: {why}\n")) && said.matches("note: ").count() == 1, "{said}");
    let example = json(&["knockout", "example", "--edges", "0.0.2.5", "--causal"]);
    assert_eq!(example["warnings"].as_array().unwrap().len(), 1);
    assert_eq!(json(&["knockout", "example", "--edges", "0.0.2.5"])["warnings"], serde_json::json!([]));
    let shown = json(&["show", &llama, "--text", "the robot was here"]);
    let tokens: Vec<&str> = shown["tokens"].as_array().unwrap().iter().map(|t| t["text"].as_str().unwrap()).collect();
    let last = tokens.len() - 1;
    let once = (0..=last).find(|at| tokens.iter().filter(|t| t.trim() == tokens[*at].trim()).count() == 1).unwrap();
    let (name, at) = (tokens[once].trim(), once.to_string());
    let by_name = cut(&["--keys", &format!("0.*.{name}")]);
    assert_eq!(by_name, cut(&["--keys", &format!("0.*.{at}")]));
    assert!(by_name["kl"].as_f64().unwrap() > 0.0);
    let edges: Vec<String> = (0..=last).map(|query| format!("0.*.{query}.{at}")).collect();
    assert_eq!(by_name, cut(&["--edges", &edges.join(",")]));
    // All queries of a layer cut is the layer cut.
    let queries: Vec<String> = (0..=last).map(|query| format!("1.*.{query}")).collect();
    assert_eq!(cut(&["--queries", &queries.join(",")])["after"], cut(&["--layers", "1"])["after"]);
}

#[test]
fn a_masked_word_is_looked_at_where_it_stands() {
    let bert = tiny("bert-mlm");
    let cut = knockout(&bert, &["--text", "the robot was [MASK] .", "--mean-heads", "0.1"]);
    assert_eq!(cut["at"]["token"], "[MASK]");
    assert!(cut["kl"].as_f64().unwrap() > 0.0 && cut["before"].is_array());
    fails(&["knockout", &bert, "--text", "[MASK] or [MASK]", "--layers", "0"], &["2 masks", "--at"]);
}

#[test]
fn an_encoder_without_a_head_says_how_far_its_vectors_moved() {
    let bert = tiny("bert-base");
    let cut = knockout(&bert, &[&TEXT[..], &["--layers", "0"]].concat());
    for none in ["before", "after", "kl", "logit_diff", "token"] {
        assert!(cut[none].is_null(), "{cut}");
    }
    let moved: Vec<f64> =
        cut["vectors"].as_array().unwrap().iter().map(|m| m["relative_l2"].as_f64().unwrap()).collect();
    assert!(moved.iter().all(|far| *far > 0.0), "{moved:?}");
    let table = printed(&[&["knockout", &bert], &TEXT[..], &["--layers", "0"]].concat());
    assert!(table.contains("cosine") && table.contains("relative L2") && !table.contains("prob"), "{table}");
    fails(
        &[&["knockout", &bert], &TEXT[..], &["--layers", "0", "--token", "7"]].concat(),
        &["no head that names words"],
    );
}

#[test]
fn each_attention_of_an_encoder_decoder_can_be_cut() {
    let t5 = tiny("t5-relu");
    let text = [&TEXT[..], &["--target", "She walked on the moon"]].concat();
    for (site, key) in [("self", "walked"), ("cross", "robot"), ("encoder", "robot")] {
        let cut = knockout(&t5, &[&text[..], &["--site", site, "--keys", &format!("*.*.{key}")]].concat());
        assert_eq!(cut["at"]["token"], " moon");
        assert!(cut["kl"].as_f64().unwrap() > 0.0, "{site}");
    }
    fails(&[&["knockout", &t5], &text[..], &["--keys", "0.0.robot"]].concat(), &["no token reads \"robot\""]);
    fails(&["knockout", &tiny("llama-tied"), "--site", "cross", "--layers", "0"], &["no cross attention"]);
}

#[test]
fn a_scan_ranks_all_of_them() {
    let llama = tiny("llama-tied");
    let scan = |what: &str, more: &[&str]| knockout(&llama, &[&TEXT[..], &["--scan", what], more].concat());
    let heads = scan("heads", &[]);
    let ranking = heads["ranking"].as_array().unwrap();
    assert_eq!((&heads["ranked"], &heads["of"]), (&heads["of"], &ranking.len().into()));
    let sizes: Vec<f64> = ranking.iter().map(|one| one["log_prob_diff"].as_f64().unwrap().abs()).collect();
    assert!(sizes.windows(2).all(|pair| pair[0] >= pair[1]) && sizes[0] > 0.0, "{sizes:?}");
    // The first is what cutting it alone says.
    let first = format!("{}.{}", ranking[0]["layer"], ranking[0]["head"]);
    let alone = knockout(&llama, &[&TEXT[..], &["--heads", &first]].concat());
    assert!((alone["logit_diff"].as_f64().unwrap() - ranking[0]["logit_diff"].as_f64().unwrap()).abs() < 1e-4);
    let [before, after] = [0, 1].map(|side| alone["token"]["prob"][side].as_f64().unwrap());
    assert!(((after / before).ln().abs() - sizes[0]).abs() < 1e-4);
    assert_eq!(heads["token"]["id"], alone["token"]["id"]);

    let keys = scan("keys", &["--token", "7"]);
    assert_eq!(keys["token"]["id"], 7);
    let found: Vec<u64> = keys["ranking"].as_array().unwrap().iter().map(|one| one["key"].as_u64().unwrap()).collect();
    assert_eq!(found.len(), alone["vectors"].as_array().unwrap().len());
    assert!(keys["ranking"][0]["token"].is_string() && keys["ranking"][0]["head"].is_null());
    let table = printed(&[&["knockout", &llama], &TEXT[..], &["--scan", "heads", "--top", "2"]].concat());
    assert!(table.contains("layer.head") && table.contains("others") && table.contains(&first), "{table}");
    // Without a head that names words it goes by the vector.
    let base = knockout(&tiny("bert-base"), &[&TEXT[..], &["--scan", "keys"]].concat());
    assert!(base["ranking"][0]["log_prob_diff"].is_null() && base["ranking"][0]["relative_l2"].as_f64().unwrap() > 0.0);
}

#[test]
fn the_worked_example_has_vectors_to_compare() {
    let cut = knockout("example", &["--edges", "0.0.it.robot"]);
    let far = |cut: &Value| -> Vec<f64> {
        cut["vectors"].as_array().unwrap().iter().map(|moved| moved["relative_l2"].as_f64().unwrap()).collect()
    };
    assert!(far(&cut).iter().enumerate().all(|(at, far)| (*far > 0.0) == (at == 6)), "{cut}");
    assert!(cut["kl"].is_null() && cut["before"].is_null());
    let all = far(&knockout("example", &["--heads", "0.0"]));
    assert_eq!(all, far(&knockout("example", &["--layers", "0"])));
    // What no token sees when reading in order changes nothing.
    assert!(far(&knockout("example", &["--causal", "--edges", "0.0.1.it"])).iter().all(|far| *far == 0.0));
    fails(&["knockout", "example", "--scan", "heads"], &["worked example"]);
    fails(&["knockout", "example", "--heads", "0.1"], &["head 1 is out of range", "0 to 0"]);
    fails(&["knockout", "example", "--layers", "1"], &["layer 1 is out of range"]);
    fails(&["knockout", "example", "--keys", "0.0.10"], &["key 10 is out of range", "0 to 9"]);
}

#[test]
fn a_place_that_is_not_there_is_answered_with_what_is() {
    let llama = tiny("llama-tied");
    let cut = |more: &[&str], parts: &[&str]| {
        fails(&[&["knockout", &llama], &TEXT[..], more].concat(), parts);
    };
    cut(&["--layers", "2"], &["layer 2 is out of range", "layers 0 to 1"]);
    cut(&["--heads", "0.99"], &["head 99 is out of range", "0 to 3"]);
    cut(&["--mean-heads", "*.99"], &["head 99 is out of range"]);
    cut(&["--edges", "0.0.99.1"], &["query 99 is out of range", "the text has"]);
    cut(&["--keys", "0.0.99"], &["key 99 is out of range"]);
    cut(&["--queries", "0.0.banana"], &["no token reads \"banana\""]);
    cut(&["--layers", "0", "--at", "99"], &["position 99 is out of range"]);
    cut(&["--layers", "0", "--token", "99999999"], &["token 99999999 is beyond the vocabulary"]);
    cut(&["--layers", "0", "--token", "no such word"], &["is not one token"]);
    cut(&["--layers", "0", "--causal", "--target", "x"], &["no encoder and decoder"]);
    cut(&["--layers", "0", "--bidirectional"], &["are for the example"]);

    let folder = TempDir::new().unwrap();
    let file = folder.path().join("t.safetensors").to_str().unwrap().to_owned();
    printed(&["trace", "example", "-o", &file]);
    fails(&["knockout", &file, "--layers", "0"], &["t.safetensors", "no weights", "give the model"]);
}

#[test]
fn what_is_no_place_at_all_is_wrong_usage() {
    let llama = tiny("llama-tied");
    let wrong: [&[&str]; 11] = [
        &[],
        &["--edges", "0.0.1"],
        &["--edges", "0.0"],
        &["--keys", "0.0"],
        &["--keys", "0.0."],
        &["--queries", "first.0.1"],
        &["--heads", "0"],
        &["--heads", "0.-1"],
        &["--layers", "0,"],
        &["--scan", "everything"],
        &["--scan", "heads", "--layers", "0"],
    ];
    for more in wrong {
        refused(attnscope(&[&["knockout", &llama], more].concat()), 2, &["--help"]);
    }
}

/// An interrupt ends a scan, and what was ranked by then is printed. A text so long that no machine is through with it.
#[cfg(unix)]
#[test]
fn an_interrupted_scan_keeps_what_it_has() {
    let long = "the robot was there, ".repeat(400);
    for seconds in [2, 4, 8, 16, 32, 64] {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_attnscope"));
        command.args(["knockout", &tiny("t5-relu"), "--text", &long, "--target", "she", "--site", "encoder"]);
        command.args(["--scan", "keys", "--json"]).stdout(std::process::Stdio::piped());
        let child = command.spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_secs(seconds));
        let interrupt = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
        assert!(interrupt.success(), "it was done already");
        let output = child.wait_with_output().unwrap();
        // A slow machine may not have begun with the scan, which is then ended like any other program.
        if !output.status.success() {
            continue;
        }
        let found: Value = serde_json::from_str(&text(output.stdout)).unwrap();
        let [ranked, of] = ["ranked", "of"].map(|name| found[name].as_u64().unwrap());
        assert_eq!(found["ranking"].as_array().unwrap().len() as u64, ranked);
        assert!(ranked < of && of > 1600, "{ranked} of {of}");
        return;
    }
    panic!("it was never scanning");
}

#[test]
fn what_contradicts_itself_or_stands_for_nothing_is_refused() {
    let llama = tiny("llama-tied");
    let fails = |more: &[&str], parts: &[&str]| {
        fails(&[&["knockout", &llama], &TEXT[..], more].concat(), parts);
    };
    fails(&["--heads", "1.1", "--mean-heads", "1.1"], &["cut out and have its mean", "1.1", "one of them alone"]);
    fails(&["--layers", "1", "--mean-heads", "*.2"], &["cut out and have its mean"]);
    fails(&["--queries", "*.*.*"], &["* stands for every layer or every head", "--heads L.H"]);
    fails(&["--edges", "0.1.2.*"], &["* stands for", "--queries L.H.Q"]);
    fails(&["--keys", "*.*.99999999999999999999"], &["key 99999999999999999999 is out of range"]);
    fails(&["--heads", "0.0", "--at", "99"], &["position 99 is out of range"]);
    for more in [["--heads", "99999999999999999999.1"], ["--layers", "99999999999999999999"]] {
        let command = attnscope(&[&["knockout", &llama], &more[..]].concat());
        refused(command, 2, &["no layer or head is as high as 99999999999999999999"]);
    }
}

#[test]
fn a_scan_without_words_shows_how_far_vectors_move_and_no_more() {
    let said = printed(&["knockout", &tiny("bert-base"), "--text", "the robot", "--scan", "heads", "--top", "2"]);
    assert!(said.contains("no head that names words: the last vector at position 2 robot"), "{said}");
    assert!(["prediction", "log prob", "KL"].iter().all(|word| !said.contains(word)), "{said}");
    let columns = said.lines().find(|line| line.contains("layer.head")).unwrap();
    assert_eq!(columns.split_whitespace().collect::<Vec<_>>(), ["layer.head", "moved"]);
    let with = printed(&["knockout", &tiny("bert-mlm"), "--text", "the robot", "--scan", "heads", "--top", "2"]);
    assert!(with.contains("prediction at position 2 robot") && with.contains("log prob"), "{with}");
}
