use std::ops::Range;
use std::path::Path;

use attnscope_inspect::{At, Row, Trace, Wanted};

use crate::numbers::{self, Grid};
use crate::paint::{MAX_DPI, Scene, png, svg};
use crate::{Error, Place, Style, picture};

/// What to take along.
#[derive(Clone, Debug, PartialEq)]
pub enum What {
    /// A map, or a rectangle of it.
    Map {
        /// Of which head.
        place: Place,
        /// Which queries; none: all.
        queries: Option<Range<usize>>,
        /// Which keys; none: all.
        keys: Option<Range<usize>>,
    },
    /// One row.
    Row {
        /// Of which head.
        place: Place,
        /// Who asks.
        query: usize,
    },
    /// One cell, worked out.
    Cell {
        /// Of which head.
        at: At,
        /// Who asks.
        query: usize,
        /// Who is asked.
        key: usize,
    },
    /// The statistics of every head.
    Heads {
        /// Of one layer; none: of all.
        layer: Option<usize>,
    },
}

/// In which form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A picture with axes and legend, at print size.
    Png,
    /// The same picture as vectors.
    Svg,
    /// One page that needs nothing else: the picture, and the numbers where they are few.
    Html,
    /// Arrays for numpy.
    Npz,
    /// Numbers for programs.
    Json,
    /// Numbers for spreadsheets.
    Csv,
}

impl Format {
    /// Every format.
    pub const ALL: [Self; 6] = [Self::Png, Self::Svg, Self::Html, Self::Npz, Self::Json, Self::Csv];

    /// The format that a file's name asks for by its ending.
    ///
    /// # Errors
    /// If there is none such; the error says which there are.
    pub fn of(path: &Path) -> Result<Self, Error> {
        let ending = path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        Self::ALL.into_iter().find(|format| format.ending() == ending).ok_or(Error::Ending(ending))
    }

    /// The ending of its files, without a dot.
    pub fn ending(self) -> &'static str {
        match self {
            Self::Png => "png",
            Self::Svg => "svg",
            Self::Html => "html",
            Self::Npz => "npz",
            Self::Json => "json",
            Self::Csv => "csv",
        }
    }

    /// Its media type, for HTTP.
    pub fn media_type(self) -> &'static str {
        match self {
            Self::Png => "image/png",
            Self::Svg => "image/svg+xml",
            Self::Html => "text/html; charset=utf-8",
            Self::Npz => "application/zip",
            Self::Json => "application/json",
            Self::Csv => "text/csv; charset=utf-8",
        }
    }
}

/// A file that is ready to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exported {
    /// All of it.
    pub bytes: Vec<u8>,
    /// What it leaves out, such as that a large map is pooled.
    pub note: Option<String>,
}

/// Answers a question in the form of a file. The same trace, question and style always give the same bytes.
///
/// # Errors
/// If the trace has no answer, the answer has no such form, or it is too large.
pub fn export(trace: &Trace, what: &What, style: &Style, format: Format) -> Result<Exported, Error> {
    export_while(trace, what, style, format, Wanted::ALWAYS)
}

/// As [`export`], for as long as it is wanted.
///
/// # Errors
/// As [`export`], or if it is wanted no longer.
pub fn export_while(
    trace: &Trace,
    what: &What,
    style: &Style,
    format: Format,
    wanted: Wanted,
) -> Result<Exported, Error> {
    if !(36..=MAX_DPI).contains(&style.dpi) {
        return Err(Error::Resolution(style.dpi));
    }
    match what {
        What::Map { place, queries, keys } => {
            let site = trace.site(place.site, place.layer)?;
            let queries = within("queries", queries.as_ref(), site.q_len())?;
            let keys = within("keys", keys.as_ref(), site.kv_len())?;
            map(trace, *place, queries, keys, style, format, wanted)
        }
        What::Row { place, query } => row(trace, *place, *query, style, format),
        What::Cell { at, query, key } => cell(trace, *at, *query, *key, format),
        What::Heads { layer } => heads(trace, *layer, style, format, wanted),
    }
}

