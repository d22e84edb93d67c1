use std::path::Path;

use anyhow::bail;
use attnscope_inspect::Trace;
use attnscope_models::{Ask, Keep, Source};
use serde::Serialize;

use crate::args::{TraceArgs, check_trace_name};
use crate::{files, interrupt, output};

/// What was kept.
#[derive(Serialize)]
struct Kept {
    file: String,
    bytes: u64,
    tokens: usize,
    /// Of the text that the encoder of an encoder-decoder read.
    #[serde(skip_serializing_if = "Option::is_none")]
    encoder_tokens: Option<usize>,
    sites: usize,
}

pub(crate) fn run(args: TraceArgs) -> anyhow::Result<()> {
    check_output(&args.output)?;
    let ask = args.reading.ask(Keep::All)?;
    let reading = &args.reading;
    let source = super::open(&reading.source, reading.weights)?;
    let ask = reading.fit_ask(&source, ask)?;
    let bar = output::progress("reading");
    let progress = |done, all| {
        output::advance(&bar, done, all);
        true
    };
    let mut trace = source.trace(Ask { progress: &progress, ..ask })?;
    bar.finish_and_clear();
    if let Source::Model(model) = &source {
        trace.model.sha256 = model.sha256().map(str::to_owned);
    }
    interrupt::whole(|| trace.save(&args.output))?;
    let kept = Kept {
        file: args.output.display().to_string(),
        bytes: std::fs::metadata(&args.output)?.len(),
        tokens: trace.tokens.len(),
        encoder_tokens: trace.encoder.as_ref().map(|read| read.tokens.len()),
        sites: trace.sites.len(),
    };
    if args.json {
        return output::json(&kept);
    }
    let Kept { file, bytes, tokens, encoder_tokens, sites } = kept;
    let tokens = encoder_tokens.map_or_else(String::new, |tokens| format!("{tokens} + ")) + &tokens.to_string();
    let of = if sites == 1 { "layer's" } else { "layers'" };
    output::print(&format!("{file}: {tokens} tokens, {sites} {of} attention, {:.1} MB\n", bytes as f64 / 1e6))
}

/// That a trace may be written there. To be asked before the work begins.
pub(super) fn check_output(path: &Path) -> anyhow::Result<()> {
    check_trace_name(path)?;
    let folder = std::path::absolute(path)?;
    if let Some(folder) = folder.parent().filter(|folder| !folder.is_dir()) {
        bail!("{}: there is no such folder to write the trace in", folder.display());
    }
    if path.exists() && Trace::open(path).is_err() {
        bail!("{}: is there already and is no trace; give another name, or remove it first", path.display());
    }
    files::check(path)
}
