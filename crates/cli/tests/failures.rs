//! What goes wrong goes wrong in one or two lines: exit code 1 for a run that failed, 2 for wrong usage.

mod common;

use std::fs;
use std::process::Stdio;

use common::{attnscope, fails, printed, refused, text};
use tempfile::TempDir;

#[test]
fn out_of_range_is_answered_with_the_range() {
    let cell = |more: &[&str], parts: &[&str]| {
        fails(&[&["cell", "example"], more].concat(), parts);
    };
    cell(&["--query", "10", "--key", "1"], &["query 10 is out of range", "0 to 9"]);
    cell(&["--query", "-1", "--key", "1"], &["query -1 is out of range", "0 to 9"]);
    cell(&["--query", "1", "--key", "10"], &["key 10 is out of range", "0 to 9"]);
    cell(&["--query", "1", "--key", "1", "--layer", "1"], &["layer 1 is out of range", "layers 0 to 0"]);
    cell(&["--query", "1", "--key", "1", "--head", "1"], &["head 1 is out of range", "0 to 0"]);
    cell(&["--query", "1", "--key", "1", "--site", "cross"], &["no cross attention"]);
    fails(&["row", "example", "--query", "10"], &["query 10", "0 to 9"]);
    fails(&["row", "example", "--query", "1", "--head", "3"], &["head 3", "0 to 0"]);
    fails(&["show", "example", "--head", "3"], &["head 3", "0 to 0"]);
    fails(&["show", "example", "--layer", "3"], &["layer 3", "0 to 0"]);
    fails(&["heads", "example", "--layer", "3"], &["layer 3", "0 to 0"]);
}

#[test]
fn a_token_that_is_not_there_or_there_twice_is_told() {
    fails(&["row", "example", "--query", "banana"], &["no token reads \"banana\"", "\"robot\""]);
    // "The" and "the" are two tokens; only a text that is the same twice is ambiguous.
    assert!(printed(&["row", "example", "--query", "the"]).contains("query 3 the"));

    let folder = TempDir::new().unwrap();
    let file = folder.path().join("t.safetensors");
    printed(&["trace", "example", "-o", file.to_str().unwrap()]);
    let bytes = fs::read(&file).unwrap();
    // The header is JSON within JSON, of one length: "was" becomes "the".
    let [from, to] = [br#"\"was\""#, br#"\"the\""#];
    let at = bytes.windows(from.len()).position(|window| window == from).unwrap();
    let twice = [&bytes[..at], to, &bytes[at + from.len()..]].concat();
    fs::write(&file, twice).unwrap();
    let parts = ["\"the\" occurs 2 times", "positions 3, 7", "position instead"];
    fails(&["row", file.to_str().unwrap(), "--query", "the"], &parts);
    fails(&["cell", file.to_str().unwrap(), "--query", "0", "--key", "the"], &parts);
}

#[test]
fn a_source_that_is_none_is_told_what_a_source_is() {
    for name in ["./no-such-thing", "no-such-thing.gguf", "tiny", "models/no-such-thing", "no such thing"] {
        fails(&["heads", name], &[name, "no such file or folder", "`example`", "the Hub"]);
    }
    let folder = TempDir::new().unwrap();
    let said = fails(&["heads", "org/repo:file.gguf"], &["org/repo:file.gguf", "no file.gguf of such a model"]);
    assert!(!said.contains("config.json"), "{said}");
    fails(&["heads", folder.path().to_str().unwrap()], &["no config.json"]);
    let put = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        path.to_str().unwrap().to_owned()
    };
    fails(&["heads", &put("empty.gguf", b"")], &["empty.gguf", "the file is empty"]);
    fails(&["heads", &put("story.txt", b"once upon a time")], &["story.txt", "neither a GGUF file nor"]);
    fails(&["heads", &put("cut.gguf", b"GGUF\x03\0\0\0")], &["cut.gguf", "damaged or cut short"]);
    let absurd = [b"GGUF\x03\0\0\0".as_slice(), &u64::MAX.to_le_bytes(), &u64::MAX.to_le_bytes()].concat();
    fails(
        &["heads", &put("absurd.gguf", &absurd)],
        &["absurd.gguf", "damaged", "a tensor count of 18446744073709551615"],
    );
    fails(&["heads", &put("t.safetensors", b"{}")], &["t.safetensors", "not a whole safetensors file"]);
}

#[test]
fn a_text_that_cannot_be_read_is_told_where() {
    let folder = TempDir::new().unwrap();
    let none = folder.path().join("none.txt");
    fails(&["heads", "example", "--file", none.to_str().unwrap()], &["cannot read the text", "none.txt"]);
    let latin = folder.path().join("latin.txt");
    fs::write(&latin, b"caf\xe9").unwrap();
    fails(&["heads", "example", "--file", latin.to_str().unwrap()], &["cannot read the text", "latin.txt", "UTF-8"]);
    fails(&["heads", "example", "--file", folder.path().to_str().unwrap()], &["cannot read the text"]);
    fails(&["generate", "example"], &["nothing to go on with", "--prompt"]);
}

