//! What each head does, in a few numbers: every weight is looked at once, so this takes its time on long texts.

use std::sync::Arc;

use attnscope_inspect::{HeadStats, Site, SiteKind, Trace, Wanted};
use axum::extract::State;
use axum::response::Response;
use serde::Deserialize;

use super::json;
use crate::app::App;
use crate::error::Error;
use crate::extract::{Asked, Of};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Layers {
    #[serde(default)]
    site: SiteKind,
    /// None is all of them.
    layer: Option<usize>,
}

/// `GET /api/traces/{id}/heads`
pub(crate) async fn heads(
    State(app): State<Arc<App>>,
    Of(kept): Of,
    Asked(Layers { site, layer }): Asked<Layers>,
) -> Result<Response, Error> {
    let asker = app.asker();
    let turn = app.statistics().await?;
    let waiting = asker.waiting();
    json(move || {
        let _turn = turn;
        app.lanes.long(&waiting, |wanted| statistics(&kept.trace, site, layer, wanted))
    })
    .await
}

/// Layer after layer, for as long as it is wanted.
fn statistics(trace: &Trace, kind: SiteKind, layer: Option<usize>, wanted: Wanted) -> Result<Vec<HeadStats>, Error> {
    let mut all = Vec::new();
    for site in sites(trace, kind, layer)? {
        let heads = trace.heads_with(Some(site.layer), wanted, |_| {})?;
        all.extend(heads.into_iter().filter(|head| head.site == kind));
    }
    Ok(all)
}

/// One attention of one layer, or of every layer.
///
/// # Errors
/// If there is none.
pub(super) fn sites(trace: &Trace, kind: SiteKind, layer: Option<usize>) -> Result<Vec<&Site>, Error> {
    if let Some(layer) = layer {
        return Ok(vec![trace.site(kind, layer)?]);
    }
    let sites: Vec<&Site> = trace.sites.iter().filter(|site| site.kind == kind).collect();
    if sites.is_empty() { Err(trace.no_site(kind).into()) } else { Ok(sites) }
}
