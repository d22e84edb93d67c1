use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Serialize;

/// A refusal, as the page shows it: a status and one or two sentences (what, where, what to do).
#[derive(Debug)]
pub(crate) struct Error {
    pub(crate) status: StatusCode,
    pub(crate) message: String,
}

#[derive(Serialize)]
struct Body {
    error: String,
}

impl Error {
    pub(crate) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, message: message.into() }
    }

    pub(crate) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, message)
    }

    pub(crate) fn not_found(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, message)
    }

    /// A panic. What it said was logged, and means nothing to whoever reads the page.
    pub(crate) fn broken() -> Self {
        let message =
            "attnscope failed at this request, which is a bug; its standard error says more. Other requests still work";
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, message)
    }
}

impl IntoResponse for Error {
    fn into_response(self) -> Response {
        (self.status, Json(Body { error: self.message })).into_response()
    }
}

impl From<attnscope_inspect::Error> for Error {
    fn from(error: attnscope_inspect::Error) -> Self {
        use attnscope_inspect::Error as Inspect;
        let status = match error {
            // What was opened is broken, not what was asked.
            Inspect::NotWanted => StatusCode::SERVICE_UNAVAILABLE,
            Inspect::File { .. } | Inspect::Changed | Inspect::Site { .. } => StatusCode::INTERNAL_SERVER_ERROR,
            _ => StatusCode::BAD_REQUEST,
        };
        Self::new(status, error.to_string())
    }
}

impl From<attnscope_render::Error> for Error {
    fn from(error: attnscope_render::Error) -> Self {
        use attnscope_render::Error as Render;
        match error {
            Render::Question(error) => error.into(),
            Render::Write(_) => Self::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()),
            _ => Self::bad_request(error.to_string()),
        }
    }
}

impl From<attnscope_models::Error> for Error {
    fn from(error: attnscope_models::Error) -> Self {
        use attnscope_models::Error as Models;
        let status = match error {
            Models::Inspect(error) => return error.into(),
            Models::Text(_) | Models::TooLong { .. } => StatusCode::BAD_REQUEST,
            Models::Stopped => StatusCode::SERVICE_UNAVAILABLE,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Self::new(status, error.to_string())
    }
}
