//! A text that is longer than the model reads.

mod common;

use std::path::PathBuf;

use common::{attnscope, fails, printed, text};
use serde_json::Value;

fn tiny(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../models/tests/tiny").join(name);
    path.to_str().unwrap().to_owned()
}

/// What a run prints, and what it says beside that.
fn said(args: &[&str]) -> (String, String) {
    let output = attnscope(args).output().unwrap();
    let err = text(output.stderr);
    assert!(output.status.success(), "{args:?}: {err}");
    (text(output.stdout), err)
}

#[test]
fn the_error_names_both_lengths_and_the_way_out() {
    let long = "the ".repeat(60);
    fails(&["show", &tiny("bert-base"), "--text", &long], &["62 tokens", "at most 48", "shorten it", "--truncate"]);
}

#[test]
fn truncate_reads_the_beginning_and_says_so() {
    let (long, fits) = ("the ".repeat(60), "the ".repeat(46));
    let folder = tempfile::TempDir::new().unwrap();
    let trace = folder.path().join("t.safetensors");
    let trace = trace.to_str().unwrap();
    for command in [
        &["show"][..],
        &["row", "--query", "1"],
        &["cell", "--query", "1", "--key", "2"],
        &["heads"],
        &["trace", "-o", trace],
    ] {
        let with = |text: &str| -> Vec<String> {
            let bert = tiny("bert-base");
            let all = [command[0], &bert, "--truncate", "--text", text].into_iter().chain(command[1..].iter().copied());
            all.map(str::to_owned).collect()
        };
        let run = |args: Vec<String>| said(&args.iter().map(String::as_str).collect::<Vec<_>>());
        let (cut, whole) = (run(with(&long)), run(with(&fits)));
        assert_eq!(cut.1, "truncated: the first 48 of 62 tokens are read\n", "{command:?}");
        assert_eq!(whole.1, "", "{command:?}");
        assert_eq!(cut.0, whole.0, "{command:?}");
    }
}

/// Those that read a model's text by other ways too.
#[test]
fn every_command_that_names_the_way_out_takes_it() {
    let gpt2 = tiny("gpt2-lm");
    let (long, fits) =
        ([5; 80].map(|id: u32| id.to_string()).join(","), [5; 64].map(|id: u32| id.to_string()).join(","));
    for command in [
        &["lens"][..],
        &["heads", "--logit", "5"],
        &["heads", "--repeats"],
        &["knockout", "--heads", "0.1"],
        &["rollout", "--query", "3"],
    ] {
        let run = |ids: &str| said(&[command, &[&gpt2, "--truncate", "--json", "--ids", ids]].concat());
        let (cut, whole) = (run(&long), run(&fits));
        assert_eq!(cut.1, "truncated: the first 64 of 80 tokens are read\n", "{command:?}");
        assert_eq!((cut.0, ""), (whole.0, &*whole.1), "{command:?}");
    }
}

#[test]
fn a_prompt_is_cut_so_that_there_is_room_to_go_on() {
    let long = "the ".repeat(60);
    let args = ["generate", &tiny("gpt2-lm"), "--prompt", &long, "--max-tokens", "5", "--truncate", "--json"];
    let (printed, said) = said(&args);
    let answer: Value = serde_json::from_str(&printed).unwrap();
    let kept = answer["prompt_ids"].as_array().unwrap().len();
    assert!(said.contains(&format!("the first {kept} of ")), "{said}");
    let context: Value =
        serde_json::from_str(&std::fs::read_to_string(tiny("gpt2-lm") + "/config.json").unwrap()).unwrap();
    assert_eq!(kept as u64, context["n_positions"].as_u64().unwrap() - 5);
}

#[test]
fn what_has_a_text_of_its_own_is_not_cut() {
    assert_eq!(printed(&["show", "example", "--truncate"]), printed(&["show", "example"]));
}
