//! One file a command.

pub(crate) mod bench;
pub(crate) mod cell;
pub(crate) mod export;
pub(crate) mod generate;
pub(crate) mod heads;
pub(crate) mod knockout;
pub(crate) mod lens;
pub(crate) mod models;
pub(crate) mod rollout;
pub(crate) mod row;
pub(crate) mod show;
pub(crate) mod trace;
pub(crate) mod view;

use anyhow::bail;
use attnscope_inspect::{SiteKind, Trace, fit_to_show};
use attnscope_models::{Ask, DEFAULT_TEXT, Keep, Model, Prompt, Source};

use crate::args::{Reading, Weights};
use crate::output;

/// Opens a source; a model of the Hub that is not here yet is fetched, with a bar.
fn open(name: &str, weights: Weights) -> anyhow::Result<Source> {
    let bar = output::bytes(name);
    let source = Source::open_with(name, weights.choice(), &|event| {
        output::fetching(&bar, name, event);
        true
    });
    bar.finish_and_clear();
    Ok(source?)
}

/// Opens the source and reads what is to be read, with a bar. `site` is what will be looked at, which must be there.
fn read(reading: &Reading, keep: Keep, site: impl Into<Option<SiteKind>>) -> anyhow::Result<Trace> {
    Ok(read_from(reading, keep, site)?.1)
}

/// The same, with the source that was opened.
fn read_from(reading: &Reading, keep: Keep, site: impl Into<Option<SiteKind>>) -> anyhow::Result<(Source, Trace)> {
    let ask = reading.ask(keep)?;
    let source = open(&reading.source, reading.weights)?;
    if let Some(kind) = site.into() {
        let layer = if let Keep::Only(layer) = keep { Some(layer) } else { None };
        source.check_site(&reading.source, kind, layer)?;
    }
    let ask = reading.fit_ask(&source, ask)?;
    let bar = output::progress("reading");
    let progress = |done, all| {
        output::advance(&bar, done, all);
        true
    };
    let trace = source.trace(Ask { progress: &progress, ..ask })?;
    bar.finish_and_clear();
    Ok((source, trace))
}

/// Opens a source that must be a model: only one `does` what is asked.
fn model(reading: &Reading, does: &str) -> anyhow::Result<Box<Model>> {
    let Source::Model(model) = open(&reading.source, reading.weights)? else {
        bail!("{}: only a model {does}; give a model folder, a .gguf or a model of the Hub", reading.source);
    };
    reading.check_causal(model.shape().causal)?;
    Ok(model)
}

/// What a model is to read.
fn asked(reading: &Reading, model: &Model) -> anyhow::Result<Prompt> {
    reading.fit(model, reading.prompt()?.unwrap_or_else(|| Prompt::Text(DEFAULT_TEXT.to_owned())), 0)
}

/// What a trace is of, in one line.
fn title(trace: &Trace) -> String {
    // A trace file may say anything of itself.
    let [name, note] = [&trace.model.name, &trace.model.note].map(|words| fit_to_show(words));
    if note.is_empty() { name } else { format!("{name}\n{note}") }
}
