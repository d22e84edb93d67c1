//! A server that other machines may reach answers only to whoever knows its token.
//!
//! The address that the command line prints carries the token; opening it leaves a cookie, and the page goes on
//! without it in sight. Programs send `Authorization: Bearer TOKEN`. Two servers on one machine share its cookies,
//! so the cookie is named for the port.

use axum::extract::Request;
use axum::http::header::{AUTHORIZATION, CACHE_CONTROL, COOKIE, LOCATION, SET_COOKIE};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::{IntoResponse, Response};

use crate::error::Error;

/// The secret of one run of the server.
pub(crate) struct Token {
    token: String,
    /// The cookie's name.
    cookie: String,
}

impl Token {
    pub(crate) fn new(token: String, port: u16) -> Self {
        Self { token, cookie: format!("attnscope-{port}") }
    }

    /// Lets a request through that knows the token; answers one that brings it in its address itself.
    ///
    /// # Errors
    /// If the request does not know it.
    pub(crate) fn check(&self, request: &Request) -> Result<Option<Response>, Error> {
        if self.in_headers(request.headers()) {
            return Ok(None);
        }
        let query = request.uri().query().unwrap_or_default();
        let brought = query.split('&').filter_map(|part| part.strip_prefix("token=")).any(|token| self.is(token));
        let reads = matches!(*request.method(), Method::GET | Method::HEAD);
        if brought && reads && request.uri().path() == "/" {
            let Self { token, cookie } = self;
            let cookie = format!("{cookie}={token}; Path=/; HttpOnly; SameSite=Strict");
            let headers = [(LOCATION, "/".to_owned()), (SET_COOKIE, cookie), (CACHE_CONTROL, "no-store".to_owned())];
            let answer = (StatusCode::SEE_OTHER, headers);
            return Ok(Some(answer.into_response()));
        }
        let message = "this inspector asks for its token; open the whole address that `attnscope view` printed";
        Err(Error::new(StatusCode::UNAUTHORIZED, message))
    }

    fn in_headers(&self, headers: &HeaderMap) -> bool {
        let texts = |name| headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
        let mut cookies = texts(COOKIE).flat_map(|cookies| cookies.split(';')).filter_map(|one| one.split_once('='));
        let mut bearers = texts(AUTHORIZATION).filter_map(|value| value.split_once(' '));
        cookies.any(|(name, token)| name.trim() == self.cookie && self.is(token.trim()))
            || bearers.any(|(scheme, token)| scheme.eq_ignore_ascii_case("bearer") && self.is(token.trim()))
    }

    /// Takes as long for a wrong token as for the right one.
    fn is(&self, token: &str) -> bool {
        let differences = self.token.bytes().zip(token.bytes()).fold(0, |all, (a, b)| all | (a ^ b));
        self.token.len() == token.len() && differences == 0
    }
}
