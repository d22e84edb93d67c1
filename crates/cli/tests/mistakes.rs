//! Wrong usage is told in words of what was probably meant, with exit code 2.

mod common;

use std::fs;

use common::{attnscope, refused, text};
use tempfile::TempDir;

fn wrong(args: &[&str], parts: &[&str]) -> String {
    refused(attnscope(args), 2, parts)
}

#[test]
fn a_misspelt_command_is_no_model_of_the_hub() {
    for (args, near) in [
        (&["veiw", "gpt2"][..], "'view'"),
        (&["trce", "x", "-o", "y"], "'trace'"),
        (&["head", "example", "--layer", "0"], "'heads'"),
        (&["--threads", "1", "knokout", "example", "--heads", "0.0"], "'knockout'"),
        (&["generat", "gpt2", "--prompt", "a"], "'generate'"),
        (&["exp", "example"], "'export'"),
    ] {
        let said = wrong(args, &["unrecognized subcommand", near]);
        assert!(!said.contains("cache") && !said.contains("unexpected argument"), "{said}");
    }
    // It can still be asked for, and what is no command at all is looked up as ever.
    for args in [&["view", "veiw"][..], &["gpt2", "veiw"], &["rope"]] {
        refused(attnscope(args), 1, &["no such file or folder here"]);
    }
    // What is here by that name goes first.
    let folder = TempDir::new().unwrap();
    fs::create_dir(folder.path().join("heds")).unwrap();
    let mut command = attnscope(&["heds", "--port", "0", "--no-open"]);
    command.current_dir(folder.path());
    refused(command, 1, &["heds", "no config.json"]);
}

#[test]
fn an_option_that_is_not_known_is_not_taken_for_another() {
    let heads = |more: &[&str], parts: &[&str]| {
        let said = wrong(&[&["heads", "example"], more].concat(), parts);
        assert!(!said.contains("as a value"), "{said}");
        said
    };
    heads(&["--txt", "a"], &["'--txt'", "a similar argument exists: '--text'"]);
    let said = heads(&["--temperature", "2"], &["'--temperature' is no option here, but one of generate"]);
    assert!(!said.contains("similar"), "{said}");
    let said = heads(&["--foo"], &["unexpected argument '--foo'", "Usage: attnscope heads [OPTIONS] <SOURCE>"]);
    assert!(!said.contains("tip"), "{said}");
    heads(&["-layer", "0"], &["two dashes: '--layer'"]);
    heads(&["--text", "hello", "world"], &["'world'", "quotes"]);
    heads(&["hello"], &["'hello'", "--text TEXT"]);
    wrong(&["row", "example", "it"], &["'it'", "--query TOKEN"]);
    wrong(&["cell", "example", "it", "robot"], &["'it'", "--query TOKEN", "--key TOKEN"]);
    assert!(!wrong(&["models", "gpt2"], &["'gpt2'"]).contains("tip"));
    wrong(&["help", "veiw"], &["'veiw'", "'view'"]);
    wrong(&["--layer", "3"], &["'--layer' is an option of show, row, cell, heads"]);
}

#[test]
fn a_number_that_is_none_is_said_in_plain_words() {
    let cell = |more: &[&str], parts: &[&str]| {
        let said = wrong(&[&["cell", "example", "--query", "it", "--key", "robot"], more].concat(), parts);
        assert!(!said.contains("digit") && !said.contains("target type") && !said.contains("tip"), "{said}");
    };
    for number in ["-1", "1.5", "x", ""] {
        cell(&["--layer", number], &[&format!("invalid value '{number}' for '--layer"), "a whole number, from 0 on"]);
        cell(&["--head", number], &["a whole number, from 0 on"]);
    }
    cell(&["--layer", "99999999999999999999"], &["99999999999999999999", "too large"]);
    cell(&["--head", "mean"], &["'mean'", "a cell is of one head", "show, row and export"]);
    wrong(&["view", "--port", "99999"], &["'99999'", "from 0 to 65535"]);
    wrong(&["heads", "example", "--threads", "0"], &["'0'", "from 1 to 1024"]);
    wrong(&["generate", "x", "--temperature", "hot"], &["'hot'", "must be a number"]);
    wrong(&["heads", "x", "--ids", "1,two"], &["'two'", "--ids", "a whole number"]);
}

/// Help offers what a command takes.
#[test]
fn help_names_the_sources_that_will_do() {
    let help = |command: &str| text(attnscope(&[command, "-h"]).output().unwrap().stdout);
    for command in ["generate", "lens"] {
        let said = help(command);
        assert!(said.contains("A model: ") && !said.contains("`example`") && !said.contains("trace file"), "{said}");
        assert!(!said.contains("--causal") && !said.contains("--bidirectional"), "{said}");
    }
    let knockout = help("knockout");
    assert!(knockout.contains("`example`, or a model") && !knockout.contains("trace file"), "{knockout}");
    assert!(help("heads").contains("a trace file"));
}
