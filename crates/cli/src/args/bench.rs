use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct BenchArgs {
    /// Less than a minute: without the longest cases, and with fewer samples of the others
    #[arg(long)]
    pub(crate) quick: bool,
    /// Only the cases whose name holds this, or the one called just so; may be given more than once
    #[arg(long, value_name = "WORD")]
    pub(crate) only: Vec<String>,
    /// Write a chart as well, an SVG: ratios by length, and naive against ours
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}
