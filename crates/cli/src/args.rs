//! The command line, as clap reads it. `SOURCE` and the options of reading and pointing are the same everywhere.

mod bench;
mod export;
mod generate;
mod knockout;
mod readings;
mod text;
mod truncate;
mod weights;

use std::io::Read;
use std::path::PathBuf;

use anyhow::{Context, bail};
use attnscope_inspect::{Pick, SiteKind};
use attnscope_models::{Ask, DEFAULT_TEXT, Keep, Prompt};
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};

pub(crate) use bench::BenchArgs;
pub(crate) use export::{ExportArgs, Part};
pub(crate) use generate::GenerateArgs;
pub(crate) use knockout::{Head, KnockoutArgs, Scanned};
pub(crate) use readings::{By, HeadReadings, LensArgs, RolloutArgs};
use text::TextArgs;
pub(crate) use weights::Weights;

/// Look at any attention weight of any head, exactly, at any length.
///
/// SOURCE is `example` (the worked example), a Hugging Face folder, a .gguf file, a trace file, or a model of the Hugging
/// Face Hub: `gpt2`, `org/name`, `org/name@revision`, `org/name:file.gguf`. One that is not in the cache of this machine is
/// fetched into it.
#[derive(Debug, Parser)]
#[command(name = "attnscope", version, args_conflicts_with_subcommands = true, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    #[command(flatten)]
    pub(crate) view: ViewArgs,
    /// Threads to compute on [default: one a core]
    #[arg(long, value_name = "N", env = "ATTNSCOPE_THREADS", global = true, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
}

/// The command line. A number below 0 is a wrong number everywhere, and no option that is not known; what a command does not
/// take is not offered by its help.
pub(crate) fn command() -> clap::Command {
    let numbers = |arg: clap::Arg| {
        let takes = arg.get_action().takes_values() && !arg.is_positional() && !arg.is_allow_hyphen_values_set();
        if takes { arg.allow_negative_numbers(true) } else { arg }
    };
    let of_models = |command: clap::Command| {
        let command = command.mut_arg("source", |source| source.help(format!("A model: {MODELS}")));
        command.mut_arg("causal", |arg| arg.hide(true)).mut_arg("bidirectional", |arg| arg.hide(true))
    };
    let mut command = Cli::command()
        .mut_args(numbers)
        .mut_subcommands(|command| command.mut_args(numbers))
        .mut_subcommand("generate", of_models)
        .mut_subcommand("lens", of_models)
        .mut_subcommand("knockout", |command| {
            command.mut_arg("source", |source| source.help(format!("`example`, or a model: {MODELS}")))
        });
    command.build();
    command
}

/// Where models are.
const MODELS: &str = "a Hugging Face folder, a .gguf file, or one of the Hub (gpt2, org/name)";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Open the inspector in the browser (what `attnscope` alone does)
    View(ViewArgs),
    /// Draw the map of a head in the terminal
    Show(ShowArgs),
    /// Show how one query spends its attention
    Row(RowArgs),
    /// Work out one cell, from the two vectors to the weight
    Cell(CellArgs),
    /// Statistics and proof of every head; what each does on repeated tokens, or adds to a logit
    Heads(HeadsArgs),
    /// What the model would say after each of its layers
    Lens(LensArgs),
    /// Where a query's vector would come from, through all layers
    Rollout(RolloutArgs),
    /// Run a source and keep its trace in a file
    Trace(TraceArgs),
    /// Take a map, a row, a column, a cell or the heads along: PNG, SVG, HTML, npz, JSON or CSV
    Export(ExportArgs),
    /// Go on with a text, one token after another
    Generate(GenerateArgs),
    Knockout(KnockoutArgs),
    /// List the families of models that can be opened
    Models(ModelsArgs),
    /// Measure the kernel against this machine's own limits
    Bench(BenchArgs),
    /// Print a completion script for a shell
    Completions {
        /// Which shell
        shell: clap_complete::Shell,
    },
}

#[derive(Debug, Args)]
pub(crate) struct ViewArgs {
    /// What to offer on the page; the first is shown [default: example, and what lies in models/]
    #[arg(value_name = "SOURCE")]
    pub(crate) sources: Vec<String>,
    /// Address to listen on. Anything but this machine's own 127.0.0.1 lets others look too, with a token
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    pub(crate) host: std::net::IpAddr,
    /// Port to listen on; 0 takes any free one
    #[arg(long, default_value_t = 7280)]
    pub(crate) port: u16,
    /// Do not open a browser
    #[arg(long)]
    pub(crate) no_open: bool,
    #[command(flatten)]
    pub(crate) weights: Weights,
}

