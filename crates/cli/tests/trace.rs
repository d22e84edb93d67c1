//! A trace file is a source like any other, and answers as what made it.

mod common;

use std::fs;

use common::{attnscope, fails, json, printed};
use tempfile::TempDir;

/// Every kind of question, as (command, options).
fn questions() -> Vec<(&'static str, Vec<&'static str>)> {
    let mut all = vec![("heads", vec![]), ("show", vec![]), ("show", vec!["--head", "mean"])];
    all.extend([("row", vec!["--query", "it"]), ("row", vec!["--query", "9", "--head", "mean"])]);
    for (query, key) in [("it", "robot"), ("0", "9"), ("9", "0"), (".", "The"), ("6", "6")] {
        all.push(("cell", vec!["--query", query, "--key", key]));
    }
    all
}

#[test]
fn every_question_has_the_answer_that_the_example_gives() {
    for way in ["--bidirectional", "--causal"] {
        let folder = TempDir::new().unwrap();
        let file = folder.path().join("t.safetensors");
        let file = file.to_str().unwrap();
        let said = printed(&["trace", "example", way, "-o", file]);
        assert!(said.contains(file) && said.contains("10 tokens"), "{said}");
        for (command, options) in questions() {
            let of_file = [&[command, file], &options[..]].concat();
            let of_example = [&[command, "example", way], &options[..]].concat();
            assert_eq!(json(&of_file), json(&of_example), "{of_file:?}");
            assert_eq!(printed(&of_file), printed(&of_example), "{of_file:?}");
        }
    }
}

#[test]
fn a_trace_says_what_it_kept() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("kept.safetensors");
    let kept = json(&["trace", "example", "-o", file.to_str().unwrap()]);
    assert_eq!((&kept["tokens"], &kept["sites"]), (&10.into(), &1.into()));
    assert_eq!(kept["bytes"], fs::metadata(&file).unwrap().len());
    assert_eq!(kept["file"], file.to_str().unwrap());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing else is left behind");
}

#[test]
fn a_trace_may_be_written_over_itself_and_beside_the_program() {
    let folder = TempDir::new().unwrap();
    let here = |args: &[&str]| {
        let output = attnscope(args).current_dir(folder.path()).output().unwrap();
        assert!(output.status.success(), "{}", common::text(output.stderr));
        output.stdout
    };
    here(&["trace", "example", "-o", "t.safetensors"]);
    let first = fs::read(folder.path().join("t.safetensors")).unwrap();
    here(&["trace", "t.safetensors", "-o", "t.safetensors"]);
    assert_eq!(fs::read(folder.path().join("t.safetensors")).unwrap(), first);
    assert_eq!(here(&["heads", "t.safetensors", "--json"]), here(&["heads", "./t.safetensors", "--json"]));
}

#[test]
fn a_trace_has_a_text_and_a_way_of_its_own() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("t.safetensors");
    let file = file.to_str().unwrap();
    printed(&["trace", "example", "--causal", "-o", file]);
    for input in [["--text", "other"], ["--ids", "1,2"]] {
        fails(&["heads", file, input[0], input[1]], &["a trace file has a text of its own"]);
        fails(&["heads", "example", input[0], input[1]], &["the worked example has a text of its own"]);
    }
    fails(&["heads", file, "--bidirectional"], &["causal", "only the example"]);
    printed(&["heads", file, "--causal"]);
    fails(&["generate", file, "--prompt", "it"], &["only a model"]);
    fails(&["generate", "example", "--prompt", "it"], &["only a model"]);
}

#[test]
fn a_file_cut_short_is_no_source() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("t.safetensors");
    printed(&["trace", "example", "-o", file.to_str().unwrap()]);
    let whole = fs::read(&file).unwrap();
    for len in [0, 1, 7, 8, 9, 100, whole.len() / 2, whole.len() - 1] {
        fs::write(&file, &whole[..len]).unwrap();
        fails(
            &["heads", file.to_str().unwrap()],
            &["t.safetensors", "not a whole safetensors file", "attnscope trace"],
        );
    }
}
