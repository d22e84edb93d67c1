use anyhow::{anyhow, bail};
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
    files::check(&args.output)?;
    let part = part(&args)?;
    fitting(&args, part, format)?;
    let keep = match (part, args.layer) {
        (Part::Heads, None) => Keep::All,
        (_, layer) => Keep::Only(layer.unwrap_or(0)),
    };
    let trace = read(&args.reading, keep, args.site.kind())?;
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
    let (site, layer, head) = (args.site.kind(), args.layer.unwrap_or(0), args.head.unwrap_or(Pick::Head(0)));
    let place = Place { site, layer, head };
    let query = || trace.find_query(site, args.query.as_deref().unwrap_or_default());
    let key = || trace.find_key(site, args.key.as_deref().unwrap_or_default());
    Ok(match part {
        Part::Map => {
            let found = trace.site(site, layer)?;
            let queries = args.queries.as_ref().map(|span| span.within(found.q_len()));
            let keys = args.keys.as_ref().map(|span| span.within(found.kv_len()));
            if let Some(left_out) = &args.without {
                left_out
                    .check(trace.key_tokens(site), found.kv_len())
                    .map_err(|problem| anyhow!("--without: {problem}"))?;
            }
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
            if let Some(only) = &args.only {
                only.check(trace, site, args.layer).map_err(|problem| anyhow!("--only: {problem}"))?;
            }
            What::Heads { site, layer: args.layer, choice }
        }
    })
}

/// That every option given has something to do: one that would be passed over is an error.
fn fitting(args: &ExportArgs, part: Part, format: Format) -> anyhow::Result<()> {
    let drawn = matches!(format, Format::Png | Format::Svg);
    let picture = drawn || format == Format::Html;
    let (map, heads) = (part == Part::Map, part == Part::Heads);
    // The page of the heads is a table.
    let colours = (map && picture) || (heads && drawn);
    let options = [
        ("--head", args.head.is_some(), !heads, "a map, a row, a column or a cell; of the heads name some with --only"),
        ("--scale", args.scale.is_some(), colours, "pictures of a map or of the heads"),
        ("--palette", args.palette.is_some(), colours, "pictures of a map or of the heads"),
        ("--range", args.range.is_some(), map && picture, "pictures of a map"),
        ("--without", args.without.is_some(), map && picture, "pictures of a map"),
        ("--blocks", args.blocks.is_some(), map && picture, "pictures of a map"),
        ("--cell-size", args.cell_size.is_some(), map && picture, "pictures of a map"),
        ("--sort", args.sort.is_some(), heads && drawn, "pictures of the heads (png or svg, with --what heads)"),
        ("--only", args.only.is_some(), heads && drawn, "pictures of the heads (png or svg, with --what heads)"),
        ("--theme", args.theme.is_some(), picture, "pictures and pages"),
        ("--dpi", args.dpi.is_some(), format == Format::Png, "png"),
    ];
    match options.into_iter().find(|(_, given, fits, _)| *given && !fits) {
        Some((option, _, _, used)) => bail!("{option} is for {used}; leave it out here"),
        None => Ok(()),
    }
}

fn style(args: &ExportArgs) -> Style {
    let usual = Style::default();
    Style {
        scale: args.scale,
        top: args.range.unwrap_or(usual.top),
        left_out: args.without.clone().unwrap_or_default(),
        blocks: args.blocks.unwrap_or(usual.blocks),
        palette: args.palette.unwrap_or(usual.palette),
        theme: args.theme.unwrap_or(usual.theme),
        cell: args.cell_size,
        dpi: args.dpi.unwrap_or(usual.dpi),
    }
}
