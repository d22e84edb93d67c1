//! The page itself, embedded.

use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use rust_embed::RustEmbed;

use crate::error::Error;
use crate::extract::Named;

/// The repository's `ui/`.
#[derive(RustEmbed)]
#[folder = "../../ui"]
struct Ui;

/// `GET /`
pub(crate) async fn index() -> Result<Response, Error> {
    embedded("index.html")
}

/// `GET /ui/{path}`
pub(crate) async fn file(Named(path): Named) -> Result<Response, Error> {
    embedded(&path)
}

fn embedded(path: &str) -> Result<Response, Error> {
    let nothing = || Error::not_found(format!("the page has no file {path:?}"));
    // What has no type here, such as the type checker's settings, is no part of the page.
    let kind = content_type(path).ok_or_else(nothing)?;
    let file = Ui::get(path).ok_or_else(nothing)?;
    Ok(([(CONTENT_TYPE, kind)], file.data).into_response())
}

fn content_type(path: &str) -> Option<&'static str> {
    Some(match path.rsplit_once('.')?.1 {
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "woff2" => "font/woff2",
        _ => return None,
    })
}
