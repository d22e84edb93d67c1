use attnscope_inspect::{Pick, SiteKind};
use axum::response::Response;
use serde::Deserialize;

use super::{bytes, push};
use crate::error::Error;
use crate::extract::{Asked, Of};

/// The most cells of one tile, 512 x 512 of them: a mebibyte.
const TILE: usize = 512 * 512;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OneTile {
    #[serde(default)]
    site: SiteKind,
    layer: usize,
    head: Pick,
    q0: usize,
    q1: usize,
    k0: usize,
    k1: usize,
}

/// `GET /api/traces/{id}/tile`: f32, one row of keys after another.
pub(crate) async fn tile(Of(kept): Of, Asked(asked): Asked<OneTile>) -> Result<Response, Error> {
    let OneTile { site, layer, head, q0, q1, k0, k1 } = asked;
    if q1.saturating_sub(q0).saturating_mul(k1.saturating_sub(k0)) > TILE {
        return Err(Error::bad_request("a tile has at most 512 x 512 cells; ask for a smaller one"));
    }
    bytes(move || {
        let mut bytes = Vec::new();
        push(&mut bytes, &kept.trace.picked_tile(site, layer, head, q0..q1, k0..k1)?.cells)?;
        Ok(bytes)
    })
    .await
}