/// What to read.
#[derive(Debug, Args)]
pub(crate) struct Reading {
    /// `example`, a Hugging Face folder, a .gguf file, a trace file, or a model of the Hub (gpt2, org/name)
    pub(crate) source: String,
    /// The text to read
    #[arg(long, visible_alias = "prompt", group = "input", allow_hyphen_values = true)]
    pub(crate) text: Option<String>,
    /// A file with the text to read; - is standard input
    #[arg(long, value_name = "PATH", group = "input")]
    pub(crate) file: Option<PathBuf>,
    /// Token ids to read, separated by commas
    #[arg(long, value_delimiter = ',', value_name = "ID,...", group = "input")]
    pub(crate) ids: Option<Vec<u32>>,
    /// A second text, read together with the first by models that were trained on pairs
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, conflicts_with = "ids")]
    pub(crate) second: Option<String>,
    /// What the decoder of an encoder-decoder reads [default: what the model itself would say]
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) target: Option<String>,
    /// The same as token ids, the one that begins a text included
    #[arg(long, value_delimiter = ',', value_name = "ID,...", conflicts_with = "target")]
    pub(crate) target_ids: Option<Vec<u32>>,
    /// Read only the beginning of a text that is longer than the model reads
    #[arg(long)]
    pub(crate) truncate: bool,
    #[command(flatten)]
    pub(crate) how: TextArgs,
    /// Keep every token of the example from those after it
    #[arg(long, conflicts_with = "bidirectional")]
    pub(crate) causal: bool,
    /// Let every token of the example see every other (its default)
    #[arg(long)]
    pub(crate) bidirectional: bool,
    #[command(flatten)]
    pub(crate) weights: Weights,
}

impl Reading {
    /// The question to the source.
    pub(crate) fn ask(&self, keep: Keep) -> anyhow::Result<Ask<'static>> {
        Ok(Ask { prompt: self.prompt()?, causal: self.causal(), keep, ..Ask::default() })
    }

    /// That a model is not asked to be what it was not trained to be: only the example can be read both ways.
    pub(crate) fn check_causal(&self, causal: bool) -> anyhow::Result<()> {
        match self.causal().filter(|wanted| *wanted != causal) {
            Some(_) => bail!("--causal and --bidirectional are for the example; leave them out"),
            None => Ok(()),
        }
    }

    fn causal(&self) -> Option<bool> {
        match (self.causal, self.bidirectional) {
            (true, _) => Some(true),
            (_, true) => Some(false),
            _ => None,
        }
    }

    /// What to read, if that is said. To be asked once: standard input is then read.
    pub(crate) fn prompt(&self) -> anyhow::Result<Option<Prompt>> {
        self.how.apply(self.as_it_stands()?, false)
    }

    /// The same for a model that is to go on with it.
    pub(crate) fn prompt_to_go_on(&self) -> anyhow::Result<Option<Prompt>> {
        self.how.apply(self.as_it_stands()?, true)
    }

    fn as_it_stands(&self) -> anyhow::Result<Option<Prompt>> {
        let first = match (self.first()?, &self.second) {
            (Some(Prompt::Text(first)), Some(second)) => Some(Prompt::Pair(first, second.clone())),
            (None, Some(_)) => bail!("--second is read after a first text; give that with --text or --file"),
            (first, _) => first,
        };
        let decoder = match (&self.target, &self.target_ids) {
            (Some(text), _) => Prompt::Text(text.clone()),
            (None, Some(ids)) => Prompt::Ids(ids.clone()),
            (None, None) => return Ok(first),
        };
        let encoder = first.unwrap_or_else(|| Prompt::Text(DEFAULT_TEXT.to_owned()));
        Ok(Some(Prompt::Halves { encoder: Box::new(encoder), decoder: Box::new(decoder) }))
    }

    fn first(&self) -> anyhow::Result<Option<Prompt>> {
        if let Some(text) = &self.text {
            return Ok(Some(Prompt::Text(text.clone())));
        }
        if let Some(ids) = &self.ids {
            return Ok(Some(Prompt::Ids(ids.clone())));
        }
        let Some(path) = &self.file else { return Ok(None) };
        let text = match path.as_os_str() == "-" {
            true => read_text(std::io::stdin()).context("standard input"),
            false => std::fs::File::open(path)
                .map_err(anyhow::Error::from)
                .and_then(read_text)
                .with_context(|| format!("{}", path.display())),
        };
        Ok(Some(Prompt::Text(text.context("cannot read the text")?)))
    }
}

