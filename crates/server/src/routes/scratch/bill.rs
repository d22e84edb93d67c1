use std::sync::Arc;

use attnscope_inspect::lesson;
use axum::extract::State;
use axum::response::Response;
use serde::Deserialize;

use crate::app::App;
use crate::error::Error;
use crate::extract::Asked;
use crate::routes::json;

/// The longest text whose bill is made: a few seconds.
const LONGEST: usize = 16_384;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Length {
    n: usize,
}

/// `GET /api/scratch/bill`
pub(crate) async fn bill(State(app): State<Arc<App>>, Asked(Length { n }): Asked<Length>) -> Result<Response, Error> {
    if !(1..=LONGEST).contains(&n) {
        return Err(Error::bad_request(format!("n must be 1 to {LONGEST}")));
    }
    // Alone on the machine, as far as this process goes: it is a measurement.
    let turn = app.models.turn(None).await?;
    json(move || {
        let _turn = turn;
        Ok(lesson::bill(n)?)
    })
    .await
}
