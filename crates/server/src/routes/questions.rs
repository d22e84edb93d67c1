//! Questions about one head that cost no more than the rows and columns they name.

use attnscope_inspect::{At, Pick, SiteKind};
use axum::response::Response;
use serde::{Deserialize, Serialize};

use super::json;
use crate::error::Error;
use crate::extract::{Asked, Of};

/// The most keys whose values are given at a time.
const VALUES: usize = 512;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OneCell {
    #[serde(default)]
    site: SiteKind,
    layer: usize,
    head: usize,
    query: usize,
    key: usize,
}

/// `GET /api/traces/{id}/cell`
pub(crate) async fn cell(Of(kept): Of, Asked(asked): Asked<OneCell>) -> Result<Response, Error> {
    let OneCell { site, layer, head, query, key } = asked;
    json(move || Ok(kept.trace.cell(At { site, layer, head }, query, key)?)).await
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OneRow {
    #[serde(default)]
    site: SiteKind,
    layer: usize,
    head: Pick,
    query: usize,
}

/// `GET /api/traces/{id}/row`
pub(crate) async fn row(Of(kept): Of, Asked(asked): Asked<OneRow>) -> Result<Response, Error> {
    let OneRow { site, layer, head, query } = asked;
    json(move || Ok(kept.trace.picked_row(site, layer, head, query)?)).await
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OneColumn {
    #[serde(default)]
    site: SiteKind,
    layer: usize,
    head: Pick,
    key: usize,
}

/// `GET /api/traces/{id}/column`
pub(crate) async fn column(Of(kept): Of, Asked(asked): Asked<OneColumn>) -> Result<Response, Error> {
    let OneColumn { site, layer, head, key } = asked;
    json(move || Ok(kept.trace.column(site, layer, head, key)?)).await
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OneHead {
    #[serde(default)]
    site: SiteKind,
    layer: usize,
    head: usize,
}

#[derive(Serialize)]
struct Values {
    v: Vec<Vec<f32>>,
}

/// `GET /api/traces/{id}/values`
pub(crate) async fn values(Of(kept): Of, Asked(asked): Asked<OneHead>) -> Result<Response, Error> {
    let OneHead { site, layer, head } = asked;
    json(move || {
        let values = kept.trace.values(At { site, layer, head })?;
        let len = values.len();
        if len > VALUES {
            let message =
                format!("values are given for up to {VALUES} keys, and here are {len}; ask for a cell instead");
            return Err(Error::bad_request(message));
        }
        Ok(Values { v: values.into_iter().map(<[f32]>::to_vec).collect() })
    })
    .await
}
