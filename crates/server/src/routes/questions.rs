//! Questions about one head that cost no more than the rows and columns they name.

use attnscope_inspect::{At, Cell, SiteKind};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};

use super::json;
use crate::error::Error;
use crate::extract::{Asked, Of};
use crate::work::blocking;

/// The most cells of one tile, 512 x 512 of them: a mebibyte.
const TILE: usize = 512 * 512;
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

/// A cell as it is told, with the terms of a score that the kernel has not learned yet.
#[derive(Serialize)]
struct WholeCell {
    #[serde(flatten)]
    cell: Cell,
    softcap: Option<f32>,
    bias: f32,
}

/// `GET /api/traces/{id}/cell`
pub(crate) async fn cell(Of(kept): Of, Asked(asked): Asked<OneCell>) -> Result<Response, Error> {
    let OneCell { site, layer, head, query, key } = asked;
    json(move || {
        Ok(WholeCell { cell: kept.trace.cell(At { site, layer, head }, query, key)?, softcap: None, bias: 0.0 })
    })
    .await
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OneRow {
    #[serde(default)]
    site: SiteKind,
    layer: usize,
    head: usize,
    query: usize,
}

/// `GET /api/traces/{id}/row`
pub(crate) async fn row(Of(kept): Of, Asked(asked): Asked<OneRow>) -> Result<Response, Error> {
    let OneRow { site, layer, head, query } = asked;
    json(move || Ok(kept.trace.row(At { site, layer, head }, query)?)).await
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OneTile {
    #[serde(default)]
    site: SiteKind,
    layer: usize,
    head: usize,
    q0: usize,
    q1: usize,
    k0: usize,
    k1: usize,
}

/// `GET /api/traces/{id}/tile`: little-endian f32, one row of keys after another.
pub(crate) async fn tile(Of(kept): Of, Asked(asked): Asked<OneTile>) -> Result<Response, Error> {
    let OneTile { site, layer, head, q0, q1, k0, k1 } = asked;
    if q1.saturating_sub(q0).saturating_mul(k1.saturating_sub(k0)) > TILE {
        return Err(Error::bad_request("a tile has at most 512 x 512 cells; ask for a smaller one"));
    }
    let bytes = blocking(move || {
        let cells = kept.trace.tile(At { site, layer, head }, q0..q1, k0..k1)?.cells;
        if cells.iter().any(|cell| cell.is_nan()) {
            return Err(Error::new(
                StatusCode::INTERNAL_SERVER_ERROR,
                "some weights of this tile are not numbers, or hidden for a reason that the page does not know",
            ));
        }
        Ok(cells.iter().flat_map(|cell| cell.to_le_bytes()).collect::<Vec<u8>>())
    })
    .await?;
    Ok(([(CONTENT_TYPE, "application/octet-stream")], bytes).into_response())
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
        let site = kept.trace.site(site, layer)?;
        let (len, heads) = (site.kv_len(), site.q_heads());
        if head >= heads {
            let range = format!("the layer has {heads} heads, 0 to {}", heads.saturating_sub(1));
            return Err(attnscope_inspect::Error::OutOfRange { what: "head", got: head, range }.into());
        }
        if len > VALUES {
            let message =
                format!("values are given for up to {VALUES} keys, and here are {len}; ask for a cell instead");
            return Err(Error::bad_request(message));
        }
        let (kv_heads, kv_head, dim) = (site.kv_heads(), site.kv_head(head), site.v_head_dim());
        let value = |key: usize| site.v.data[(key * kv_heads + kv_head) * dim..][..dim].to_vec();
        Ok(Values { v: (0..len).map(value).collect() })
    })
    .await
}
