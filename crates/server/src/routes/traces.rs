//! Making a trace, and what is told of one.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};

use crate::app::App;
use crate::error::Error;
use crate::extract::{Of, Told};
use crate::meta::Meta;
use crate::runs;

/// `POST /api/traces`
pub(crate) async fn make(State(app): State<Arc<App>>, Told(wanted): Told<runs::Request>) -> Result<Response, Error> {
    let kept = runs::make(app, wanted).await?;
    Ok(Json(Meta::of(&kept)).into_response())
}

/// `GET /api/traces/{id}`
pub(crate) async fn meta(Of(kept): Of) -> Response {
    Json(Meta::of(&kept)).into_response()
}
