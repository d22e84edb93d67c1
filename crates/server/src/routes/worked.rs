//! The matrices behind the example's q, k and v.

use std::sync::Arc;

use attnscope_models::Source;
use axum::extract::State;
use axum::response::Response;

use super::json;
use crate::app::App;
use crate::error::Error;
use crate::extract::Of;

/// `GET /api/traces/{id}/worked`
pub(crate) async fn worked(State(app): State<Arc<App>>, Of(kept): Of) -> Result<Response, Error> {
    let item = app.item(&kept.wish.source)?.clone();
    json(move || match item.opened() {
        Some(Source::Example(example)) => Ok(example.worked(kept.wish.causal.unwrap_or(false))?),
        _ => Err(Error::not_found(
            "only the worked example has its matrices written out; a cell shows q, k and v of any trace",
        )),
    })
    .await
}
