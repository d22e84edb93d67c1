//! How long an answer may take, and how badly it may go.

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use axum::extract::Request;
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::error::Error;

/// The largest body of a request, in bytes: a text.
pub(crate) const BODY: usize = 1 << 20;

/// How long a question may take that costs no more than a few rows and columns.
const CHEAP: Duration = Duration::from_secs(30);

/// Gives up on answers that should be quick.
pub(crate) async fn in_time(request: Request, next: Next) -> Result<Response, Error> {
    within(CHEAP, next.run(request)).await
}

async fn within(limit: Duration, answer: impl Future<Output = Response>) -> Result<Response, Error> {
    let late = |_| {
        let seconds = limit.as_secs();
        Error::new(
            StatusCode::SERVICE_UNAVAILABLE,
            format!("no answer in {seconds} s: this machine is busy; ask again"),
        )
    };
    tokio::time::timeout(limit, answer).await.map_err(late)
}

/// Makes an answer of a panic, where it would otherwise cut the connection.
pub(crate) async fn whole(request: Request, next: Next) -> Response {
    let mut answer = pin!(next.run(request));
    // The handler is not polled again after it panicked, so what it left half done is never seen.
    poll_fn(move |context| match catch_unwind(AssertUnwindSafe(|| answer.as_mut().poll(context))) {
        Ok(poll) => poll,
        Err(_) => Poll::Ready(Error::broken().into_response()),
    })
    .await
}

#[cfg(test)]
mod tests {
    use axum::Router;
    use axum::body::Body;
    use axum::middleware::from_fn;
    use axum::routing::get;
    use tower::ServiceExt;

    use super::*;

    async fn panics() -> &'static str {
        panic!("on purpose")
    }

    #[tokio::test]
    async fn a_panic_is_an_answer() {
        let router = Router::new().route("/", get(panics)).layer(from_fn(whole));
        let response = router.oneshot(Request::new(Body::empty())).await.expect("the router answers");
        assert_eq!(response.status(), StatusCode::INTERNAL_SERVER_ERROR);
        assert_eq!(response.headers()["content-type"], "application/json");
    }

    #[tokio::test]
    async fn a_late_answer_is_given_up() {
        let late = within(Duration::from_millis(1), std::future::pending()).await.expect_err("it never comes");
        assert_eq!(late.status, StatusCode::SERVICE_UNAVAILABLE);
        assert!(within(CHEAP, std::future::ready(Response::default())).await.is_ok());
    }
}
