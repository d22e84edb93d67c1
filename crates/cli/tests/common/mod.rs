//! The built program, run and looked at from outside.
#![allow(dead_code, reason = "every test that includes this uses a part of it")]

use std::path::PathBuf;

use assert_cmd::Command;
use serde_json::Value;

/// The program, as a person runs it in a folder of their own, with backtraces asked for: they must not show.
pub(crate) fn attnscope(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_attnscope"));
    command.args(args).current_dir(std::env::temp_dir());
    command.env("RUST_BACKTRACE", "1").env_remove("RUST_LOG").env_remove("ATTNSCOPE_THREADS");
    // No test asks anybody but itself.
    command.env("HF_HUB_OFFLINE", "1");
    command
}

/// Standard output of a run that must succeed and have nothing to complain of.
pub(crate) fn printed(args: &[&str]) -> String {
    let output = attnscope(args).output().unwrap();
    let (out, err) = (text(output.stdout), text(output.stderr));
    assert!(output.status.success(), "{args:?}: {err}");
    assert_eq!(err, "", "{args:?}");
    out
}

/// The one JSON document of a run.
pub(crate) fn json(args: &[&str]) -> Value {
    serde_json::from_str(&printed(&[args, &["--json"]].concat())).unwrap()
}

/// A run that must fail: exit code 1, nothing on standard output, and one or two lines that hold all of `parts`.
pub(crate) fn fails(args: &[&str], parts: &[&str]) -> String {
    refused(attnscope(args), 1, parts)
}

/// As [`fails`], with any exit code and a command that may have been prepared in some way.
pub(crate) fn refused(mut command: Command, code: i32, parts: &[&str]) -> String {
    let output = command.output().unwrap();
    let (out, err) = (text(output.stdout), text(output.stderr));
    assert_eq!(output.status.code(), Some(code), "{out}{err}");
    assert_eq!(out, "");
    assert!(err.starts_with("error:"), "{err}");
    if code == 1 {
        assert!(err.lines().count() <= 2, "{err}");
    }
    assert!(!err.contains("panicked") && !err.contains("RUST_BACKTRACE"), "{err}");
    for part in parts {
        assert!(err.contains(part), "{err:?} does not say {part:?}");
    }
    err
}

pub(crate) fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}

/// The numbers of a JSON list.
pub(crate) fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

/// A real model; says loudly that a test is skipped where it has not been fetched.
pub(crate) fn model(name: &str) -> Option<String> {
    let models = std::env::var_os("ATTNSCOPE_MODELS").map(PathBuf::from);
    let path = models.unwrap_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../models")).join(name);
    if !path.exists() {
        eprintln!("SKIPPED: {} is not there; run tools/fetch-models", path.display());
        return None;
    }
    Some(path.canonicalize().unwrap().to_str().unwrap().to_owned())
}
