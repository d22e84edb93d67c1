//! Models of the Hub as sources, from a Hub on this machine.

mod common;

#[path = "../../models/tests/common/hub_server.rs"]
mod hub_server;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use common::{printed, refused, text};
use hub_server::{Fault, HubServer, REPO, tiny};
use tempfile::TempDir;

const WEIGHTS: &str = "model.safetensors";

/// A Hub, and a person's home.
struct Scene {
    server: HubServer,
    home: TempDir,
}

impl Scene {
    fn new() -> Self {
        Self { server: HubServer::of(&tiny("gpt2-lm")), home: TempDir::new().unwrap() }
    }

    fn command(&self, args: &[&str]) -> assert_cmd::Command {
        assert_cmd::Command::from_std(self.plain(args))
    }

    /// The program, in a home of its own, with nothing set but where the Hub is.
    fn plain(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_attnscope"));
        command.args(args).current_dir(self.home.path()).env("HOME", self.home.path()).env("RUST_BACKTRACE", "1");
        for name in [
            "HF_HOME",
            "HF_HUB_CACHE",
            "HUGGINGFACE_HUB_CACHE",
            "XDG_CACHE_HOME",
            "HF_TOKEN",
            "HUGGING_FACE_HUB_TOKEN",
            "HF_TOKEN_PATH",
            "SSL_CERT_FILE",
            "REQUESTS_CA_BUNDLE",
            "HF_HUB_OFFLINE",
            "TRANSFORMERS_OFFLINE",
            "RUST_LOG",
        ] {
            command.env_remove(name);
        }
        command.env("HF_ENDPOINT", &self.server.address).env("HF_HUB_DOWNLOAD_TIMEOUT", "5");
        command
    }

    /// (standard output, standard error) of a run that must succeed.
    fn runs(&self, args: &[&str]) -> (String, String) {
        let output = self.command(args).output().unwrap();
        let said = (text(output.stdout), text(output.stderr));
        assert!(output.status.success(), "{said:?}");
        said
    }

    /// The weights in a cache, if they are whole.
    fn weights(&self, cache: &str) -> Option<Vec<u8>> {
        let snapshots = self.home.path().join(cache).join("models--tiny--gpt2-lm/snapshots");
        fs::read(snapshots.join(hub_server::COMMIT).join(WEIGHTS)).ok()
    }

    fn incomplete(&self) -> PathBuf {
        let etag = hub_server::etag(WEIGHTS, &fs::read(tiny("gpt2-lm").join(WEIGHTS)).unwrap());
        self.home.path().join(format!(".cache/huggingface/hub/models--tiny--gpt2-lm/blobs/{etag}.incomplete"))
    }
}

#[test]
fn an_id_answers_as_the_folder_does() {
    let scene = Scene::new();
    let folder = tiny("gpt2-lm");
    for (command, more) in [("heads", vec!["--json"]), ("show", vec![]), ("row", vec!["--query", "0"])] {
        let args = |source| [&[command, source, "--text", "a b"], &more[..]].concat();
        let (out, said) = scene.runs(&args(REPO));
        assert_eq!(out, printed(&args(folder.to_str().unwrap())), "{command}");
        // Said when it is fetched, and silent from then on.
        let fetched = command == "heads";
        assert_eq!(said.starts_with("fetching tiny/gpt2-lm from the Hub: 2 files, 0.1 MB\n"), fetched, "{said}");
        assert_eq!(said.is_empty(), !fetched, "{said}");
        assert_eq!(scene.server.asked().is_empty(), !fetched);
    }
}

#[test]
fn the_cache_is_where_the_variables_say() {
    let scene = Scene::new();
    let home = scene.home.path().to_str().unwrap().to_owned();
    for (name, value, cache) in [
        ("HOME", home.clone(), ".cache/huggingface/hub"),
        ("XDG_CACHE_HOME", format!("{home}/xdg"), "xdg/huggingface/hub"),
        ("HF_HOME", format!("{home}/hf"), "hf/hub"),
        ("HF_HUB_CACHE", "here".to_owned(), "here"),
    ] {
        assert_eq!(scene.weights(cache), None, "{cache}");
        let mut command = scene.command(&["heads", REPO]);
        // Each goes before those that were tried already.
        command.env("XDG_CACHE_HOME", if name == "HOME" { "" } else { "xdg" });
        command.env("HF_HOME", if name.starts_with("HF") { "hf" } else { "" });
        command.env(name, value).assert().success();
        assert_eq!(scene.weights(cache), Some(fs::read(tiny("gpt2-lm").join(WEIGHTS)).unwrap()), "{cache}");
    }
}

