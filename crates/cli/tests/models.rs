//! Two real models on the command line, where they have been fetched.

mod common;

use std::fs;

use common::{attnscope, fails, json, model, numbers, printed, text};
use tempfile::TempDir;

const SMOLLM2: &str = "smollm2-135m-instruct.Q4_1.gguf";
const MINILM: &str = "all-minilm-l6-v2";
/// 16 tokens of SmolLM2.
const TEXT: &str = "The robot carried the patient because it was tired. The doctor thanked it very much";

#[test]
fn smollm2_knows_the_capital_of_france() {
    let Some(model) = model(SMOLLM2) else { return };
    let args = ["generate", &model, "--prompt", "The capital of France is", "--max-tokens", "1"];
    assert_eq!(text(attnscope(&args).output().unwrap().stdout), " Paris\n");
    let answer = json(&["generate", &model, "--prompt", "The capital of France is", "--max-tokens", "1"]);
    assert_eq!(answer["text"], " Paris");
    assert_eq!((answer["prompt_ids"].as_array().unwrap().len(), answer["ids"].as_array().unwrap().len()), (5, 1));
}

#[test]
fn a_kept_trace_answers_as_the_model() {
    let Some(model) = model(SMOLLM2) else { return };
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("t.safetensors");
    let file = file.to_str().unwrap();
    let kept = json(&["trace", &model, "--text", TEXT, "-o", file]);
    assert_eq!((&kept["tokens"], &kept["sites"]), (&16.into(), &30.into()));
    for (layer, head, query, key) in [("5", "4", "9", "3"), ("0", "0", "15", "0"), ("29", "8", "7", "12")] {
        let place = ["--layer", layer, "--head", head, "--query", query, "--key", key];
        let of_model = json(&[&["cell", &model, "--text", TEXT], &place[..]].concat());
        assert_eq!(json(&[&["cell", file], &place[..]].concat()), of_model);
        assert_eq!(of_model["kv_head"], head.parse::<usize>().unwrap() / 3);
        assert_eq!(of_model["mask"].is_null(), key.parse::<usize>().unwrap() <= query.parse::<usize>().unwrap());
        assert!((of_model["row_sum"].as_f64().unwrap() - 1.0).abs() < 1e-5);
        assert_eq!(numbers(&of_model["q"]).len(), 64);
    }
    let heads = json(&["heads", file]);
    assert_eq!(heads.as_array().unwrap().len(), 270);
    for head in heads.as_array().unwrap() {
        let error = |name: &str| head["proof"][name].as_f64().unwrap();
        assert!(error("row_sum_error") < 1e-5 && error("output_error") < 1e-5, "{head}");
    }
}

#[test]
fn as_many_keys_are_shown_as_are_asked_for() {
    let Some(model) = model(SMOLLM2) else { return };
    let text = "a b c ".repeat(12);
    let shown = |top: &str| {
        let row = printed(&["row", &model, "--text", &text, "--query", "30", "--top", top]);
        // A key's line begins with its position; so does the line of the others, with their number.
        let keys = row
            .lines()
            .filter(|line| !line.contains(" others"))
            .filter(|line| line.split_whitespace().next().is_some_and(|word| word.parse::<usize>().is_ok()));
        (keys.count(), row.contains(" others"))
    };
    assert_eq!(shown("5"), (5, true));
    assert_eq!(shown("25"), (25, true));
    assert_eq!(shown("31"), (31, false));
    assert_eq!(shown("1000"), (31, false));
}

#[test]
fn the_same_text_can_be_given_in_three_ways() {
    let Some(model) = model(SMOLLM2) else { return };
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("text.txt");
    fs::write(&file, TEXT).unwrap();
    let row = |input: &[&str]| json(&[&["row", &model, "--layer", "3", "--query", "15"], input].concat());
    let of_text = row(&["--text", TEXT]);
    assert_eq!(row(&["--file", file.to_str().unwrap()]), of_text);
    assert_eq!(row(&["--prompt", TEXT]), of_text);

    let mut piped = attnscope(&["row", &model, "--layer", "3", "--query", "15", "--file", "-", "--json"]);
    let output = piped.write_stdin(TEXT).output().unwrap();
    assert_eq!(serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap(), of_text);

    let map = json(&["show", &model, "--text", TEXT, "--layer", "3"]);
    let ids: Vec<String> = map["tokens"].as_array().unwrap().iter().map(|token| token["id"].to_string()).collect();
    assert_eq!(row(&["--ids", &ids.join(",")]), of_text);
}

#[test]
fn a_text_that_a_model_cannot_read_is_told_why() {
    let Some(model) = model(SMOLLM2) else { return };
    fails(&["heads", &model, "--text", ""], &["the text is empty"]);
    fails(&["heads", &model, "--ids", "5,49152"], &["token 49152", "0 to 49151"]);
    fails(&["heads", &model, "--text", &"a ".repeat(9000)], &["tokens", "at most 8192"]);
    fails(&["heads", &model, "--layer", "30"], &["layer 30 is out of range", "layers 0 to 29"]);
    fails(&["cell", &model, "--query", "0", "--key", "0", "--head", "9"], &["head 9", "9 heads, 0 to 8"]);
    fails(&["heads", &model, "--text", "a", "--bidirectional"], &["is causal"]);
}

#[test]
fn minilm_sees_both_ways_and_cannot_go_on() {
    let Some(model) = model(MINILM) else { return };
    let row = json(&["row", &model, "--text", "The robot carried the patient.", "--query", "robot", "--layer", "2"]);
    assert!(row["mask"].as_array().unwrap().iter().all(|mask| mask.is_null()));
    assert!(numbers(&row["weights"]).iter().all(|weight| *weight > 0.0));
    fails(&["row", &model, "--text", "the the", "--query", "the"], &["\"the\" occurs 2 times", "positions 1, 2"]);
    fails(&["generate", &model, "--prompt", "it"], &["an encoder and no decoder", "`show`", "(gpt2, llama)"]);
}

/// The file that a person would have after a download that broke off.
#[test]
fn a_real_file_cut_short_is_refused() {
    let Some(model) = model(SMOLLM2) else { return };
    let folder = TempDir::new().unwrap();
    let cut = folder.path().join("cut.gguf");
    let whole = fs::read(model).unwrap();
    for len in [1 << 16, 1 << 21, whole.len() / 2, whole.len() - 4096] {
        fs::write(&cut, &whole[..len]).unwrap();
        fails(&["heads", cut.to_str().unwrap()], &["cut.gguf", "damaged or cut short", "fetch it again"]);
    }
}

/// An interrupt ends a run with nothing left behind.
#[cfg(unix)]
#[test]
fn an_interrupted_trace_leaves_no_file() {
    let Some(model) = model(SMOLLM2) else { return };
    let folder = TempDir::new().unwrap();
    let text = "a ".repeat(8000);
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_attnscope"));
    command.args(["trace", &model, "--text", &text, "-o", "t.safetensors"]).current_dir(folder.path());
    let child = command.stderr(std::process::Stdio::piped()).spawn().unwrap();
    // Long enough to be on its way, far too short for 8,000 tokens.
    std::thread::sleep(std::time::Duration::from_secs(2));
    let interrupt = format!("kill -INT {}", child.id());
    assert!(std::process::Command::new("sh").args(["-c", &interrupt]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    assert_eq!(common::text(output.stderr), "stopped\n");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}
