//! A row or a column as the page reads it: what is said about it in JSON, its numbers in bytes. In JSON alone a row of
//! 8,192 keys is 375 kB, most of which is digits and the word null.

use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use crate::error::Error;
use crate::work::blocking;

/// Reasons for which a cell is hidden; the first is -1, the second -2, and so on, as in a tile.
const REASONS: [&str; 5] = ["future", "outside_window", "padding", "other_segment", "knocked_out"];

/// A weight each, and why it is hidden.
pub(super) struct Weights {
    pub(super) weights: Vec<f64>,
    pub(super) mask: Vec<Option<&'static str>>,
}

/// Two u32, the length of the JSON and the number of weights; the JSON, with spaces up to a multiple of 8; the weights
/// as f64, or where hidden the negative number that says why. All little-endian.
pub(super) async fn packed<T, W>(work: W) -> Result<Response, Error>
where
    T: Serialize,
    W: FnOnce() -> Result<(T, Weights), Error> + Send + 'static,
{
    let bytes = blocking(move || work().and_then(|(about, weights)| pack(&about, &weights))).await?;
    Ok(([(CONTENT_TYPE, "application/octet-stream")], bytes).into_response())
}

fn pack(about: &impl Serialize, Weights { weights, mask }: &Weights) -> Result<Vec<u8>, Error> {
    let mut json = serde_json::to_vec(about).map_err(|error| {
        tracing::error!(%error, "an answer could not be written");
        Error::broken()
    })?;
    json.resize(json.len().next_multiple_of(8), b' ');
    let mut bytes = Vec::with_capacity(8 + json.len() + 8 * weights.len());
    bytes.extend([json.len(), weights.len()].into_iter().flat_map(|n| (n as u32).to_le_bytes()));
    bytes.extend(json);
    for (weight, hidden) in weights.iter().zip(mask) {
        let number = hidden.map_or(Some(*weight), code).ok_or_else(unknown)?;
        bytes.extend(number.to_le_bytes());
    }
    Ok(bytes)
}

fn code(reason: &str) -> Option<f64> {
    REASONS.iter().position(|known| *known == reason).map(|index| -1.0 - index as f64)
}

fn unknown() -> Error {
    Error::new(StatusCode::INTERNAL_SERVER_ERROR, "some weights are hidden for a reason that the page does not know")
}
