//! axum's extractors, with their refusals in the words and the shape of every other error.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::rejection::JsonRejection;
use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use axum::http::StatusCode;
use axum::http::request::Parts;
use serde::de::DeserializeOwned;

use crate::app::App;
use crate::error::Error;
use crate::limits::BODY as BODY_LIMIT;
use crate::shelf::Kept;

/// A body of at most a mebibyte that is still not here after this long is given up.
const BODY: Duration = Duration::from_secs(10);

/// The query string.
pub(crate) struct Asked<T>(pub(crate) T);

/// The JSON body.
pub(crate) struct Told<T>(pub(crate) T);

/// The one thing that the path names.
pub(crate) struct Named(pub(crate) String);

/// The trace whose id is in the path.
pub(crate) struct Of(pub(crate) Arc<Kept>);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Asked<T> {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Error> {
        match Query::from_request_parts(parts, state).await {
            Ok(Query(asked)) => Ok(Self(asked)),
            Err(rejection) => Err(Error::bad_request(rejection.body_text())),
        }
    }
}

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Told<T> {
    type Rejection = Error;

    async fn from_request(request: Request, state: &S) -> Result<Self, Error> {
        match tokio::time::timeout(BODY, Json::from_request(request, state)).await {
            Ok(Ok(Json(told))) => Ok(Self(told)),
            Ok(Err(rejection)) => Err(untold(&rejection)),
            Err(_) => Err(Error::new(StatusCode::REQUEST_TIMEOUT, "the request's body did not arrive; send it again")),
        }
    }
}

/// Why a body was refused: what, where, and what to do.
fn untold(rejection: &JsonRejection) -> Error {
    let whole = rejection.body_text();
    // After axum's own words, what the parser found and where.
    let found = whole.split_once(": ").map_or(whole.as_str(), |(_, found)| found);
    match rejection {
        // axum tells JSON that does not parse from JSON that does not fit; here both are a bad request.
        JsonRejection::JsonDataError(_) => Error::bad_request(format!(
            "the request's body is not what is asked for here: {found}; /api/openapi.json says what is"
        )),
        JsonRejection::JsonSyntaxError(_) => {
            Error::bad_request(format!("the request's body is no JSON: {found}; send one JSON object"))
        }
        JsonRejection::MissingJsonContentType(_) => Error::new(
            rejection.status(),
            "the request's body is not said to be JSON; send it with the header content-type: application/json",
        ),
        _ if rejection.status() == StatusCode::PAYLOAD_TOO_LARGE => Error::new(
            rejection.status(),
            format!("the request's body is larger than {BODY_LIMIT} bytes (1 MiB); give a shorter text"),
        ),
        _ => Error::new(rejection.status(), format!("the request's body did not arrive whole: {found}; send it again")),
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Named {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Error> {
        match Path::from_request_parts(parts, state).await {
            Ok(Path(name)) => Ok(Self(name)),
            Err(rejection) => Err(Error::new(rejection.status(), rejection.body_text())),
        }
    }
}

impl FromRequestParts<Arc<App>> for Of {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Error> {
        let Named(id) = Named::from_request_parts(parts, app).await?;
        let forgotten = || Error::not_found(format!("there is no trace {id:?}, or no longer; run its text again"));
        app.shelf.get(&id).map(Self).ok_or_else(forgotten)
    }
}