/// A range that is not empty and lies within the text.
fn within(what: &'static str, range: Option<&Range<usize>>, len: usize) -> Result<Range<usize>, Error> {
    match range {
        None => Ok(0..len),
        Some(range) if range.start < range.end && range.end <= len => Ok(range.clone()),
        Some(&Range { start, end }) => Err(Error::Range { what, start, end, len }),
    }
}

fn map(
    trace: &Trace,
    place: Place,
    queries: Range<usize>,
    keys: Range<usize>,
    style: &Style,
    format: Format,
    wanted: Wanted,
) -> Result<Exported, Error> {
    let grid = || Grid::read(trace, place, queries.clone(), keys.clone(), wanted);
    match format {
        Format::Csv => whole(numbers::map_csv(&grid()?)?),
        Format::Json => whole(numbers::map_json(&grid()?)?),
        Format::Npz => whole(numbers::map_npz(&grid()?)?),
        Format::Png | Format::Svg | Format::Html => {
            let (scene, note) = picture::map(trace, place, queries.clone(), keys.clone(), style, wanted)?;
            // The page shows numbers only where they are few, so only then are they recalled.
            let few = queries.len().max(keys.len()) <= numbers::MOST_IN_TABLE;
            let grid = if few && format == Format::Html { Some(grid()?) } else { None };
            drawn(&scene, note, style, format, grid.as_ref())
        }
    }
}

fn row(trace: &Trace, place: Place, query: usize, style: &Style, format: Format) -> Result<Exported, Error> {
    let row = || -> Result<Row, Error> { Ok(trace.picked_row(place.site, place.layer, place.head, query)?) };
    match format {
        Format::Csv => whole(numbers::row_csv(trace, &row()?)?),
        Format::Json => whole(numbers::document(&row()?)?),
        Format::Npz => whole(numbers::row_npz(trace, place, &row()?)?),
        Format::Png | Format::Svg | Format::Html => {
            let (scene, note) = picture::row(trace, place, query, style)?;
            drawn(&scene, note, style, format, None)
        }
    }
}

fn cell(trace: &Trace, at: At, query: usize, key: usize, format: Format) -> Result<Exported, Error> {
    let cell = || trace.cell(at, query, key);
    match format {
        Format::Csv => whole(numbers::cell_csv(&cell()?)?),
        Format::Json => whole(numbers::document(&cell()?)?),
        Format::Npz => whole(numbers::cell_npz(trace, &cell()?)?),
        Format::Png | Format::Svg | Format::Html => {
            Err(Error::NoSuchForm { what: "a cell", format: format.ending(), instead: "json, csv or npz" })
        }
    }
}

fn heads(
    trace: &Trace,
    layer: Option<usize>,
    style: &Style,
    format: Format,
    wanted: Wanted,
) -> Result<Exported, Error> {
    let heads = || trace.heads_with(layer, wanted, |_| {});
    match format {
        Format::Csv => whole(numbers::heads_csv(&heads()?)?),
        Format::Json => whole(numbers::document(&heads()?)?),
        Format::Npz => whole(numbers::heads_npz(trace, &heads()?)?),
        Format::Html => whole(numbers::heads_page(trace, &heads()?, style.theme)?),
        Format::Png | Format::Svg => {
            let instead = "html, json, csv or npz";
            Err(Error::NoSuchForm { what: "the heads' statistics", format: format.ending(), instead })
        }
    }
}

fn drawn(
    scene: &Scene,
    note: Option<String>,
    style: &Style,
    format: Format,
    grid: Option<&Grid>,
) -> Result<Exported, Error> {
    let bytes = match format {
        Format::Png => png(scene, style.dpi)?,
        Format::Html => numbers::picture_page(&scene.title, style.theme, &svg(scene)?, grid)?.into_bytes(),
        _ => svg(scene)?.into_bytes(),
    };
    Ok(Exported { bytes, note })
}

/// An answer that leaves nothing out.
fn whole(bytes: impl Into<Vec<u8>>) -> Result<Exported, Error> {
    Ok(Exported { bytes: bytes.into(), note: None })
}
