use anyhow::bail;
use attnscope_inspect::{At, Pick, Trace};
use attnscope_models::Keep;
use attnscope_render::{Choice, Format, Place, Style, What, export};
use serde::Serialize;

use super::read;
use crate::args::{ExportArgs, Part};
use crate::{files, output};

/// What was written.
#[derive(Serialize)]
struct Written {
    file: String,
    bytes: usize,
    /// What the file leaves out, or null.
    note: Option<String>,
}

pub(crate) fn run(args: ExportArgs) -> anyhow::Result<()> {
    // Before the model runs, which can take a while.
    let format = Format::of(&args.output)?;
    files::folder(&args.output)?;
    let part = part(&args)?;
    let keep = match (part, args.layer) {
        (Part::Heads, None) => Keep::All,
        (_, layer) => Keep::Only(layer.unwrap_or(0)),
    };
    let trace = read(&args.reading, keep)?;
    let made = export(&trace, &what(&args, part, &trace)?, &style(&args), format)?;
    files::write(&args.output, &made.bytes)?;
    let written = Written { file: args.output.display().to_string(), bytes: made.bytes.len(), note: made.note };
    if args.json {
        return output::json(&written);
    }
    let note = written.note.map(|note| format!("; {note}")).unwrap_or_default();
    output::print(&format!("{}: {:.1} kB{note}\n", written.file, written.bytes as f64 / 1e3))
}

/// What is asked for, if not in so many words: a query alone is its row, a key alone its column, both are the cell.
fn part(args: &ExportArgs) -> anyhow::Result<Part> {
    let part = match (args.what, &args.query, &args.key) {
        (Some(part), _, _) => part,
        (None, Some(_), Some(_)) => Part::Cell,
        (None, Some(_), None) => Part::Row,
        (None, None, Some(_)) => Part::Column,
        (None, None, None) => Part::Map,
    };
    let (query, key) = (args.query.is_some(), args.key.is_some());
    match part {
        Part::Row if !query => bail!("a row is of one query; give it with --query"),
        Part::Column if !key => bail!("a column is of one key; give it with --key"),
        Part::Cell if !(query && key) => bail!("a cell is of a query and a key; give both with --query and --key"),
        Part::Row if key => bail!("a row has every key; leave out --key, or export --what cell"),
        Part::Column if query => bail!("a column has every query; leave out --query, or export --what cell"),
        Part::Map | Part::Heads if query || key => {
            bail!("--query and --key are of a row or a cell; a map takes ranges, --queries and --keys")
        }
        Part::Row | Part::Column | Part::Cell | Part::Heads if args.queries.is_some() || args.keys.is_some() => {
            bail!("--queries and --keys are ranges of a map; leave out one or the other")
        }
        part => Ok(part),
    }
}

fn what(args: &ExportArgs, part: Part, trace: &Trace) -> anyhow::Result<What> {
    let (site, layer, head) = (args.site.kind(), args.layer.unwrap_or(0), args.head);
    let place = Place { site, layer, head };
    let query = || trace.find_query(args.query.as_deref().unwrap_or_default());
    let key = || trace.find_key(args.key.as_deref().unwrap_or_default());
    Ok(match part {
        Part::Map => {
            let found = trace.site(site, layer)?;
            let queries = args.queries.as_ref().map(|span| span.within(found.q_len()));
            let keys = args.keys.as_ref().map(|span| span.within(found.kv_len()));
            What::Map { place, queries, keys }
        }
        Part::Row => What::Row { place, query: query()? },
        Part::Column => What::Column { place, key: key()? },
        Part::Cell => {
            let Pick::Head(head) = head else { bail!("a cell is of one head; a mean has no q and k of its own") };
            What::Cell { at: At { site, layer, head }, query: query()?, key: key()? }
        }
        Part::Heads => {
            let choice = Choice { by: args.sort, rising: args.rising, only: args.only.clone() };
            What::Heads { site, layer: args.layer, choice }
        }
    })
}

fn style(args: &ExportArgs) -> Style {
    Style {
        scale: args.scale,
        top: args.range,
        left_out: args.without.clone().unwrap_or_default(),
        blocks: args.blocks,
        palette: args.palette,
        theme: args.theme,
        cell: args.cell_size,
        dpi: args.dpi,
    }
}
