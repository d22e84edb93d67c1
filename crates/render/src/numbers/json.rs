use attnscope_inspect::{Pick, SiteKind, Token};
use serde::Serialize;

use super::Grid;

/// A rectangle of a map, in the shape that `attnscope show --json` gives, with where it lies. Hidden cells are null.
#[derive(Serialize)]
struct Map<'a> {
    model: &'a str,
    text: &'a str,
    layer: usize,
    head: Pick,
    site: SiteKind,
    /// [first, one after the last].
    queries: [usize; 2],
    keys: [usize; 2],
    /// Of the queries.
    tokens: &'a [Token],
    /// Of the keys, where they are of another text than the queries.
    #[serde(skip_serializing_if = "Option::is_none")]
    key_tokens: Option<&'a [Token]>,
    weights: Vec<Vec<Option<f64>>>,
}

pub(crate) fn map_json(grid: &Grid) -> Result<Vec<u8>, serde_json::Error> {
    let (queries, keys) = (&grid.queries, &grid.keys);
    document(&Map {
        model: &grid.trace.model.name,
        text: &grid.trace.text,
        layer: grid.place.layer,
        head: grid.place.head,
        site: grid.place.site,
        queries: [queries.start, queries.end],
        keys: [keys.start, keys.end],
        tokens: grid.trace.query_tokens(grid.place.site),
        key_tokens: (grid.place.site == SiteKind::Cross).then(|| grid.trace.key_tokens(grid.place.site)),
        weights: grid.rows().map(|(_, cells)| cells.map(Result::ok).collect()).collect(),
    })
}

/// One JSON document, a line.
pub(crate) fn document(value: &impl Serialize) -> Result<Vec<u8>, serde_json::Error> {
    let mut json = serde_json::to_vec(value)?;
    json.push(b'\n');
    Ok(json)
}
