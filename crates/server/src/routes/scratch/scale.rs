use attnscope_inspect::lesson::{self, ScalePoint};
use axum::response::Response;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::extract::Asked;
use crate::routes::json;

/// The most rows that are drawn at a time.
const SAMPLES: usize = 2_000;
/// The most keys of a row.
const KEYS: usize = 64;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Drawn {
    seed: u64,
    samples: usize,
    keys: usize,
}

impl Default for Drawn {
    fn default() -> Self {
        Self { seed: 0, samples: 400, keys: 16 }
    }
}

#[derive(Serialize)]
struct Points {
    points: Vec<ScalePoint>,
    seed: u64,
    samples: usize,
    keys: usize,
}

/// `GET /api/scratch/scale`
pub(crate) async fn scale(Asked(Drawn { seed, samples, keys }): Asked<Drawn>) -> Result<Response, Error> {
    if !(1..=SAMPLES).contains(&samples) || !(1..=KEYS).contains(&keys) {
        return Err(Error::bad_request(format!("samples must be 1 to {SAMPLES}, and keys 1 to {KEYS}")));
    }
    json(move || Ok(Points { points: lesson::scale(seed, samples, keys)?, seed, samples, keys })).await
}
