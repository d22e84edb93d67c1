//! `attnscope`: attention, looked at from the command line and in the browser.

mod args;
mod commands;
mod files;
mod interrupt;
mod label;
mod mistakes;
mod output;
mod reach;

use std::process::ExitCode;

use crate::args::{Cli, Command};
use attnscope_inspect::escaped;

fn main() -> ExitCode {
    let cli = mistakes::parse();
    interrupt::listen();
    match run(cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if output::reader_left(&error) => ExitCode::SUCCESS,
        Err(error) => {
            let way_out = match error.downcast_ref() {
                Some(attnscope_models::Error::TooLong { .. }) => ", or read its beginning with --truncate",
                _ => "",
            };
            output::complain(&format!("error: {}{way_out}", escaped(&format!("{error:#}"))));
            ExitCode::FAILURE
        }
    }
}

fn run(cli: Cli) -> anyhow::Result<()> {
    output::log_to_stderr();
    if let Some(threads) = cli.threads {
        rayon::ThreadPoolBuilder::new().num_threads(threads.into()).build_global()?;
    }
    match cli.command.unwrap_or(Command::View(cli.view)) {
        Command::View(args) => commands::view::run(args),
        Command::Show(args) => commands::show::run(args),
        Command::Row(args) => commands::row::run(args),
        Command::Cell(args) => commands::cell::run(args),
        Command::Heads(args) => commands::heads::run(args),
        Command::Lens(args) => commands::lens::run(args),
        Command::Rollout(args) => commands::rollout::run(args),
        Command::Trace(args) => commands::trace::run(args),
        Command::Export(args) => commands::export::run(args),
        Command::Generate(args) => commands::generate::run(args),
        Command::Knockout(args) => commands::knockout::run(args),
        Command::Models(args) => commands::models::run(args),
        Command::Bench(args) => commands::bench::run(args),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut args::command(), "attnscope", &mut script);
            output::print(&String::from_utf8_lossy(&script))
        }
    }
}
