//! Ctrl-C: every command stops alike, with one line, exit code 130, and nothing left behind.
#![cfg(target_os = "linux")]

mod common;

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use common::text;
use tempfile::TempDir;

fn start(args: &[&str], folder: &Path) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_attnscope"));
    command.args(args).current_dir(folder).env("HF_HUB_OFFLINE", "1");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Waits until a process listens to Ctrl-C, as the system knows: SigCgt is a number in base 16, a bit for each signal from 1.
fn listens(child: &Child) {
    let since = Instant::now();
    loop {
        let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap().trim();
        if u64::from_str_radix(caught, 16).unwrap() & 2 != 0 {
            return;
        }
        assert!(since.elapsed() < Duration::from_secs(60), "it never listens");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn stopped(mut child: Child, what: &str) {
    // Whoever waits for input goes on waiting, so that the signal alone can end it.
    let input = child.stdin.take();
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    drop(input);
    assert_eq!((text(output.stdout), text(output.stderr)), (String::new(), "stopped\n".to_owned()), "{what}");
    assert_eq!(output.status.code(), Some(130), "{what}");
}

/// While it still waits for its text.
#[test]
fn every_command_stops_alike_before_it_has_begun() {
    let folder = TempDir::new().unwrap();
    let commands: [&[&str]; 11] = [
        &["show"],
        &["row", "--query", "it"],
        &["cell", "--query", "it", "--key", "it"],
        &["heads"],
        &["heads", "--repeats"],
        &["rollout", "--query", "it"],
        &["trace", "-o", "t.safetensors"],
        &["export", "-o", "t.csv"],
        &["export", "-o", "t.png", "--what", "heads"],
        &["generate", "-o", "t.safetensors"],
        &["knockout", "--heads", "0.0"],
    ];
    for args in commands {
        let child = start(&[args, &["example", "--file", "-"]].concat(), folder.path());
        listens(&child);
        stopped(child, &args.join(" "));
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

/// In the midst of its work: a text so long that no machine is through with it.
#[test]
fn every_command_stops_alike_in_the_midst_of_its_work() {
    let folder = TempDir::new().unwrap();
    let t5 = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../models/tests/tiny/t5-relu").canonicalize().unwrap();
    let words = folder.path().join("long.txt");
    fs::write(&words, "the robot was there, ".repeat(10_000)).unwrap();
    let reading = [t5.to_str().unwrap(), "--target", "she", "--file", "long.txt"];
    let commands: [&[&str]; 5] = [
        &["heads"],
        &["lens"],
        &["rollout", "--query", "0", "--site", "encoder"],
        &["trace", "-o", "t.safetensors"],
        &["knockout", "--site", "encoder", "--heads", "0.0"],
    ];
    for args in commands {
        let child = start(&[args, &reading].concat(), folder.path());
        listens(&child);
        std::thread::sleep(Duration::from_millis(500));
        stopped(child, &args.join(" "));
    }
    fs::remove_file(words).unwrap();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

/// A document longer than a pipe holds, whose reader is slow: it is written to its end before the program stops.
#[test]
fn json_is_never_cut_in_two() {
    let folder = TempDir::new().unwrap();
    let t5 = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../models/tests/tiny/t5-relu").canonicalize().unwrap();
    fs::write(folder.path().join("long.txt"), "the robot was there, ".repeat(60)).unwrap();
    let args = ["show", t5.to_str().unwrap(), "--site", "encoder", "--target", "she", "--file", "long.txt", "--json"];
    let mut child = start(&args, folder.path());
    let (mut out, mut document) = (child.stdout.take().unwrap(), vec![0; 1]);
    out.read_exact(&mut document).unwrap();
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    std::thread::sleep(Duration::from_millis(300));
    out.read_to_end(&mut document).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(document.len() > 1 << 17, "{} bytes may lie in the pipe", document.len());
    let map: serde_json::Value = serde_json::from_slice(&document).unwrap();
    assert_eq!(map["site"], "encoder");
    assert_eq!((text(output.stderr), output.status.code()), ("stopped\n".to_owned(), Some(130)));
}
