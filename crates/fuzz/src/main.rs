//! The command: `attnscope-fuzz TARGET --runs N --seed S`.

use std::io::stdout;
use std::path::PathBuf;
use std::process::ExitCode;

use attnscope_fuzz::hunt::Hunt;
use attnscope_fuzz::memory::Counting;
use attnscope_fuzz::target::Target;
use attnscope_fuzz::worker::{self, Stretch};
use clap::{Parser, Subcommand};

#[global_allocator]
static MEMORY: Counting = Counting;

/// Feeds a reader spoiled files, and keeps those that make it panic, run for ever, or take memory that the file's size
/// does not justify
#[derive(Debug, Parser)]
#[command(name = "attnscope-fuzz", args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    /// The reader
    #[arg(required = true)]
    target: Option<Target>,
    /// How many inputs
    #[arg(long, default_value_t = 100_000, value_name = "N")]
    runs: u64,
    /// What inputs follow from, with their number
    #[arg(long, default_value_t = 1, value_name = "S")]
    seed: u64,
    /// The number of the first input
    #[arg(long, default_value_t = 0, value_name = "N")]
    first: u64,
    /// Where inputs at fault are kept
    #[arg(long, default_value = "fuzz-found", value_name = "FOLDER")]
    keep: PathBuf,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Read one input that was kept, and print what comes of it
    Once {
        /// The reader
        target: Target,
        /// The folder with the input's files
        input: PathBuf,
    },
    /// Read a stretch of inputs (what the command starts itself)
    #[command(hide = true)]
    Work {
        target: Target,
        #[arg(long)]
        seed: u64,
        #[arg(long)]
        from: u64,
        #[arg(long)]
        to: u64,
        #[arg(long)]
        folder: PathBuf,
    },
}

fn main() -> anyhow::Result<ExitCode> {
    let Cli { command, target, runs, seed, first, keep } = Cli::parse();
    match (command, target) {
        (Some(Command::Once { target, input }), _) => worker::once(target, &input, &mut stdout())?,
        (Some(Command::Work { target, seed, from, to, folder }), _) => {
            worker::work(&Stretch { target, seed, from, to, folder: &folder }, &mut stdout())?;
        }
        (None, Some(target)) => {
            let tally = Hunt { target, runs, seed, first, keep }.run(|line| eprintln!("{line}"))?;
            for (fault, count) in &tally.faults {
                eprintln!("{count} x {fault}");
            }
            eprintln!("{}: {runs} inputs, {} read, {} refused", target.name(), tally.read, tally.refused);
            return Ok(if tally.faults.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE });
        }
        (None, None) => unreachable!("clap asks for a target"),
    }
    Ok(ExitCode::SUCCESS)
}
