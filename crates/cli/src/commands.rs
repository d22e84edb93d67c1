//! One file a command.

pub(crate) mod bench;
pub(crate) mod cell;
pub(crate) mod export;
pub(crate) mod generate;
pub(crate) mod heads;
pub(crate) mod models;
pub(crate) mod row;
pub(crate) mod show;
pub(crate) mod trace;
pub(crate) mod view;

use attnscope_inspect::{Trace, fit_to_show};
use attnscope_models::{Ask, Keep};

use crate::args::Reading;
use crate::output;

/// Opens the source and reads what is to be read, with a bar.
fn read(reading: &Reading, keep: Keep) -> anyhow::Result<Trace> {
    let ask = reading.ask(keep)?;
    let source = reading.open()?;
    let bar = output::progress("reading");
    let progress = |done, all| {
        output::advance(&bar, done, all);
        true
    };
    let trace = source.trace(Ask { progress: &progress, ..ask })?;
    bar.finish_and_clear();
    Ok(trace)
}

/// What a trace is of, in one line.
fn title(trace: &Trace) -> String {
    // A trace file may say anything of itself.
    let [name, note] = [&trace.model.name, &trace.model.note].map(|words| fit_to_show(words));
    if note.is_empty() { name } else { format!("{name}\n{note}") }
}
