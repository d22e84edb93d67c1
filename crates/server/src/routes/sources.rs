//! What can be looked at, and by what.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Serialize;

use crate::app::App;
use crate::entry::Listing;
use crate::error::Error;
use crate::work::blocking;

#[derive(Serialize)]
pub(crate) struct Health {
    ok: bool,
    version: &'static str,
}

#[derive(Serialize)]
pub(crate) struct Sources {
    sources: Vec<Listing>,
}

/// `GET /api/health`
pub(crate) async fn health() -> Json<Health> {
    Json(Health { ok: true, version: env!("CARGO_PKG_VERSION") })
}

/// `GET /api/sources`
pub(crate) async fn list(State(app): State<Arc<App>>) -> Result<Json<Sources>, Error> {
    blocking(move || Ok(Json(Sources { sources: app.items.iter().map(|item| item.listing()).collect() }))).await
}
