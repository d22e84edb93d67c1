//! A trace file is a source like any other, and answers as what made it.

mod common;

use std::fs;

use attnscope_inspect::Trace;
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

/// A trace file of the example, changed in some way.
fn changed(folder: &TempDir, change: impl FnOnce(&mut Trace)) -> String {
    let [from, to] = ["from", "to"].map(|name| folder.path().join(name).with_extension("safetensors"));
    printed(&["trace", "example", "-o", from.to_str().unwrap()]);
    let mut trace = Trace::open(&from).unwrap();
    change(&mut trace);
    trace.save(&to).unwrap();
    to.to_str().unwrap().to_owned()
}

#[test]
fn a_sink_is_named_where_a_sum_is() {
    let folder = TempDir::new().unwrap();
    let file = changed(&folder, |trace| {
        let site = &mut trace.sites[0];
        site.params.sinks = Some([1.0].into());
        site.params.softcap = Some(30.0);
        site.lse = site.lse.iter().map(|lse| (lse.exp() + 1f64.exp()).ln()).collect::<Vec<_>>().into();
    });
    let row = json(&["row", &file, "--query", "it"]);
    let said = printed(&["row", &file, "--query", "it"]);
    assert!(said.contains(&format!("the head's sink  {:.6}", row["sink"].as_f64().unwrap())), "{said}");
    let said = printed(&["cell", &file, "--query", "it", "--key", "robot"]);
    assert!(said.contains("softcap 30: 30 tanh(s / 30) = score ") && !said.contains('…'), "{said}");
    let file = changed(&folder, |trace| {
        let site = &mut trace.sites[0];
        site.params.sinks = Some([1.0].into());
        site.params.knockouts = vec![Default::default()];
        site.lse = vec![1.0; site.lse.len()].into();
    });
    let said = printed(&["row", &file, "--query", "it"]);
    assert!(said.contains("it sees no key: the sink takes it all") && !said.contains("nats"), "{said}");
    let said = printed(&["cell", &file, "--query", "it", "--key", "robot"]);
    assert!(said.contains(" knocked out\n"), "{said}");
}

#[test]
fn a_damaged_trace_is_said_to_be_one() {
    let folder = TempDir::new().unwrap();
    let lse = |by: f64| {
        changed(&folder, |trace| {
            let site = &mut trace.sites[0];
            site.lse = site.lse.iter().map(|lse| lse + by).collect::<Vec<_>>().into();
        })
    };
    let file = lse(0.5);
    for said in [printed(&["row", &file, "--query", "6"]), printed(&["cell", &file, "--query", "6", "--key", "1"])] {
        assert!(said.contains("the weights sum to 0.606531: its lse does not fit its scores"), "{said}");
    }
    let said = printed(&["heads", &file]);
    assert!(said.contains("1 of 1 heads are not proven"), "{said}");
    assert!(printed(&["heads", "example"]).contains("proven: the weights shown are the ones"));
    for by in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let file = lse(by);
        let said = printed(&["cell", &file, "--query", "6", "--key", "1"]);
        for line in [
            "= log weight not a number",
            "weight = exp of it not a number",
            "the trace, or the model that made it, is damaged",
        ] {
            assert!(said.contains(line), "{said}");
        }
        let cell = json(&["cell", &file, "--query", "6", "--key", "1"]);
        assert!(["lse", "log_weight", "weight", "row_sum"].iter().all(|name| cell[name].is_null()), "{cell}");
        assert!(printed(&["heads", &file]).contains("not proven"));
    }
}

#[test]
fn a_name_cannot_turn_the_terminal_round() {
    let folder = TempDir::new().unwrap();
    let file = changed(&folder, |trace| trace.model.name = format!("a\u{202e}b\u{1b}[31m{}", "x".repeat(9000)));
    let said = printed(&["row", &file, "--query", "6"]);
    assert!(said.starts_with("a\\u{202e}b\\u{1b}[31mx") && said.len() < 3000, "{said}");
}

#[test]
fn what_begins_with_a_dash_is_a_text_too() {
    for option in ["--text", "--prompt"] {
        fails(&["heads", "example", option, "- milk"], &["the worked example has a text of its own"]);
    }
    fails(&["row", "example", "--query", "-"], &["no token reads \"-\""]);
    fails(&["cell", "example", "--query", "it", "--key", "-1"], &["key -1 is out of range"]);
}
