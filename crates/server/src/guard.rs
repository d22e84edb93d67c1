//! Who may ask: whoever reached this server under a loopback name, and no other site's page.
//!
//! Binding to the loopback interface keeps other machines out, but not the pages in this machine's browser. A page
//! of another site can point a name of its own at 127.0.0.1 and read whatever answers (DNS rebinding); its requests
//! then name that site in `Host`. And it can post here blindly; then it is named in `Origin`.
//!
//! A server with a token (see `access`) is reached under names that it cannot know: there the token keeps strangers
//! out, and a request's origin must be the very host that it names.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{HOST, ORIGIN};
use axum::http::{HeaderMap, HeaderName, Method, StatusCode};
use axum::middleware::Next;
use axum::response::Response;

use crate::access::Token;
use crate::error::Error;

/// The names under which a server is reached.
pub(crate) struct Names {
    port: u16,
    hosts: Vec<String>,
    origins: Vec<String>,
    token: Option<Token>,
}

impl Names {
    pub(crate) fn new(port: u16, token: Option<String>) -> Self {
        let names = ["localhost", "127.0.0.1", "[::1]"];
        let mut hosts: Vec<String> = names.iter().map(|name| format!("{name}:{port}")).collect();
        if port == 80 {
            // The port that browsers leave out.
            hosts.extend(names.map(str::to_owned));
        }
        let origins = hosts.iter().map(|host| format!("http://{host}")).collect();
        Self { port, hosts, origins, token: token.map(|token| Token::new(token, port)) }
    }

    /// Whether a request may pass; some requests are answered here.
    fn check(&self, request: &Request) -> Result<Option<Response>, Error> {
        let host = only(request.headers(), HOST).flatten();
        // A request line may carry a host of its own.
        let line = request.uri().authority().map(|authority| authority.as_str());
        let known = |name: &str| self.token.is_some() || is_among(name, &self.hosts);
        if !host.is_some_and(known) || line.is_some_and(|line| !known(line)) {
            let port = self.port;
            let message =
                format!("attnscope answers only on this machine, under its own name; open http://localhost:{port}/");
            return Err(Error::new(StatusCode::MISDIRECTED_REQUEST, message));
        }
        let changes = !matches!(*request.method(), Method::GET | Method::HEAD);
        let foreign = match only(request.headers(), ORIGIN) {
            Some(Some(origin)) if self.token.is_some() => !origin
                .strip_prefix("http://")
                .zip(host)
                .is_some_and(|(origin, host)| origin.eq_ignore_ascii_case(host)),
            Some(Some(origin)) => !is_among(origin, &self.origins),
            Some(None) => true,
            None => false,
        };
        if changes && foreign {
            return Err(Error::new(
                StatusCode::FORBIDDEN,
                "attnscope takes requests from its own page only, not from other sites",
            ));
        }
        self.token.as_ref().map_or(Ok(None), |token| token.check(request))
    }
}

/// Lets a request through if it is the own page's, or no page's at all.
pub(crate) async fn guard(State(names): State<Arc<Names>>, request: Request, next: Next) -> Result<Response, Error> {
    match names.check(&request)? {
        Some(answer) => Ok(answer),
        None => Ok(next.run(request).await),
    }
}

/// The value of a header: none if it is missing, an empty one if it is there twice or is no text.
fn only(headers: &HeaderMap, name: HeaderName) -> Option<Option<&str>> {
    let mut values = headers.get_all(name).iter();
    let first = values.next()?;
    Some(if values.next().is_none() { first.to_str().ok() } else { None })
}

fn is_among(name: &str, names: &[String]) -> bool {
    names.iter().any(|own| own.eq_ignore_ascii_case(name))
}
