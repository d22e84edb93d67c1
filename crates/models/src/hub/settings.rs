//! Where the Hub and the cache are, by the variables that everything else of Hugging Face's goes by.

use std::env::{home_dir, var, var_os};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::link::origin;

/// How the Hub is spoken to. A token is shown to nobody: this has no `Debug`.
#[derive(Clone)]
pub struct Settings {
    /// The Hub's address, or that of a mirror.
    pub endpoint: String,
    /// The folder with the models.
    pub cache: PathBuf,
    /// Who asks, for what is private or gated.
    pub token: Option<String>,
    /// Nothing is fetched.
    pub offline: bool,
    /// A file (PEM) of the certificate authorities that are trusted; Mozilla's list without one.
    pub authorities: Option<PathBuf>,
    /// How long nothing may come before the connection is given up and made anew.
    pub patience: Duration,
}

/// As Python's huggingface_hub has it.
const PATIENCE: u64 = 10;

impl Settings {
    /// `HF_ENDPOINT`, `HF_HUB_CACHE` (or `HF_HOME`, `XDG_CACHE_HOME`), `HF_TOKEN` (or the file that logging in leaves
    /// behind, `HF_TOKEN_PATH`), `HF_HUB_OFFLINE`, `HF_HUB_DOWNLOAD_TIMEOUT` in seconds, `SSL_CERT_FILE`. One that is empty is not set.
    pub fn from_env() -> Self {
        let home = path("HF_HOME")
            .or_else(|| Some(path("XDG_CACHE_HOME")?.join("huggingface")))
            .unwrap_or_else(|| home_dir().unwrap_or_default().join(".cache/huggingface"));
        let cache = path("HF_HUB_CACHE").or_else(|| path("HUGGINGFACE_HUB_CACHE"));
        let written = || {
            let file = path("HF_TOKEN_PATH").unwrap_or_else(|| home.join("token"));
            let token = std::fs::read_to_string(file).ok()?.trim().to_owned();
            Some(token).filter(|token| !token.is_empty())
        };
        let seconds = text("HF_HUB_DOWNLOAD_TIMEOUT").and_then(|seconds| seconds.parse().ok());
        Self {
            endpoint: text("HF_ENDPOINT").unwrap_or_else(|| "https://huggingface.co".to_owned()),
            cache: cache.unwrap_or_else(|| home.join("hub")),
            token: text("HF_TOKEN").or_else(|| text("HUGGING_FACE_HUB_TOKEN")).or_else(written),
            offline: ["HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"]
                .iter()
                .any(|name| text(name).is_some_and(|word| is_yes(&word))),
            authorities: path("SSL_CERT_FILE").or_else(|| path("REQUESTS_CA_BUNDLE")),
            patience: Duration::from_secs(seconds.unwrap_or(PATIENCE).clamp(1, 3600)),
        }
    }

    /// That it can be spoken to at all.
    ///
    /// # Errors
    /// Words on what cannot be.
    pub(super) fn check(&self) -> Result<(), String> {
        let like = "it must be like https://huggingface.co";
        // An address with a password in it is not shown.
        if self.endpoint.contains('@') {
            return Err(format!("HF_ENDPOINT names a user; {like}, and a token belongs into HF_TOKEN"));
        }
        if origin(&self.endpoint).is_none() || self.endpoint.contains(['?', '#']) {
            return Err(format!("HF_ENDPOINT is {:?}; {like}", self.endpoint));
        }
        match &self.token {
            Some(token) if !token.bytes().all(|byte| byte.is_ascii_graphic()) => {
                Err("the token (HF_TOKEN, or the file that holds it) is no token: there are other signs in it"
                    .to_owned())
            }
            _ => Ok(()),
        }
    }
}

fn text(name: &str) -> Option<String> {
    var(name).ok().map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
}

fn path(name: &str) -> Option<PathBuf> {
    let path = PathBuf::from(var_os(name).filter(|value| !value.is_empty())?);
    match path.strip_prefix("~") {
        Ok(rest) => Some(home_dir().unwrap_or_default().join(rest)),
        Err(_) => Some(path),
    }
    .map(|path| std::path::absolute(&path).unwrap_or(path))
    .filter(|path| path != Path::new(""))
}

fn is_yes(word: &str) -> bool {
    ["1", "on", "yes", "true"].contains(&word.to_ascii_lowercase().as_str())
}
