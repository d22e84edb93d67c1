use attnscope_inspect::lesson;
use axum::response::Response;
use serde::Deserialize;

use crate::error::Error;
use crate::extract::Told;
use crate::routes::json;

/// The most scores of one row whose gradient is given: n x n numbers.
const SCORES: usize = 64;
/// Nothing that the lesson shows is beyond; with larger ones, f32 could no longer tell neighbours apart.
const LARGEST: f32 = 1e6;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Scores {
    scores: Vec<f32>,
}

/// `POST /api/scratch/gradient`
pub(crate) async fn gradient(Told(Scores { scores }): Told<Scores>) -> Result<Response, Error> {
    if !(1..=SCORES).contains(&scores.len()) || scores.iter().any(|score| score.abs() > LARGEST) {
        return Err(Error::bad_request(format!("scores must be 1 to {SCORES} numbers between -1e6 and 1e6")));
    }
    json(move || Ok(lesson::gradient(&scores)?)).await
}
