//! Questions about one head that cost no more than the rows and columns they name.

use std::mem::take;

use attnscope_inspect::{At, Pick, SiteKind};
use axum::response::Response;
use serde::{Deserialize, Serialize};

use super::json;
use super::packed::{Weights, packed};
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
    #[serde(default)]
    packed: bool,
}

/// `GET /api/traces/{id}/row`
pub(crate) async fn row(Of(kept): Of, Asked(asked): Asked<OneRow>) -> Result<Response, Error> {
    let OneRow { site, layer, head, query, packed: short } = asked;
    let row = move || Ok::<_, Error>(kept.trace.picked_row(site, layer, head, query)?);
    if !short {
        return json(row).await;
    }
    packed(move || {
        let mut row = row()?;
        let weights = Weights { weights: take(&mut row.weights), mask: take(&mut row.mask) };
        row.scores = None;
        Ok((row, weights))
    })
    .await
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OneColumn {
    #[serde(default)]
    site: SiteKind,
    layer: usize,
    head: Pick,
    key: usize,
    #[serde(default)]
    packed: bool,
}

/// `GET /api/traces/{id}/column`
pub(crate) async fn column(Of(kept): Of, Asked(asked): Asked<OneColumn>) -> Result<Response, Error> {
    let OneColumn { site, layer, head, key, packed: short } = asked;
    let column = move || Ok::<_, Error>(kept.trace.column(site, layer, head, key)?);
    if !short {
        return json(column).await;
    }
    packed(move || {
        let mut column = column()?;
        let weights = Weights { weights: take(&mut column.weights), mask: take(&mut column.mask) };
        Ok((column, weights))
    })
    .await
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
