use attnscope_inspect::{MapTile, Pick, SiteKind, Token};
use attnscope_models::Keep;
use attnscope_render::heat_map;
use serde::Serialize;

use super::{read, title};
use crate::args::ShowArgs;
use crate::output::{self, CAVEAT};

/// A whole map. Hidden cells are null.
#[derive(Serialize)]
struct Map<'a> {
    layer: usize,
    head: Pick,
    site: SiteKind,
    /// Of the queries.
    tokens: &'a [Token],
    /// Of the keys, where they are of another text than the queries.
    #[serde(skip_serializing_if = "Option::is_none")]
    key_tokens: Option<&'a [Token]>,
    weights: Vec<Vec<Option<f32>>>,
}

pub(crate) fn run(args: ShowArgs) -> anyhow::Result<()> {
    let trace = read(&args.reading, Keep::Only(args.place.layer), args.place.kind())?;
    let (kind, layer) = (args.place.kind(), args.place.layer);
    let site = trace.site(kind, layer)?;
    let tile = trace.picked_tile(kind, layer, args.head, 0..site.q_len(), 0..site.kv_len())?;
    if args.json {
        let weights = rows(&tile);
        let key_tokens = (kind == SiteKind::Cross).then(|| trace.key_tokens(kind));
        let tokens = trace.query_tokens(kind);
        return output::json(&Map { layer, head: args.head, site: kind, tokens, key_tokens, weights });
    }
    let map = heat_map(&tile, trace.query_tokens(kind), output::columns(), output::colour());
    output::print(&format!("{}\n{map}\n{CAVEAT}\n", title(&trace)))
}

fn rows(tile: &MapTile) -> Vec<Vec<Option<f32>>> {
    let cell = |cell: &f32| (*cell >= 0.0).then_some(*cell);
    tile.cells.chunks(tile.keys.len()).map(|row| row.iter().map(cell).collect()).collect()
}
