//! Maps as bytes: little-endian numbers, so that a page draws them as they come.

mod pooled;
mod thumbs;
mod tile;

pub(super) use pooled::pooled;
pub(super) use thumbs::thumbs;
pub(super) use tile::tile;

use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};

use crate::error::Error;
use crate::work::blocking;

/// An answer in bytes, worked out on a thread that may block.
async fn bytes(work: impl FnOnce() -> Result<Vec<u8>, Error> + Send + 'static) -> Result<Response, Error> {
    Ok(([(CONTENT_TYPE, "application/octet-stream")], blocking(work).await?).into_response())
}

/// Two sizes, as u32, which come before the cells that they measure.
fn sizes(a: usize, b: usize) -> Vec<u8> {
    [a, b].into_iter().flat_map(|n| (n as u32).to_le_bytes()).collect()
}

fn push(bytes: &mut Vec<u8>, cells: &[f32]) -> Result<(), Error> {
    if cells.iter().any(|cell| cell.is_nan()) {
        return Err(Error::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "some weights of this map are not numbers, or hidden for a reason that the page does not know",
        ));
    }
    bytes.extend(cells.iter().flat_map(|cell| cell.to_le_bytes()));
    Ok(())
}