#[test]
fn wrong_usage_is_exit_2() {
    let wrong: [&[&str]; 16] = [
        &["cell", "example", "--query", "it"],
        &["cell", "--query", "it", "--key", "robot"],
        &["cell", "example", "--query", "it", "--key", "robot", "--head", "first"],
        &["cell", "example", "--query", "it", "--key", "robot", "--head", "-1"],
        &["cell", "example", "--query", "it", "--key", "robot", "--layer", "1.5"],
        &["cell", "example", "--query", "it", "--key", "robot", "--site", "sideways"],
        &["row", "example"],
        &["row", "example", "--query", "it", "--head", "average"],
        &["heads"],
        &["heads", "example", "--causal", "--bidirectional"],
        &["heads", "example", "--text", "a", "--ids", "1"],
        &["heads", "example", "--ids", "one,two"],
        &["heads", "example", "--threads", "0"],
        &["trace", "example"],
        &["generate", "example", "--max-tokens", "many"],
        &["completions", "tcsh"],
    ];
    for args in wrong {
        refused(attnscope(args), 2, &["--help"]);
    }
    let mut threads = attnscope(&["heads", "example"]);
    threads.env("ATTNSCOPE_THREADS", "all");
    refused(threads, 2, &["all"]);
}

#[test]
fn a_place_that_cannot_be_written_is_told_before_anything_runs() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let path = |parts: &[&str]| parts.iter().fold(folder.path().to_owned(), |path, part| path.join(part));
    let to = |path: &std::path::Path, parts: &[&str]| {
        fails(&["trace", "example", "-o", path.to_str().unwrap()], parts);
    };
    to(&path(&["none", "t.safetensors"]), &["none", "no such folder"]);
    to(&path(&["file", "t.safetensors"]), &["file", "no such folder"]);
    to(&path(&["t.npz"]), &["t.npz", ".safetensors"]);
    to(&path(&["t"]), &[".safetensors"]);
    fs::create_dir(path(&["taken.safetensors"])).unwrap();
    to(&path(&["taken.safetensors"]), &["taken.safetensors", "is there already and is no trace"]);
    // Somebody's weights, say.
    fs::write(path(&["model.safetensors"]), "precious").unwrap();
    to(&path(&["model.safetensors"]), &["model.safetensors", "is there already and is no trace"]);
    assert_eq!(fs::read(path(&["model.safetensors"])).unwrap(), b"precious");
    #[cfg(target_os = "linux")]
    to(std::path::Path::new("/proc/t.safetensors"), &["/proc/t.safetensors", "cannot write"]);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3, "nothing is left behind");
}

/// A limit on the size of files stands for a full disk.
#[cfg(target_os = "linux")]
#[test]
fn a_disk_that_fills_up_leaves_no_half_of_a_trace() {
    let folder = TempDir::new().unwrap();
    let program = env!("CARGO_BIN_EXE_attnscope");
    // The signal that comes with the limit is passed over, so that writing fails as it does on a full disk.
    let script = format!("trap '' XFSZ; ulimit -f 1; exec {program} trace example -o t.safetensors");
    let mut shell = assert_cmd::Command::new("sh");
    shell.args(["-c", &script]).current_dir(folder.path()).env("RUST_BACKTRACE", "1");
    refused(shell, 1, &["t.safetensors", "cannot write the trace"]);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

/// Every command, with an answer that does not fit.
#[cfg(target_os = "linux")]
#[test]
fn an_answer_that_cannot_be_written_is_a_failed_run() {
    let Ok(full) = fs::OpenOptions::new().write(true).open("/dev/full") else {
        eprintln!("SKIPPED: /dev/full is not there");
        return;
    };
    let commands: [&[&str]; 6] = [
        &["cell", "example", "--query", "it", "--key", "robot"],
        &["cell", "example", "--query", "it", "--key", "robot", "--json"],
        &["row", "example", "--query", "it"],
        &["show", "example"],
        &["heads", "example", "--json"],
        &["completions", "bash"],
    ];
    for args in commands {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_attnscope"));
        command.args(args).env("RUST_BACKTRACE", "1").stdout(full.try_clone().unwrap()).stderr(Stdio::piped());
        let output = command.output().unwrap();
        let err = text(output.stderr);
        assert_eq!(output.status.code(), Some(1), "{args:?}: {err}");
        assert!(err.starts_with("error:") && err.contains("standard output") && err.lines().count() == 1, "{err}");
    }
    // With nowhere to complain either, the exit code alone must say it.
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_attnscope"));
    command.args(["heads", "no-such-thing"]).stderr(full);
    assert_eq!(command.status().unwrap().code(), Some(1));
}

#[test]
fn a_reader_that_has_had_enough_is_no_failure() {
    let commands: [&[&str]; 4] = [
        &["completions", "bash"],
        &["heads", "example", "--json"],
        &["cell", "example", "--query", "it", "--key", "robot"],
        &["show", "example"],
    ];
    for args in commands {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_attnscope"));
        command.args(args).stdout(writer).stderr(Stdio::piped());
        let output = command.output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", text(output.stderr));
        assert_eq!(text(output.stderr), "", "{args:?}");
    }
}