#[test]
fn the_token_is_sent_and_never_shown() {
    let scene = Scene::new();
    let said = |set: &[(&str, &str)]| {
        let mut command = scene.command(&["heads", REPO]);
        command.env("RUST_LOG", "trace").envs(set.iter().copied()).env("HF_HUB_CACHE", TempDir::new().unwrap().path());
        let output = command.output().unwrap();
        let tokens = scene.server.asked().into_iter().map(|asked| asked.token).collect::<Vec<_>>();
        assert!(!tokens.is_empty() && tokens.iter().all(|token| *token == tokens[0]), "{tokens:?}");
        let all = text(output.stdout) + &text(output.stderr);
        assert!(!all.contains("hf_"), "{all}");
        tokens[0].clone()
    };
    let bearer = |token: &str| Some(format!("Bearer {token}"));
    assert_eq!(said(&[]), None);
    fs::create_dir_all(scene.home.path().join(".cache/huggingface")).unwrap();
    fs::write(scene.home.path().join(".cache/huggingface/token"), "hf_file\n").unwrap();
    fs::write(scene.home.path().join("other"), "hf_other").unwrap();
    assert_eq!(said(&[]), bearer("hf_file"));
    assert_eq!(said(&[("HF_TOKEN_PATH", "other")]), bearer("hf_other"));
    assert_eq!(said(&[("HF_TOKEN_PATH", "other"), ("HF_TOKEN", "hf_given")]), bearer("hf_given"));
    scene.server.fail("GET", "revision/main", [Fault::Status(401, "GatedRepo")]);
    assert_eq!(said(&[("HF_TOKEN", "hf_given")]), bearer("hf_given"));
}

#[test]
fn what_is_wrong_with_the_hub_is_one_line() {
    let scene = Scene::new();
    let fails = |parts: &[&str]| refused(scene.command(&["heads", REPO]), 1, parts);
    scene.server.fail(
        "GET",
        "revision/main",
        [Fault::Status(401, "RepoNotFound"), Fault::Status(404, "RevisionNotFound")],
    );
    fails(&["tiny/gpt2-lm: no such file or folder here", "(401)", "HF_TOKEN"]);
    fails(&["no revision"]);
    let mut nowhere = scene.command(&["heads", REPO]);
    nowhere.env("HF_ENDPOINT", "hub.example.org");
    refused(nowhere, 1, &["HF_ENDPOINT", "https://huggingface.co"]);
    let mut other = scene.command(&["heads", "no-such-model"]);
    other.env("HF_ENDPOINT", &scene.server.address);
    refused(other, 1, &["no-such-model: no such file or folder here", "(404)"]);
    scene.server.asked();
    let mut offline = scene.command(&["heads", REPO]);
    offline.env("HF_HUB_OFFLINE", "1");
    refused(offline, 1, &["HF_HUB_OFFLINE", "unset it"]);
    assert!(scene.server.asked().is_empty());
}

#[test]
fn what_is_here_goes_first() {
    let scene = Scene::new();
    let copy = scene.home.path().join("tiny/gpt2-lm");
    fs::create_dir_all(&copy).unwrap();
    refused(scene.command(&["heads", REPO]), 1, &["no config.json"]);
    for name in ["config.json", "tokenizer.json", WEIGHTS] {
        fs::copy(tiny("gpt2-lm").join(name), copy.join(name)).unwrap();
    }
    scene.runs(&["heads", REPO]);
    scene.runs(&["heads", "example"]);
    assert!(scene.server.asked().is_empty());
    let scene = Scene::new();
    for path in ["./gpt2", "../gpt2", "gpt2.gguf", "org/gpt2.safetensors", "tiny", "models/gpt2", "a/b/c", "gpt2:x"] {
        refused(scene.command(&["heads", path]), 1, &[path, "no such file or folder; a source is"]);
    }
    let absolute = scene.home.path().join("gpt2");
    refused(scene.command(&["heads", absolute.to_str().unwrap()]), 1, &["no such file or folder; a source is"]);
    assert!(scene.server.asked().is_empty());
}

