use std::sync::Arc;

use attnscope_inspect::{Pick, Rectangle, SiteKind};
use axum::extract::State;
use axum::response::Response;
use serde::Deserialize;

use super::{bytes, push, sizes};
use crate::app::App;
use crate::error::Error;
use crate::extract::{Asked, Of};

/// The most pixels of a pooled map, down or across.
const PIXELS: usize = 1024;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OnePooled {
    #[serde(default)]
    site: SiteKind,
    layer: usize,
    head: Pick,
    q0: usize,
    q1: usize,
    k0: usize,
    k1: usize,
    rows: usize,
    columns: usize,
}

/// `GET /api/traces/{id}/pooled`: u32 rows, u32 columns, then rows x columns f32 of the largest weights, then as many
/// of the mean ones.
pub(crate) async fn pooled(
    State(app): State<Arc<App>>,
    Of(kept): Of,
    Asked(asked): Asked<OnePooled>,
) -> Result<Response, Error> {
    let OnePooled { site, layer, head, q0, q1, k0, k1, rows, columns } = asked;
    if !(1..=PIXELS).contains(&rows) || !(1..=PIXELS).contains(&columns) {
        return Err(Error::bad_request(format!("rows and columns must be 1 to {PIXELS}")));
    }
    let rectangle = Rectangle { queries: q0..q1, keys: k0..k1, rows, columns };
    let asker = app.asker();
    let waiting = asker.waiting();
    bytes(move || {
        let pooled =
            app.lanes.quick(&waiting, |wanted| kept.trace.picked_pooled(site, layer, head, &rectangle, wanted))?;
        let mut bytes = sizes(pooled.rows, pooled.columns);
        push(&mut bytes, &pooled.max)?;
        push(&mut bytes, &pooled.mean)?;
        Ok(bytes)
    })
    .await
}
