//! Which address leads where, and what every request passes on its way.

mod page;
mod questions;
mod sources;
mod statistics;
mod traces;
mod worked;

use std::sync::Arc;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde::Serialize;

use crate::app::App;
use crate::error::Error;
use crate::guard::{Names, guard};
use crate::headers::headers;
use crate::limits;
use crate::work::blocking;

pub(crate) fn router(app: Arc<App>, port: u16) -> Router {
    let cheap = Router::new()
        .route("/", get(page::index))
        .route("/ui/{*path}", get(page::file))
        .route("/api/health", get(sources::health))
        .route("/api/sources", get(sources::list))
        .route("/api/traces/{id}", get(traces::meta))
        .route("/api/traces/{id}/cell", get(questions::cell))
        .route("/api/traces/{id}/row", get(questions::row))
        .route("/api/traces/{id}/tile", get(questions::tile))
        .route("/api/traces/{id}/values", get(questions::values))
        .route("/api/traces/{id}/worked", get(worked::worked))
        .route_layer(from_fn(limits::in_time));
    let costly =
        Router::new().route("/api/traces", post(traces::make)).route("/api/traces/{id}/heads", get(statistics::heads));
    cheap
        .merge(costly)
        .fallback(nowhere)
        .method_not_allowed_fallback(wrong_method)
        // From the inside out.
        .layer(DefaultBodyLimit::max(limits::BODY))
        .layer(from_fn_with_state(Arc::new(Names::new(port)), guard))
        .layer(from_fn(limits::whole))
        .layer(from_fn(headers))
        .with_state(app)
}

/// An answer in JSON, worked out and written down on a thread that may block.
async fn json<T, W>(work: W) -> Result<Response, Error>
where
    T: Serialize,
    W: FnOnce() -> Result<T, Error> + Send + 'static,
{
    let write = |answer: T| {
        serde_json::to_vec(&answer).map_err(|error| {
            tracing::error!(%error, "an answer could not be written");
            Error::broken()
        })
    };
    let bytes = blocking(move || work().and_then(write)).await?;
    Ok(([(CONTENT_TYPE, "application/json")], bytes).into_response())
}

async fn nowhere(request: Request) -> Error {
    Error::not_found(format!("there is nothing at {}", request.uri().path()))
}

async fn wrong_method(request: Request) -> Error {
    let (method, path) = (request.method(), request.uri().path());
    Error::new(StatusCode::METHOD_NOT_ALLOWED, format!("{path} does not answer to {method}"))
}
