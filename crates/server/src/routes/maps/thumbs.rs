use std::sync::Arc;

use attnscope_inspect::{At, SiteKind, Trace};
use axum::extract::State;
use axum::response::Response;
use serde::Deserialize;

use super::{bytes, push, sizes};
use crate::app::App;
use crate::error::Error;
use crate::extract::{Asked, Of};
use crate::routes::statistics::sites;
use crate::work::Waiting;

/// The most pixels of a thumbnail, down or across.
const THUMB: usize = 128;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Thumbs {
    #[serde(default)]
    site: SiteKind,
    /// None is all of them.
    layer: Option<usize>,
    size: usize,
}

/// `GET /api/traces/{id}/thumbs`: u32 heads, u32 size, then for each head, layer after layer, size x size f32: the
/// largest weight of each block.
pub(crate) async fn thumbs(
    State(app): State<Arc<App>>,
    Of(kept): Of,
    Asked(Thumbs { site, layer, size }): Asked<Thumbs>,
) -> Result<Response, Error> {
    if !(1..=THUMB).contains(&size) {
        return Err(Error::bad_request(format!("size must be 1 to {THUMB}")));
    }
    let asker = app.asker();
    let turn = app.statistics().await?;
    let waiting = asker.waiting();
    bytes(move || {
        let _turn = turn;
        all(&kept.trace, site, layer, size, &waiting)
    })
    .await
}

fn all(trace: &Trace, kind: SiteKind, layer: Option<usize>, size: usize, waiting: &Waiting) -> Result<Vec<u8>, Error> {
    let sites = sites(trace, kind, layer)?;
    // One size for all: what the shortest text allows.
    let side = sites.iter().map(|site| site.q_len().min(site.kv_len())).fold(size, usize::min);
    let mut bytes = sizes(sites.iter().map(|site| site.q_heads()).sum(), side);
    for site in sites {
        for head in 0..site.q_heads() {
            waiting.check()?;
            let at = At { site: kind, layer: site.layer, head };
            push(&mut bytes, &trace.pooled(at, 0..site.q_len(), 0..site.kv_len(), side, side)?.max)?;
        }
    }
    Ok(bytes)
}