/// Waits until the weights have begun to come.
#[cfg(unix)]
fn begun(scene: &Scene) -> u64 {
    let since = Instant::now();
    loop {
        let here = fs::metadata(scene.incomplete()).map_or(0, |file| file.len());
        if here > 0 {
            return here;
        }
        assert!(since.elapsed() < Duration::from_secs(60), "nothing comes");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_it_and_the_next_run_goes_on() {
    let output = |folder: &Path| folder.join("t.safetensors").to_str().unwrap().to_owned();
    for command in ["heads", "trace"] {
        let scene = Scene::new();
        let (out, more) = (output(scene.home.path()), ["-o"]);
        let more = if command == "trace" { vec![more[0], &*out] } else { vec![] };
        let args = [&[command, REPO, "--text", "a b"], &more[..]].concat();
        scene.server.fail("GET", WEIGHTS, [Fault::Drip(1024)]);
        let mut child = scene.plain(&args).stderr(std::process::Stdio::null()).spawn().unwrap();
        begun(&scene);
        assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
        assert_eq!(child.wait().unwrap().code(), Some(130), "{command}");
        let here = fs::metadata(scene.incomplete()).unwrap().len();
        assert!(here > 0 && scene.weights(".cache/huggingface/hub").is_none() && !Path::new(&out).exists());
        scene.server.asked();
        scene.runs(&args);
        assert_eq!(scene.server.ranges(WEIGHTS), [Some(format!("bytes={here}-"))], "{command}");
        assert_eq!(scene.weights(".cache/huggingface/hub"), Some(fs::read(tiny("gpt2-lm").join(WEIGHTS)).unwrap()));
    }
}

#[cfg(unix)]
#[test]
fn two_at_once_fetch_it_once() {
    let scene = Scene::new();
    scene.server.fail("GET", WEIGHTS, [Fault::Drip(1024)]);
    let run = || {
        scene
            .plain(&["heads", REPO, "--json"])
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
    };
    let first = run().unwrap();
    begun(&scene);
    let second = run().unwrap();
    let [first, second] = [first, second].map(|child| child.wait_with_output().unwrap());
    assert!(first.status.success() && second.status.success());
    assert_eq!(first.stdout, second.stdout);
    let said = text(second.stderr);
    assert!(said.contains("another process is fetching it"), "{said}");
    assert_eq!(scene.server.ranges(WEIGHTS), [None]);
}

/// A limit on the size of files stands for a full disk.
#[cfg(target_os = "linux")]
#[test]
fn a_disk_that_fills_up_is_told_and_the_next_run_goes_on() {
    let scene = Scene::new();
    let plain = scene.plain(&[]);
    let script = format!("trap '' XFSZ; ulimit -f 8; exec {} heads {REPO} 2>&1", env!("CARGO_BIN_EXE_attnscope"));
    let mut shell = Command::new("sh");
    shell.args(["-c", &script]).current_dir(scene.home.path());
    for (name, value) in plain.get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    let output = shell.output().unwrap();
    let said = text(output.stdout);
    assert_eq!(output.status.code(), Some(1), "{said}");
    let error = said.lines().last().unwrap();
    assert!(error.contains("model.safetensors: cannot write") && error.contains("goes on from there"), "{said}");
    let here = fs::metadata(scene.incomplete()).unwrap().len();
    assert!(here > 0, "what has come is kept");
    scene.server.asked();
    scene.runs(&["heads", REPO]);
    assert_eq!(scene.server.ranges(WEIGHTS), [Some(format!("bytes={here}-"))]);
}

#[test]
fn the_page_names_it_by_its_id() {
    use std::io::{BufRead, BufReader, Read, Write};
    let scene = Scene::new();
    let mut child = scene
        .plain(&["view", REPO, "--port", "0", "--no-open"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    let address = line.trim_end().strip_prefix("http://").unwrap().strip_suffix('/').unwrap();
    let mut stream = std::net::TcpStream::connect(address).unwrap();
    write!(stream, "GET /api/sources HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    for part in [r#""id":"gpt2-lm""#, r#""label":"gpt2-lm""#, r#""name":"tiny/gpt2-lm""#, r#""family":"gpt2""#] {
        assert!(answer.contains(part), "{answer}");
    }
}
