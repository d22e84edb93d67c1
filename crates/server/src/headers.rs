//! What a browser may do with an answer, said with every one of them.

use axum::extract::Request;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, HeaderName, HeaderValue, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use axum::middleware::Next;
use axum::response::Response;

/// Scripts, styles and data come from this server alone, and nothing written in the page itself is run: a token or
/// a file name that looks like HTML stays text even if the page has a fault.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; \
                      connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const ALWAYS: [(HeaderName, HeaderValue); 5] = [
    (CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY)),
    (X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    (REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
    (HeaderName::from_static("cross-origin-resource-policy"), HeaderValue::from_static("same-origin")),
    (HeaderName::from_static("cross-origin-opener-policy"), HeaderValue::from_static("same-origin")),
];

/// Adds them, where an answer does not say otherwise itself.
pub(crate) async fn headers(request: Request, next: Next) -> Response {
    // The page changes with the program, so it is asked for again each time; answers are about this run only.
    let cache = if request.uri().path().starts_with("/api") { "no-store" } else { "no-cache" };
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    for (name, value) in ALWAYS.into_iter().chain([(CACHE_CONTROL, HeaderValue::from_static(cache))]) {
        headers.entry(name).or_insert(value);
    }
    response
}
