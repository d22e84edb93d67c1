use std::path::PathBuf;

use thiserror::Error;

/// Why a question or a file was refused: what, where, and what to do.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// A layer, head, query or key that is not there.
    #[error("{what} {got} is out of range: {range}")]
    OutOfRange {
        /// `layer`, `head`, `query`, `key` or `position`.
        what: &'static str,
        /// What was asked for.
        got: usize,
        /// What there is, in words.
        range: String,
    },
    /// There is no attention of the kind asked for.
    #[error("{of} has no {kind} attention{}; {}", whose(kind), choice(has))]
    NoSite {
        /// What has none, as whoever asks knows it: a source by its name, or `this trace`.
        of: String,
        /// `self`, `cross` or `encoder`.
        kind: &'static str,
        /// The kinds that it has.
        has: Vec<&'static str>,
    },
    /// A token name that does not occur.
    #[error("no token reads {name:?}; the tokens are {tokens}")]
    NoToken {
        /// What was asked for.
        name: String,
        /// The tokens there are, shortened.
        tokens: String,
    },
    /// A token name that occurs more than once.
    #[error("{name:?} occurs {} times, at positions {}; give the position instead", positions.len(), join(positions))]
    AmbiguousToken {
        /// What was asked for.
        name: String,
        /// Where it occurs.
        positions: Vec<usize>,
    },
    /// A file that is not a trace, or not a whole one.
    #[error("{}: {problem}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong with it, and what to do.
        problem: String,
    },
    /// A question that has no answer on this trace, and why.
    #[error("{0}")]
    Undefined(String),
    /// A trace put together from pieces that do not fit.
    #[error("{site}: {problem}")]
    Site {
        /// Which site.
        site: String,
        /// What does not fit.
        problem: attnscope_kernel::Error,
    },
    /// A trace with two attentions under one name.
    #[error("layer {layer} {kind} occurs twice; each layer has one attention of a kind")]
    Twice {
        /// `self`, `cross` or `encoder`.
        kind: &'static str,
        /// The layer, from 0.
        layer: usize,
    },
    /// A mapped file is not what it was when it was opened.
    #[error("the trace file was changed while it was open; open it again")]
    Changed,
    /// Whoever asked has left; see [`crate::Wanted`].
    #[error("nobody waits for this answer any more")]
    NotWanted,
    /// The kernel refused.
    #[error(transparent)]
    Kernel(#[from] attnscope_kernel::Error),
}

/// Words on a file that may quote what is in it, made fit to be shown: a damaged file must not fill a screen or
/// command a terminal. What is too long loses its middle, so that what to do, which stands last, stays.
pub fn fit_to_show(problem: &str) -> String {
    const END: usize = 200;
    let mut shown: Vec<char> = escaped(problem).chars().collect();
    if shown.len() > 2 * END + 5 {
        let last = shown.len() - END;
        shown.splice(END..last, " ... ".chars());
    }
    shown.into_iter().collect()
}

/// Words with nothing in them that a terminal would obey, or that would turn the order of what follows.
pub fn escaped(words: &str) -> String {
    let mut shown = String::with_capacity(words.len());
    for c in words.chars() {
        match c {
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
                shown.extend(c.escape_unicode());
            }
            c if c.is_control() => shown.extend(c.escape_default()),
            c => shown.push(c),
        }
    }
    shown
}

fn whose(kind: &str) -> &'static str {
    if kind == "self" { "" } else { ", which is of encoder-decoders" }
}

/// What to ask for instead.
fn choice(has: &[&str]) -> String {
    match has {
        [] => "it has no attention at all".to_owned(),
        [only] => format!("choose `{only}`"),
        [others @ .., last] => format!("choose `{}` or `{last}`", others.join("`, `")),
    }
}

fn join(positions: &[usize]) -> String {
    let words: Vec<String> = positions.iter().map(usize::to_string).collect();
    words.join(", ")
}
