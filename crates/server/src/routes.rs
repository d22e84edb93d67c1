//! Which address leads where, and what every request passes on its way.

mod export;
mod lesson;
mod maps;
mod openapi;
mod packed;
mod page;
mod questions;
mod scratch;
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
use axum::routing::{MethodRouter, get, post};
use serde::Serialize;

use crate::app::App;
use crate::error::Error;
use crate::guard::{Names, guard};
use crate::headers::headers;
use crate::limits;
use crate::work::blocking;

/// An address and who answers there. `openapi.json` describes each; a test holds it to that.
type Route = (&'static str, MethodRouter<Arc<App>>);

/// Where an answer costs little, and is given up if it does not come soon.
fn cheap() -> Vec<Route> {
    vec![
        ("/", get(page::index)),
        ("/ui/{*path}", get(page::file)),
        ("/api/openapi.json", get(openapi::description)),
        ("/api/health", get(sources::health)),
        ("/api/sources", get(sources::list)),
        ("/api/runs/{name}", get(traces::standing)),
        ("/api/traces/{id}", get(traces::meta)),
        ("/api/traces/{id}/cell", get(questions::cell)),
        ("/api/traces/{id}/row", get(questions::row)),
        ("/api/traces/{id}/column", get(questions::column)),
        ("/api/traces/{id}/values", get(questions::values)),
        ("/api/traces/{id}/tile", get(maps::tile)),
        ("/api/traces/{id}/pooled", get(maps::pooled)),
        ("/api/traces/{id}/worked", get(worked::worked)),
        ("/api/scratch/example", post(scratch::example)),
        ("/api/scratch/gradient", post(scratch::gradient)),
        ("/api/scratch/scale", get(scratch::scale)),
    ]
}

/// Where an answer may take as long as a model or a long text needs.
fn costly() -> Vec<Route> {
    vec![
        ("/api/traces", post(traces::make)),
        ("/api/traces/{id}/heads", get(statistics::heads)),
        ("/api/traces/{id}/thumbs", get(maps::thumbs)),
        ("/api/traces/{id}/export", get(export::export)),
        ("/api/scratch/bill", get(scratch::bill)),
        ("/api/lesson/words", post(lesson::words)),
        ("/api/lesson/cut", post(lesson::cut)),
        ("/api/lesson/cache", post(lesson::cache)),
    ]
}

pub(crate) fn router(app: Arc<App>, port: u16, token: Option<String>) -> Router {
    let all = |routes: Vec<Route>| {
        routes.into_iter().fold(Router::new(), |router, (path, answer)| router.route(path, answer))
    };
    all(cheap())
        .route_layer(from_fn(limits::in_time))
        .merge(all(costly()))
        .fallback(nowhere)
        .method_not_allowed_fallback(wrong_method)
        // From the inside out.
        .layer(DefaultBodyLimit::max(limits::BODY))
        .layer(from_fn_with_state(Arc::new(Names::new(port, token)), guard))
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
