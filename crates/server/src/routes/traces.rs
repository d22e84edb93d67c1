//! Making a trace, and what is told of one.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};

use crate::app::App;
use crate::error::Error;
use crate::extract::{Named, Of, Told};
use crate::meta::Meta;
use crate::queue::RunName;
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

/// `GET /api/runs/{name}`: where a run stands that the page gave this name.
pub(crate) async fn standing(State(app): State<Arc<App>>, Named(name): Named) -> Result<Response, Error> {
    let gone = || Error::not_found("there is no such run, or it has ended");
    Ok(Json(RunName::try_from(name).ok().and_then(|name| app.models.standing(&name)).ok_or_else(gone)?).into_response())
}
