//! What goes wrong between here and the Hub, in words of what to do about it.

use super::{HubId, Settings};
use crate::error::Error;

pub(super) enum Failure {
    /// The Hub refuses: the status, and its own word for it where there is one.
    Status(u16, String),
    /// It may go better if it is tried again.
    Passing(String),
    /// Nobody is there.
    Unreachable(String),
    /// It will not go better.
    Lasting(String),
    /// Nobody wants it any more.
    Stopped,
}

impl Failure {
    /// Whether the same could work another time, with nothing changed.
    pub(super) fn is_passing(&self) -> bool {
        matches!(self, Self::Passing(_) | Self::Unreachable(_))
    }

    /// Whether it is of this machine, not of the Hub's.
    pub(super) fn is_ours(&self) -> bool {
        matches!(self, Self::Lasting(_) | Self::Stopped)
    }

    /// A refusal with this status.
    pub(super) fn status(code: u16, word: &str) -> Self {
        match code {
            408 | 429 | 500.. => Self::Passing(format!("the Hub answers {code}")),
            _ => Self::Status(code, word.to_owned()),
        }
    }

    /// In one or two lines for a person.
    pub(super) fn explain(self, id: &HubId, file: Option<&str>, settings: &Settings) -> Error {
        let hub = &settings.endpoint;
        let at = file.map_or(String::new(), |file| format!("{file}: "));
        Error::hub(
            id,
            match self {
                Self::Stopped => return Error::Stopped,
                Self::Status(code @ (401 | 403), word) => refused(code, &word, id, settings),
                Self::Status(404, word) if word == "RevisionNotFound" => {
                    format!("the model has no revision {:?} at {hub}; leave it out for its newest", id.revision())
                }
                Self::Status(404, _) if file.is_some() => {
                    format!("{at}the Hub lists this file and does not have it (404)")
                }
                Self::Status(404, _) => {
                    format!("no such file or folder here, and no such model at {hub} (404); look at how it is written")
                }
                Self::Status(code, _) => format!("{at}{hub} answers with {code}, which is no answer to this question"),
                Self::Passing(problem) => {
                    let advice = match file {
                        Some(_) => "what has come is kept, and the same command goes on from there",
                        None => "try again later",
                    };
                    format!("{at}{problem}, several times in a row; {advice}")
                }
                Self::Unreachable(problem) if file.is_none() => format!(
                    "no such file or folder here, and {hub} cannot be asked for such a model: {problem}; \
                     look at the network, or set HF_ENDPOINT to a mirror"
                ),
                Self::Unreachable(problem) => {
                    format!("{at}{problem}; what has come is kept, and the same command goes on from there")
                }
                Self::Lasting(problem) => format!("{at}{problem}"),
            },
        )
    }
}

/// The Hub does not tell a model that is not there from one that is private.
fn refused(code: u16, word: &str, id: &HubId, settings: &Settings) -> String {
    let hub = &settings.endpoint;
    let page = format!("{}/{}", hub.trim_end_matches('/'), id.repo());
    match (word, settings.token.is_some()) {
        ("GatedRepo", true) => format!("its owner lets nobody read it who has not asked ({code}); ask at {page}"),
        ("GatedRepo", false) => {
            format!(
                "its owner lets nobody read it who has not asked ({code}); ask at {page}, then set HF_TOKEN to your token"
            )
        }
        (_, true) => format!(
            "no such file or folder here, and {hub} shows no such model to whoever has this token ({code}); look at how it \
             is written, and whether the token (HF_TOKEN) may read it"
        ),
        (_, false) => format!(
            "no such file or folder here, and {hub} shows no such model ({code}); look at how it is written, and if it is \
             private or gated, set HF_TOKEN to a token that may read it"
        ),
    }
}

impl From<ureq::Error> for Failure {
    fn from(error: ureq::Error) -> Self {
        use std::io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, InvalidData, UnexpectedEof};
        use ureq::{Error as Http, Timeout};
        match error {
            Http::HostNotFound => Self::Unreachable("no such host is known".to_owned()),
            Http::Timeout(Timeout::Resolve | Timeout::Connect) => Self::Unreachable("nobody answers there".to_owned()),
            Http::Timeout(_) => Self::Passing("nothing came any more".to_owned()),
            Http::Io(error)
                if matches!(error.kind(), BrokenPipe | ConnectionAborted | ConnectionReset | UnexpectedEof) =>
            {
                Self::Passing("the connection broke".to_owned())
            }
            // Of TLS: a certificate that nobody vouches for.
            Http::Io(error) if error.kind() == InvalidData => {
                Self::Unreachable(format!("{error} (SSL_CERT_FILE names who else is to be trusted)"))
            }
            Http::Io(error) => Self::Unreachable(error.to_string()),
            Http::ConnectionFailed => Self::Unreachable("no connection could be made".to_owned()),
            Http::ConnectProxyFailed(problem) => Self::Unreachable(format!("the proxy refuses: {problem}")),
            Http::Protocol(problem) => Self::Passing(format!("the answer is no HTTP ({problem})")),
            Http::BodyStalled => Self::Passing("the answer broke off".to_owned()),
            other => Self::Lasting(other.to_string()),
        }
    }
}

impl From<std::io::Error> for Failure {
    /// Of reading what the Hub sends.
    fn from(error: std::io::Error) -> Self {
        ureq::Error::from(error).into()
    }
}
