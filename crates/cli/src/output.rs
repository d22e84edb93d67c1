//! Standard output carries the answer and nothing else; progress and logs go to standard error.

use std::io::{IsTerminal, Write};

use anyhow::Context;
use attnscope_inspect::escaped;
use attnscope_models::hub::Event;
use attnscope_render::Colour;
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

use crate::interrupt;

pub(crate) use attnscope_render::CAVEAT;

/// Prints text as it is.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).context("cannot write to standard output")
}

/// Says a line on standard error. Where that cannot be written either, the exit code alone must say it.
pub(crate) fn complain(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// The same where a bar, or what a terminal shows of a key, may stand in the line.
pub(crate) fn complain_afresh(line: &str) {
    let wipe = if std::io::stderr().is_terminal() { "\r\x1b[K" } else { "" };
    complain(&format!("{wipe}{line}"));
}

/// Prints one JSON document, whole: Ctrl-C ends the program after its last line, because half of one is of no use.
pub(crate) fn json(value: &impl Serialize) -> anyhow::Result<()> {
    let document = serde_json::to_string_pretty(value)? + "\n";
    interrupt::whole(|| print(&document))
}

/// Whether the answer failed only because its reader, `head` say, had enough.
pub(crate) fn reader_left(error: &anyhow::Error) -> bool {
    let kind = error.downcast_ref::<std::io::Error>().map(std::io::Error::kind);
    kind == Some(std::io::ErrorKind::BrokenPipe)
}

/// Warnings are shown; `RUST_LOG` asks for more.
pub(crate) fn log_to_stderr() {
    let filter = tracing_subscriber::EnvFilter::try_from_default_env().unwrap_or_else(|_| "warn".into());
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .log_internal_errors(false)
        .with_ansi(std::io::stderr().is_terminal())
        .with_target(false)
        .without_time()
        .init();
}

/// A bar on a terminal; nothing elsewhere.
pub(crate) fn progress(what: &'static str) -> ProgressBar {
    let style = ProgressStyle::with_template("{msg} {bar:30} {pos}/{len} {eta}");
    ProgressBar::new(0).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar())).with_message(what)
}

/// Moves a bar to (done, in all).
pub(crate) fn advance(bar: &ProgressBar, done: usize, all: usize) {
    bar.set_length(all as u64);
    bar.set_position(done as u64);
}

/// A bar of bytes on a terminal; nothing elsewhere, and nothing until something moves.
pub(crate) fn bytes(name: &str) -> ProgressBar {
    let style = ProgressStyle::with_template("{msg} {bar:30} {bytes}/{total_bytes} {bytes_per_sec} {eta}");
    ProgressBar::no_length()
        .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
        .with_message(escaped(name))
}

/// Shows how the fetching of a model goes.
pub(crate) fn fetching(bar: &ProgressBar, name: &str, event: Event) {
    let name = escaped(name);
    match event {
        Event::Begins { files, bytes } => {
            let files = if files == 1 { "1 file".to_owned() } else { format!("{files} files") };
            bar.suspend(|| complain(&format!("fetching {name} from the Hub: {files}, {:.1} MB", bytes as f64 / 1e6)));
            bar.reset();
            bar.set_length(bytes);
        }
        Event::Moves { file, done, .. } => {
            if bar.message() != file {
                bar.set_message(escaped(file));
            }
            let begins = bar.position() == 0;
            bar.set_position(done);
            if begins {
                // What was here before says nothing of how fast the rest comes.
                bar.reset_eta();
            }
        }
        Event::Says(words) => bar.suspend(|| complain(&escaped(words))),
        Event::Waits => {}
    }
}

/// Whether standard output shows colour. (no-color.org)
pub(crate) fn colour() -> Colour {
    let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let unable = std::env::var_os("TERM").is_some_and(|terminal| terminal == "dumb");
    let wanted = std::io::stdout().is_terminal() && !refused && !unable;
    if wanted { Colour::Full } else { Colour::None }
}

/// Columns of the terminal; 100 where there is none.
pub(crate) fn columns() -> usize {
    terminal_size::terminal_size().map_or(100, |(width, _)| usize::from(width.0))
}

/// A number as a person wants it: four digits that matter, the very small ones by their exponent.
pub(crate) fn number(x: f64) -> String {
    let x = x + 0.0; // -0 is 0
    if x == 0.0 || x.abs() >= 1e-3 { format!("{x:.4}") } else { format!("{x:.2e}") }
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn small_numbers_are_not_rounded_to_nothing() {
        assert_eq!(number(0.629_072), "0.6291");
        assert_eq!(number(-1.9), "-1.9000");
        assert_eq!(number(3.2e-7), "3.20e-7");
        assert_eq!(number(-0.0), "0.0000");
    }
}