/// No text is longer, in bytes: far beyond what any model reads.
const LONGEST: u64 = 64 << 20;

fn read_text(from: impl Read) -> anyhow::Result<String> {
    let mut text = String::new();
    from.take(LONGEST + 1).read_to_string(&mut text)?;
    if text.len() as u64 > LONGEST {
        bail!("it is longer than {} MB; give a part of it", LONGEST >> 20);
    }
    Ok(text)
}

/// Where to look.
#[derive(Debug, Args)]
pub(crate) struct Place {
    /// The layer, from 0
    #[arg(long, default_value_t = 0)]
    pub(crate) layer: usize,
    /// Which attention of the layer
    #[arg(long, value_enum, default_value = "self")]
    pub(crate) site: Site,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Site {
    #[value(name = "self")]
    SelfAttention,
    Cross,
    Encoder,
}

impl Site {
    pub(crate) fn kind(self) -> SiteKind {
        match self {
            Self::SelfAttention => SiteKind::SelfAttention,
            Self::Cross => SiteKind::Cross,
            Self::Encoder => SiteKind::Encoder,
        }
    }
}

impl Place {
    pub(crate) fn kind(&self) -> SiteKind {
        self.site.kind()
    }
}

#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    #[command(flatten)]
    pub(crate) reading: Reading,
    #[command(flatten)]
    pub(crate) place: Place,
    /// The query head, from 0, or `mean` for the mean of the layer
    #[arg(long, default_value = "0")]
    pub(crate) head: Pick,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RowArgs {
    #[command(flatten)]
    pub(crate) reading: Reading,
    #[command(flatten)]
    pub(crate) place: Place,
    /// The query head, from 0, or `mean` for the mean of the layer
    #[arg(long, default_value = "0")]
    pub(crate) head: Pick,
    /// The token that asks: its position, or its text where that occurs once
    #[arg(long, allow_hyphen_values = true)]
    pub(crate) query: String,
    /// How many of the strongest keys to show
    #[arg(long, default_value_t = 12)]
    pub(crate) top: usize,
    /// By what keys are compared
    #[arg(long, value_enum, default_value = "weight")]
    pub(crate) by: By,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CellArgs {
    #[command(flatten)]
    pub(crate) reading: Reading,
    #[command(flatten)]
    pub(crate) place: Place,
    /// The query head, from 0
    #[arg(long, default_value = "0", value_parser = one_head)]
    pub(crate) head: usize,
    /// The token that asks: its position, or its text where that occurs once
    #[arg(long, allow_hyphen_values = true)]
    pub(crate) query: String,
    /// The token that is asked: likewise
    #[arg(long, allow_hyphen_values = true)]
    pub(crate) key: String,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

/// A cell is worked out of a head's own q and k, and a mean has none.
fn one_head(text: &str) -> Result<usize, String> {
    match text.trim() {
        "mean" => {
            Err("a cell is of one head, by its number; the mean of all heads is for show, row and export".to_owned())
        }
        number => number.parse().map_err(|error: std::num::ParseIntError| error.to_string()),
    }
}

#[derive(Debug, Args)]
pub(crate) struct HeadsArgs {
    #[command(flatten)]
    pub(crate) reading: Reading,
    /// One layer alone
    #[arg(long)]
    pub(crate) layer: Option<usize>,
    #[command(flatten)]
    pub(crate) readings: HeadReadings,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct TraceArgs {
    #[command(flatten)]
    pub(crate) reading: Reading,
    /// The file to keep the trace in, a .safetensors
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ModelsArgs {
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

/// A trace file is written under a name that says what it is, so that it opens again as a source.
pub(crate) fn check_trace_name(path: &std::path::Path) -> anyhow::Result<()> {
    if path.extension().is_none_or(|ending| ending != "safetensors") {
        bail!("{}: a trace file's name must end in .safetensors", path.display());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    /// What else is checked in debug builds alone.
    #[test]
    fn the_command_line_is_sound() {
        super::command().debug_assert();
    }
}
