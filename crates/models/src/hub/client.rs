//! Questions to the Hub. Redirects are followed here, not by the HTTP library: the token goes to the Hub alone, and
//! what the Hub says of a file stands in its redirect.

use std::collections::BTreeSet;
use std::io::Read;
use std::thread::sleep;
use std::time::Duration;

use serde::Deserialize;
use ureq::Agent;
use ureq::Body;
use ureq::http::{HeaderMap, Response};
use ureq::tls::TlsConfig;

use super::authorities;
use super::blob::Blob;
use super::cache::is_commit;
use super::failure::Failure;
use super::link::{escape, follow, origin};
use super::{Event, HubId, Settings, Watch};

/// How often the same is tried before it is given up, where nothing comes of it.
pub(super) const TRIES: u32 = 4;
/// Of one question.
const REDIRECTS: usize = 8;
/// No list of files is longer, in bytes.
const LONGEST_LIST: u64 = 64 << 20;
/// No file is larger, in bytes.
const LARGEST: u64 = 1 << 46;
/// No file but those of the weights is larger, in bytes.
const LARGEST_OTHER: u64 = 256 << 20;

/// What a repository holds at one commit.
pub(super) struct Listing {
    pub(super) commit: String,
    pub(super) files: BTreeSet<String>,
}

impl Listing {
    pub(super) fn has(&self, file: &str) -> bool {
        self.files.contains(file)
    }
}

pub(super) struct Client {
    agent: Agent,
    endpoint: String,
    token: Option<String>,
    patience: Duration,
}

#[derive(Clone, Copy)]
enum Question {
    /// What is told of a file; answered by the first redirect that tells it.
    About,
    /// The file, from this byte on.
    Bytes(u64),
}

impl Client {
    /// # Errors
    /// Words on settings that cannot be kept to.
    pub(super) fn new(settings: &Settings) -> Result<Self, String> {
        let patience = Some(settings.patience);
        let authorities = authorities::read(settings.authorities.as_deref())?;
        let mut config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .tls_config(TlsConfig::builder().root_certs(authorities).build())
            .user_agent(concat!("attnscope/", env!("CARGO_PKG_VERSION")))
            .timeout_resolve(patience)
            .timeout_connect(patience)
            .timeout_send_request(patience)
            .timeout_recv_response(patience)
            .timeout_per_read(patience);
        // What runs on this machine is not behind a proxy.
        if origin(&settings.endpoint).is_some_and(|(_, host, _)| ["localhost", "127.0.0.1", "[::1]"].contains(&&*host))
        {
            config = config.proxy(None);
        }
        Ok(Self {
            agent: config.build().into(),
            endpoint: settings.endpoint.trim_end_matches('/').to_owned(),
            token: settings.token.clone(),
            patience: settings.patience,
        })
    }

    /// The address of a file.
    pub(super) fn url(&self, id: &HubId, commit: &str, file: &str) -> String {
        format!("{}/{}/resolve/{commit}/{}", self.endpoint, id.repo(), escape(file))
    }

    /// What a repository holds.
    pub(super) fn list(&self, id: &HubId, revision: &str, watch: Watch) -> Result<Listing, Failure> {
        #[derive(Deserialize)]
        struct Answer {
            sha: String,
            siblings: Vec<File>,
        }
        #[derive(Deserialize)]
        struct File {
            rfilename: String,
        }
        let revision = escape(revision).replace('/', "%2F");
        let url = format!("{}/api/models/{}/revision/{revision}", self.endpoint, id.repo());
        let text = patiently(watch, || {
            let mut text = Vec::new();
            let body = self.ask(Question::Bytes(0), &url)?.into_body();
            body.into_reader().take(LONGEST_LIST + 1).read_to_end(&mut text)?;
            Ok(text)
        })?;
        let strange = |what: &str| Failure::Lasting(format!("{} {what}; is HF_ENDPOINT a Hub?", self.endpoint));
        if text.len() as u64 > LONGEST_LIST {
            return Err(strange("sends a list of files without an end"));
        }
        let answer: Answer =
            serde_json::from_slice(&text).map_err(|_| strange("sends something else than a list of files"))?;
        if !is_commit(&answer.sha) {
            return Err(strange("names no commit"));
        }
        Ok(Listing { commit: answer.sha, files: answer.siblings.into_iter().map(|file| file.rfilename).collect() })
    }

