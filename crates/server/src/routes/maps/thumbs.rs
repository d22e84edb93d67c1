use std::sync::Arc;

use attnscope_inspect::{Pick, Rectangle, SiteKind, Trace, Wanted};
use axum::extract::State;
use axum::response::Response;
use serde::Deserialize;

use super::{bytes, push, sizes};
use crate::app::App;
use crate::error::Error;
use crate::extract::{Asked, Of};
use crate::routes::statistics::sites;

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
        app.lanes.long(&waiting, |wanted| all(&kept.trace, site, layer, size, wanted))
    })
    .await
}

fn all(trace: &Trace, kind: SiteKind, layer: Option<usize>, size: usize, wanted: Wanted) -> Result<Vec<u8>, Error> {
    let sites = sites(trace, kind, layer)?;
    // One size for all: what the shortest text allows.
    let side = sites.iter().map(|site| site.q_len().min(site.kv_len())).fold(size, usize::min);
    let mut bytes = sizes(sites.iter().map(|site| site.q_heads()).sum(), side);
    for site in sites {
        let whole = Rectangle { queries: 0..site.q_len(), keys: 0..site.kv_len(), rows: side, columns: side };
        for head in 0..site.q_heads() {
            let pooled = trace.picked_pooled(kind, site.layer, Pick::Head(head), &whole, wanted)?;
            push(&mut bytes, &pooled.max)?;
        }
    }
    Ok(bytes)
}
