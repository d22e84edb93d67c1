use std::ops::Range;
use std::path::Path;

use attnscope_inspect::{At, Column, HeadStats, Row, SiteKind, Trace, Wanted};

use crate::numbers::{self, Grid};
use crate::paint::{MAX_DPI, Scene, png, svg};
use crate::picture::{Source, Which};
use crate::{Choice, Error, Place, Style, picture};

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
    /// One column.
    Column {
        /// Of which head.
        place: Place,
        /// Who is asked.
        key: usize,
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
    /// Every head: at a glance, or its statistics.
    Heads {
        /// Of which attention.
        site: SiteKind,
        /// Of one layer; none: of all.
        layer: Option<usize>,
        /// Which of them a picture shows, and in which order. Numbers are of all.
        choice: Choice,
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
        if ending.is_empty() {
            return Err(Error::NoEnding);
        }
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
    let job = Job { trace, style, format, wanted };
    match what {
        What::Map { place, queries, keys } => {
            let site = trace.site(place.site, place.layer)?;
            let queries = within("queries", queries.as_ref(), site.q_len())?;
            let keys = within("keys", keys.as_ref(), site.kv_len())?;
            job.map(*place, queries, keys)
        }
        What::Row { place, query } => job.row(*place, *query),
        What::Column { place, key } => job.column(*place, *key),
        What::Cell { at, query, key } => job.cell(*at, *query, *key),
        What::Heads { site, layer, choice } => job.heads(&Which { site: *site, layer: *layer, choice }),
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

/// A file in the making.
#[derive(Clone, Copy)]
struct Job<'a> {
    trace: &'a Trace,
    style: &'a Style,
    format: Format,
    wanted: Wanted<'a>,
}

impl Job<'_> {
    fn map(self, place: Place, queries: Range<usize>, keys: Range<usize>) -> Result<Exported, Error> {
        let grid = || Grid::read(self.trace, place, queries.clone(), keys.clone(), self.wanted);
        match self.format {
            Format::Csv => whole(numbers::map_csv(&grid()?)?),
            Format::Json => whole(numbers::map_json(&grid()?)?),
            Format::Npz => whole(numbers::map_npz(&grid()?)?),
            Format::Png | Format::Svg | Format::Html => {
                let len = self.trace.site(place.site, place.layer)?.kv_len();
                let left_out = self.style.left_out.columns(self.trace.key_tokens(place.site), len);
                let from = Source { trace: self.trace, place, wanted: self.wanted, left_out: &left_out };
                let drawn = picture::map(from, queries.clone(), keys.clone(), self.style)?;
                // The page shows numbers only where they are few, so only then are they recalled.
                let few = queries.len().max(keys.len()) <= numbers::MOST_IN_TABLE;
                let grid = if few && self.format == Format::Html { Some(grid()?) } else { None };
                self.drawn(drawn, grid.as_ref())
            }
        }
    }

    fn row(self, place: Place, query: usize) -> Result<Exported, Error> {
        let row = || -> Result<Row, Error> { Ok(self.trace.picked_row(place.site, place.layer, place.head, query)?) };
        match self.format {
            Format::Csv => whole(numbers::row_csv(self.trace, &row()?)?),
            Format::Json => whole(numbers::document(&row()?)?),
            Format::Npz => whole(numbers::row_npz(self.trace, place, &row()?)?),
            _ => self.drawn(picture::row(self.trace, place, query, self.style)?, None),
        }
    }

    fn column(self, place: Place, key: usize) -> Result<Exported, Error> {
        let column = || -> Result<Column, Error> { Ok(self.trace.column(place.site, place.layer, place.head, key)?) };
        match self.format {
            Format::Csv => whole(numbers::column_csv(self.trace, &column()?)?),
            Format::Json => whole(numbers::document(&column()?)?),
            Format::Npz => whole(numbers::column_npz(self.trace, place, &column()?)?),
            _ => self.drawn(picture::column(self.trace, place, key, self.style)?, None),
        }
    }

    fn cell(self, at: At, query: usize, key: usize) -> Result<Exported, Error> {
        let cell = || self.trace.cell(at, query, key);
        match self.format {
            Format::Csv => whole(numbers::cell_csv(&cell()?)?),
            Format::Json => whole(numbers::document(&cell()?)?),
            Format::Npz => whole(numbers::cell_npz(self.trace, &cell()?)?),
            _ => self.drawn(picture::cell(self.trace, at, (query, key), self.style)?, None),
        }
    }

    fn heads(self, which: &Which) -> Result<Exported, Error> {
        let heads = || -> Result<Vec<HeadStats>, Error> {
            let mut heads = self.trace.heads_with(which.layer, self.wanted, |_| {})?;
            heads.retain(|head| head.site == which.site);
            if heads.is_empty() { Err(self.trace.no_site(which.site).into()) } else { Ok(heads) }
        };
        match self.format {
            Format::Csv => whole(numbers::heads_csv(&heads()?)?),
            Format::Json => whole(numbers::document(&heads()?)?),
            Format::Npz => whole(numbers::heads_npz(self.trace, &heads()?)?),
            Format::Html => whole(numbers::heads_page(self.trace, &heads()?, self.style.theme)?),
            _ => self.drawn(picture::heads(self.trace, which, self.style, self.wanted)?, None),
        }
    }

    fn drawn(self, (scene, note): (Scene, Option<String>), grid: Option<&Grid>) -> Result<Exported, Error> {
        let bytes = match self.format {
            Format::Png => png(&scene, self.style.dpi)?,
            Format::Html => numbers::picture_page(&scene.title, self.style.theme, &svg(&scene)?, grid)?.into_bytes(),
            _ => svg(&scene)?.into_bytes(),
        };
        Ok(Exported { bytes, note })
    }
}

/// An answer that leaves nothing out.
fn whole(bytes: impl Into<Vec<u8>>) -> Result<Exported, Error> {
    Ok(Exported { bytes: bytes.into(), note: None })
}
