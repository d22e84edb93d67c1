//! A Hub of one model on this machine, which can be told to misbehave.
#![allow(dead_code, reason = "every test that includes this uses a part of it")]

use std::collections::{BTreeMap, VecDeque};
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::{sleep, spawn};
use std::time::Duration;

use sha1::Sha1;
use sha2::{Digest, Sha256};

pub(crate) const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";
pub(crate) const REPO: &str = "tiny/gpt2-lm";

/// A small checkpoint of this repository.
pub(crate) fn tiny(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../models/tests/tiny").join(name)
}

/// What goes wrong with one answer.
#[derive(Clone, Debug)]
pub(crate) enum Fault {
    /// This status, with this word of the Hub's for it.
    Status(u16, &'static str),
    /// After so many bytes the connection ends.
    Cut(usize),
    /// After so many bytes nothing comes any more.
    Stall(usize),
    /// Nothing comes at all.
    Silence,
    /// The first byte is another.
    Spoil,
    /// All of it, whatever part was asked for.
    Whole,
    /// More than was announced.
    Longer,
    /// To another address.
    Redirect(String),
    /// Slowly: so many bytes each tenth of a second.
    Drip(usize),
}

/// A request, as it came.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) range: Option<String>,
    pub(crate) token: Option<String>,
}

#[derive(Default)]
struct State {
    files: BTreeMap<String, Vec<u8>>,
    /// What is announced otherwise than it is.
    etags: BTreeMap<String, String>,
    sizes: BTreeMap<String, u64>,
    /// By the end of a path and the method, of the requests that come next.
    faults: Vec<(String, String, VecDeque<Fault>)>,
    asked: Vec<Asked>,
}

pub(crate) struct HubServer {
    pub(crate) address: String,
    state: Arc<Mutex<State>>,
}

impl HubServer {
    /// A Hub with the files of a checkpoint.
    pub(crate) fn of(folder: &Path) -> Self {
        let names = ["config.json", "tokenizer.json", "model.safetensors"];
        Self::with(names.iter().map(|name| ((*name).to_owned(), std::fs::read(folder.join(name)).unwrap())).collect())
    }

    pub(crate) fn with(files: BTreeMap<String, Vec<u8>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let state = Arc::new(Mutex::new(State { files, ..State::default() }));
        let shared = state.clone();
        spawn(move || {
            for stream in listener.incoming().flatten() {
                let state = shared.clone();
                // Whoever leaves in the middle is no failure of the server's.
                spawn(move || answer(stream, &state));
            }
        });
        Self { address, state }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    /// The next requests of this method for a path with this end go wrong in these ways, one each.
    pub(crate) fn fail(&self, method: &str, end: &str, faults: impl IntoIterator<Item = Fault>) -> &Self {
        self.state().faults.push((method.to_owned(), end.to_owned(), faults.into_iter().collect()));
        self
    }

    pub(crate) fn put(&self, name: &str, bytes: impl Into<Vec<u8>>) -> &Self {
        self.state().files.insert(name.to_owned(), bytes.into());
        self
    }

    pub(crate) fn take(&self, name: &str) -> Vec<u8> {
        self.state().files.remove(name).unwrap()
    }

    pub(crate) fn announce_etag(&self, name: &str, etag: &str) -> &Self {
        self.state().etags.insert(name.to_owned(), etag.to_owned());
        self
    }

    pub(crate) fn announce_size(&self, name: &str, size: u64) -> &Self {
        self.state().sizes.insert(name.to_owned(), size);
        self
    }

    /// The requests since the last time.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        std::mem::take(&mut self.state().asked)
    }

    /// The parts of a file that were asked for since the last time.
    pub(crate) fn ranges(&self, end: &str) -> Vec<Option<String>> {
        let gets = self.asked().into_iter().filter(|asked| asked.method == "GET" && asked.path.ends_with(end));
        gets.map(|asked| asked.range).collect()
    }
}

/// Large files are known by their SHA-256, small ones by git's name of them.
pub(crate) fn etag(name: &str, bytes: &[u8]) -> String {
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    match is_large(name) {
        true => hex(&Sha256::digest(bytes)),
        false => hex(&Sha1::new_with_prefix(format!("blob {}\0", bytes.len())).chain_update(bytes).finalize()),
    }
}

fn is_large(name: &str) -> bool {
    name.ends_with(".safetensors") || name.ends_with(".gguf")
}

