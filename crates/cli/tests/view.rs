//! `attnscope view`: what it prints, where it listens, how it refuses.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};

/// A running inspector, ended with the test.
struct View {
    child: Child,
    address: String,
}

impl Drop for View {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn attnscope(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_attnscope"));
    command.args(args).stdout(Stdio::piped()).stderr(Stdio::piped()).env("HF_HUB_OFFLINE", "1");
    command
}

fn view(args: &[&str]) -> View {
    let mut child = attnscope(args).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    let address = line.trim_end().strip_prefix("http://").unwrap().strip_suffix('/').unwrap().to_owned();
    View { child, address }
}

fn get(address: &str, path: &str, host: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn it_prints_its_address_and_serves_the_example() {
    for args in [&["--port", "0", "--no-open"][..], &["view", "example", "--port", "0", "--no-open"]] {
        let view = view(args);
        assert!(view.address.starts_with("127.0.0.1:"), "loopback only: {}", view.address);
        let page = get(&view.address, "/", &view.address);
        assert!(page.starts_with("HTTP/1.1 200"), "{page}");
        assert!(page.contains("content-security-policy: default-src 'none'"));
        let sources = get(&view.address, "/api/sources", &view.address);
        assert!(sources.contains(r#""id":"example""#), "{sources}");
    }
}

#[test]
fn a_foreign_host_is_refused() {
    let view = view(&["--port", "0", "--no-open"]);
    let answer = get(&view.address, "/api/sources", "attacker.example");
    assert!(answer.starts_with("HTTP/1.1 421"), "{answer}");
}

#[test]
fn a_port_in_use_is_one_clear_error() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let done = attnscope(&["view", "--port", &port, "--no-open"]).output().unwrap();
    assert_eq!(done.status.code(), Some(1));
    assert!(done.stdout.is_empty());
    let error = String::from_utf8(done.stderr).unwrap();
    let want = format!("error: port {port} is in use; give another with --port, or --port 0 for any free one\n");
    assert_eq!(error, want);
}

#[test]
fn a_source_that_is_not_there_is_said_before_anything_is_served() {
    let done = attnscope(&["no-such-model", "--port", "0", "--no-open"]).output().unwrap();
    assert_eq!(done.status.code(), Some(1));
    assert!(done.stdout.is_empty());
    assert!(String::from_utf8(done.stderr).unwrap().starts_with("error: no-such-model: no such file or folder"));
}

/// Ctrl-C is the way out, and no failure.
#[cfg(unix)]
#[test]
fn an_interrupt_ends_it_quietly() {
    for signal in ["INT", "TERM"] {
        let mut view = view(&["--port", "0", "--no-open"]);
        // Answering means that it listens to signals too.
        assert!(get(&view.address, "/", &view.address).starts_with("HTTP/1.1 200"));
        let kill = format!("kill -{signal} {}", view.child.id());
        assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
        let status = view.child.wait().unwrap();
        let mut error = String::new();
        view.child.stderr.take().unwrap().read_to_string(&mut error).unwrap();
        assert!(status.success() && error.is_empty(), "{signal}: {status}: {error}");
    }
}
