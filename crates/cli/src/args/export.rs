use std::ops::Range;
use std::path::PathBuf;

use attnscope_inspect::Pick;
use attnscope_render::{Blocks, LeftOut, Only, Palette, Scale, Statistic, Theme, Top};
use clap::{Args, ValueEnum};

use super::{Reading, Site};

/// What to take along.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Part {
    Map,
    Row,
    Column,
    Heads,
    Cell,
}

/// A range of positions, its end not in it; either end may be left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    start: usize,
    end: Option<usize>,
}

impl Span {
    pub(crate) fn within(self, len: usize) -> Range<usize> {
        self.start..self.end.unwrap_or(len)
    }
}

fn span(text: &str) -> Result<Span, String> {
    let wrong = || "must be a range such as 0..64, ..64 or 64..".to_owned();
    let (start, end) = text.split_once("..").ok_or_else(wrong)?;
    let number = |text: &str| text.trim().parse::<usize>().map_err(|_| wrong());
    let start = if start.trim().is_empty() { 0 } else { number(start)? };
    let end = if end.trim().is_empty() { None } else { Some(number(end)?) };
    Ok(Span { start, end })
}

/// One of a few, by its name.
fn named<T: Copy>(all: &[T], name: fn(T) -> &'static str, text: &str) -> Result<T, String> {
    let names: Vec<&str> = all.iter().map(|one| name(*one)).collect();
    let found = all.iter().zip(&names).find(|(_, name)| **name == text);
    found.map(|(one, _)| *one).ok_or_else(|| format!("must be one of {}", names.join(", ")))
}

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    #[command(flatten)]
    pub(crate) reading: Reading,
    /// The file to write; its ending says what it becomes: png, svg, html, npz, json or csv
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// What to take along [default: the map; with --query its row; with --key its column; with both the cell]
    #[arg(long, value_enum)]
    pub(crate) what: Option<Part>,
    /// The layer, from 0 [default: 0; all for the heads]
    #[arg(long)]
    pub(crate) layer: Option<usize>,
    /// Which attention of the layer
    #[arg(long, value_enum, default_value = "self")]
    pub(crate) site: Site,
    /// The query head, from 0, or `mean` for the mean of the layer [default: 0]
    #[arg(long)]
    pub(crate) head: Option<Pick>,
    /// The token that asks, of a row or a cell: its position, or its text where that occurs once
    #[arg(long, allow_hyphen_values = true)]
    pub(crate) query: Option<String>,
    /// The token that is asked, of a column or a cell: likewise
    #[arg(long, allow_hyphen_values = true)]
    pub(crate) key: Option<String>,
    /// Some queries of a map alone, such as 0..64
    #[arg(long, value_name = "RANGE", value_parser = span)]
    pub(crate) queries: Option<Span>,
    /// Some keys of a map alone
    #[arg(long, value_name = "RANGE", value_parser = span)]
    pub(crate) keys: Option<Span>,
    /// How weights become colours in a picture of a map or of the heads: linear, sqrt, log, row or rank [default: linear for the example, sqrt for models]
    #[arg(long, value_parser = |text: &str| named(&Scale::ALL, Scale::name, text))]
    pub(crate) scale: Option<Scale>,
    /// Where the scale of a map ends: 1, or `largest` for the largest weight of the head [default: 1]
    #[arg(long, value_name = "END", value_parser = |text: &str| named(&Top::ALL, Top::name, text))]
    pub(crate) range: Option<Top>,
    /// Columns of a map that are not in its scale: first, special and positions, such as first,7. It then ends at the
    /// largest of the others
    #[arg(long, value_name = "COLUMNS")]
    pub(crate) without: Option<LeftOut>,
    /// What stands for a block of cells of a large map: its largest or its mean weight [default: largest]
    #[arg(long, value_name = "WHICH", value_parser = |text: &str| named(&Blocks::ALL, Blocks::name, text))]
    pub(crate) blocks: Option<Blocks>,
    /// A picture of the heads in the order of a statistic: entropy, first, self, previous, distance or proof
    #[arg(long, value_name = "STATISTIC", value_parser = |text: &str| named(&Statistic::ALL, Statistic::name, text))]
    pub(crate) sort: Option<Statistic>,
    /// The smallest of them first
    #[arg(long, requires = "sort")]
    pub(crate) rising: bool,
    /// A picture of these heads alone, each as layer.head, such as 3.0,4.2
    #[arg(long, value_name = "HEADS")]
    pub(crate) only: Option<Only>,
    /// Which colours: amber, viridis, cividis or grey [default: amber]
    #[arg(long, value_parser = |text: &str| named(&Palette::ALL, Palette::name, text))]
    pub(crate) palette: Option<Palette>,
    /// On which page: light or dark [default: light]
    #[arg(long, value_parser = |text: &str| named(&Theme::ALL, Theme::name, text))]
    pub(crate) theme: Option<Theme>,
    /// The side of a cell in pixels of 1/96 inch [default: what gives a handy picture]
    #[arg(long, value_name = "PIXELS")]
    pub(crate) cell_size: Option<f32>,
    /// Dots to the inch of a PNG; 96 is a screen's size [default: 288]
    #[arg(long)]
    pub(crate) dpi: Option<u32>,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}