    /// What the Hub tells of a file.
    pub(super) fn about(&self, id: &HubId, commit: &str, name: &str, watch: Watch) -> Result<Blob, Failure> {
        let url = self.url(id, commit, name);
        let answer = patiently(watch, || self.ask(Question::About, &url))?;
        let told = |first: &str, other: &str| word(answer.headers(), first).or_else(|| word(answer.headers(), other));
        let etag = told("x-linked-etag", "etag").map(|etag| etag.trim_start_matches("W/").trim_matches('"').to_owned());
        // It is the name of a file here.
        let fits = |etag: &String| {
            (1..=128).contains(&etag.len()) && etag.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
        };
        let etag =
            etag.filter(fits).ok_or_else(|| Failure::Lasting("the Hub gives no etag that can be used".to_owned()))?;
        let size = told("x-linked-size", "content-length").and_then(|size| size.parse::<u64>().ok());
        let size = size.ok_or_else(|| Failure::Lasting("the Hub does not say how long it is".to_owned()))?;
        let is_weights = [".safetensors", ".gguf"].iter().any(|ending| name.to_ascii_lowercase().ends_with(ending));
        if size > if is_weights { LARGEST } else { LARGEST_OTHER } {
            return Err(Failure::Lasting(format!("it is said to be {size} bytes long, which no such file is")));
        }
        Ok(Blob { name: name.to_owned(), etag, size })
    }

    /// A file from some byte on, or from its first if the Hub wants it so. (where it begins, what comes)
    pub(super) fn open(&self, url: &str, from: u64) -> Result<(u64, impl Read + use<>), Failure> {
        let answer = self.ask(Question::Bytes(from), url)?;
        let begins = match answer.status().as_u16() {
            206 => word(answer.headers(), "content-range").and_then(|range| {
                range.strip_prefix("bytes ")?.split_once('-')?.0.parse().ok().filter(|begins| *begins == from)
            }),
            _ => Some(0),
        };
        let begins =
            begins.ok_or_else(|| Failure::Lasting("the Hub sends another part than was asked for".to_owned()))?;
        Ok((begins, answer.into_body().into_reader()))
    }

    /// How long nothing may come.
    pub(super) fn patience(&self) -> Duration {
        self.patience
    }

    /// The answer that is no redirect, or tells what was asked for already.
    fn ask(&self, question: Question, url: &str) -> Result<Response<Body>, Failure> {
        let mut url = url.to_owned();
        for _ in 0..=REDIRECTS {
            let mut request = match question {
                Question::About => self.agent.head(&url),
                Question::Bytes(_) => self.agent.get(&url),
            };
            // Packed, a file would have another length.
            request = request.header("accept-encoding", "identity");
            if let Question::Bytes(from @ 1..) = question {
                request = request.header("range", format!("bytes={from}-"));
            }
            if let Some(token) = &self.token
                && origin(&url) == origin(&self.endpoint)
            {
                request = request.header("authorization", format!("Bearer {token}"));
            }
            let answer = request.call()?;
            let status = answer.status().as_u16();
            if !matches!(status, 301 | 302 | 303 | 307 | 308) {
                let word = word(answer.headers(), "x-error-code").unwrap_or_default();
                return if matches!(status, 200 | 206) { Ok(answer) } else { Err(Failure::status(status, word)) };
            }
            let told = |name| answer.headers().contains_key(name);
            if matches!(question, Question::About) && told("x-linked-etag") && told("x-linked-size") {
                return Ok(answer);
            }
            url = redirected(&url, answer.headers())?;
        }
        Err(Failure::Lasting("the Hub sends us from one address to another without an end".to_owned()))
    }
}

/// Where a redirect leads, which must be no less safe.
fn redirected(url: &str, headers: &HeaderMap) -> Result<String, Failure> {
    let location = word(headers, "location").unwrap_or_default();
    let target = follow(url, location).and_then(|target| Some((origin(&target)?.0, target)));
    match (target, origin(url)) {
        (Some((true, target)), _) | (Some((false, target)), Some((false, ..))) => Ok(target),
        // Signed addresses are as good as a token, and are not shown.
        (Some(_), _) => Err(Failure::Lasting("the Hub sends us to an address that is not encrypted (http)".to_owned())),
        (None, _) => Err(Failure::Lasting("the Hub sends us to an address that is none of http or https".to_owned())),
    }
}

fn word<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

/// Tries again what may pass.
fn patiently<T>(watch: Watch, mut ask: impl FnMut() -> Result<T, Failure>) -> Result<T, Failure> {
    let mut tries = 0;
    loop {
        match ask() {
            Err(Failure::Passing(problem)) if tries + 1 < TRIES => {
                tries += 1;
                tracing::debug!(problem, tries, "asking the Hub again");
                pause(tries, watch)?;
            }
            done => return done,
        }
    }
}

/// Longer each time, unless nobody waits.
pub(super) fn pause(tries: u32, watch: Watch) -> Result<(), Failure> {
    let tenths = 5 << (tries - 1).min(4);
    for _ in 0..tenths {
        if !watch(Event::Waits) {
            return Err(Failure::Stopped);
        }
        sleep(Duration::from_millis(100));
    }
    Ok(())
}