fn answer(mut stream: TcpStream, state: &Mutex<State>) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream.try_clone()?).lines();
    let first = lines.next().transpose()?.unwrap_or_default();
    let mut words = first.split(' ').map(str::to_owned);
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let mut asked = Asked { method: method.clone(), path: path.clone(), range: None, token: None };
    for line in lines {
        let line = line?;
        let Some((name, value)) = line.split_once(':') else { break };
        match name.to_ascii_lowercase().as_str() {
            "range" => asked.range = Some(value.trim().to_owned()),
            "authorization" => asked.token = Some(value.trim().to_owned()),
            _ => {}
        }
    }
    let range = asked.range.clone();
    let (fault, found) = {
        let mut state = state.lock().unwrap();
        state.asked.push(asked);
        let fits = |(of, end, faults): &&mut (String, String, VecDeque<Fault>)| {
            *of == method && path.ends_with(end.as_str()) && !faults.is_empty()
        };
        let fault = state.faults.iter_mut().find(fits).and_then(|(_, _, faults)| faults.pop_front());
        (fault, find(&state, &path))
    };
    let mut head = String::new();
    match &fault {
        Some(Fault::Status(code, word)) => {
            let head =
                format!("HTTP/1.1 {code} No\r\nX-Error-Code: {word}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
            return stream.write_all(head.as_bytes());
        }
        Some(Fault::Silence) => {
            sleep(Duration::from_secs(60));
            return Ok(());
        }
        Some(Fault::Redirect(to)) => head.push_str(&format!("Location: {to}\r\n")),
        _ => {}
    }
    let Some(Found { etag, size, bytes }) = found else {
        let word = if path.contains("/resolve/") { "EntryNotFound" } else { "RepoNotFound" };
        let head = format!("HTTP/1.1 404 No\r\nX-Error-Code: {word}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        return stream.write_all(head.as_bytes());
    };
    let from = range
        .filter(|_| !matches!(fault, Some(Fault::Whole)))
        .and_then(|range| range.strip_prefix("bytes=")?.strip_suffix('-')?.parse::<usize>().ok());
    if from.is_some_and(|from| from >= bytes.len()) {
        return stream.write_all(b"HTTP/1.1 416 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    }
    let mut body = bytes[from.unwrap_or(0)..].to_vec();
    let status = match (&fault, from) {
        (Some(Fault::Redirect(_)), _) => "302 Found".to_owned(),
        (_, Some(from)) => {
            head.push_str(&format!("Content-Range: bytes {from}-{}/{}\r\n", bytes.len() - 1, bytes.len()));
            "206 Partial Content".to_owned()
        }
        (_, None) => "200 OK".to_owned(),
    };
    match fault {
        Some(Fault::Redirect(_)) => {
            head.push_str(&format!("X-Linked-Etag: \"{etag}\"\r\nX-Linked-Size: {size}\r\n"));
            body.clear();
        }
        Some(Fault::Spoil) => body[0] ^= 1,
        Some(Fault::Longer) => body.extend(b"more than that"),
        _ => head.push_str(&format!("ETag: \"{etag}\"\r\nX-Repo-Commit: {COMMIT}\r\n")),
    }
    let length = if method == "HEAD" { size } else { body.len() as u64 };
    let head = format!("HTTP/1.1 {status}\r\n{head}Content-Length: {length}\r\nConnection: close\r\n\r\n");
    stream.write_all(head.as_bytes())?;
    if method == "HEAD" {
        return Ok(());
    }
    match fault {
        Some(Fault::Cut(at)) => stream.write_all(&body[..at.min(body.len())]),
        Some(Fault::Stall(at)) => {
            stream.write_all(&body[..at.min(body.len())])?;
            sleep(Duration::from_secs(60));
            Ok(())
        }
        Some(Fault::Drip(step)) => body.chunks(step).try_for_each(|piece| {
            sleep(Duration::from_millis(100));
            stream.write_all(piece)
        }),
        _ => stream.write_all(&body),
    }
}

/// What is at a path.
struct Found {
    etag: String,
    size: u64,
    bytes: Vec<u8>,
}

fn find(state: &State, path: &str) -> Option<Found> {
    let path = path.split('?').next()?.replace("%20", " ");
    let plain = |bytes: Vec<u8>| Found { etag: "list".to_owned(), size: bytes.len() as u64, bytes };
    let list = format!("/api/models/{REPO}/revision/");
    if let Some(revision) = path.strip_prefix(&list) {
        if !["main", "v1", "refs%2Fpr%2F1", COMMIT].contains(&revision) {
            return None;
        }
        let files: Vec<String> = state.files.keys().map(|name| format!("{{\"rfilename\":{name:?}}}")).collect();
        return Some(plain(format!("{{\"sha\":\"{COMMIT}\",\"siblings\":[{}]}}", files.join(",")).into_bytes()));
    }
    // What a redirect leads to has no names.
    let name = path.strip_prefix(&format!("/{REPO}/resolve/{COMMIT}/")).or_else(|| path.strip_prefix("/elsewhere/"))?;
    let bytes = state.files.get(name)?.clone();
    let etag = state.etags.get(name).cloned().unwrap_or_else(|| etag(name, &bytes));
    let size = state.sizes.get(name).copied().unwrap_or(bytes.len() as u64);
    Some(Found { etag, size, bytes })
}
