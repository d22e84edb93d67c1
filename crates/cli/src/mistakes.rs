//! Wrong usage, and what was probably meant by it.

use std::path::Path;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, Error, FromArgMatches};
use strsim::damerau_levenshtein;

use crate::args::{Cli, command};

/// The command line as it was meant; what is none ends the program with words of what to do, and exit code 2.
pub(crate) fn parse() -> Cli {
    let words: Vec<String> = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    let mut command = command();
    let matches = command.try_get_matches_from_mut(std::env::args_os());
    let read = matches.and_then(|matches| Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut command)));
    match read {
        Ok(cli) => {
            let first = if cli.command.is_none() { cli.view.sources.first() } else { None };
            if let Some(error) = first.and_then(|word| misspelt(&command, word)) {
                error.exit();
            }
            cli
        }
        Err(error) => explained(error, &command, &words).exit(),
    }
}

fn explained(error: Error, command: &Command, words: &[String]) -> Error {
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        return error;
    }
    let first = first(command, words);
    if let Some(error) = first.and_then(|word| misspelt(command, word)) {
        return error;
    }
    let of = first.and_then(|word| command.find_subcommand(word)).unwrap_or(command);
    match error.kind() {
        ErrorKind::UnknownArgument => unknown(error, of, command, words),
        ErrorKind::ValueValidation => number(&error, of).unwrap_or(error),
        ErrorKind::InvalidSubcommand => nearly(error, command),
        _ => error,
    }
}

/// The first word that is no option and no value of one.
fn first<'a>(command: &Command, words: &'a [String]) -> Option<&'a String> {
    let takes = |word: &str| {
        let mut args = command.get_arguments().filter(|arg| arg.get_action().takes_values());
        args.any(|arg| arg.get_long().is_some_and(|long| word.strip_prefix("--") == Some(long)))
    };
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if takes(word) {
            words.next();
        } else if !word.starts_with('-') {
            return Some(word);
        }
    }
    None
}

/// A word that is no source, and nearly a command: nobody means a model of the Hub by it.
fn misspelt(command: &Command, word: &str) -> Option<Error> {
    if command.find_subcommand(word).is_some() || Path::new(word).symlink_metadata().is_ok() || word == "example" {
        return None;
    }
    let names = command.get_subcommands().map(Command::get_name);
    let near = nearest(word, names)?.to_owned();
    let mut error = Error::new(ErrorKind::InvalidSubcommand).with_cmd(command);
    error.insert(ContextKind::InvalidSubcommand, ContextValue::String(word.to_owned()));
    error.insert(ContextKind::SuggestedSubcommand, ContextValue::String(near));
    tip(&mut error, format!("a model of the Hub that is called so is opened by 'attnscope view {word}'"));
    Some(error)
}

/// What was asked for help on and is no command, but nearly one.
fn nearly(mut error: Error, command: &Command) -> Error {
    if let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand)
        && let Some(near) = nearest(word, command.get_subcommands().map(Command::get_name))
    {
        error.insert(ContextKind::SuggestedSubcommand, ContextValue::String(near.to_owned()));
    }
    error
}

/// An option that is not known: clap's own tips name options that are nothing like it, or would have it taken for a source.
fn unknown(mut error: Error, of: &Command, all: &Command, words: &[String]) -> Error {
    error.remove(ContextKind::Suggested);
    error.remove(ContextKind::SuggestedArg);
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidArg) else { return error };
    let word = word.clone();
    // clap's would name what it suggests.
    error.insert(ContextKind::Usage, ContextValue::StyledStr(of.clone().render_usage()));
    let Some(name) = word.strip_prefix("--").map(|name| name.split_once('=').map_or(name, |(name, _)| name)) else {
        if let Some(long) = one_dash(&word, of, words) {
            tip(&mut error, format!("an option has two dashes: '--{long}'"));
        } else if let Some(words) = stray(&word, of, words) {
            tip(&mut error, words.to_owned());
        }
        return error;
    };
    let has: Vec<&str> = all
        .get_subcommands()
        .filter(|other| other.get_name() != of.get_name() && longs(other).any(|long| long == name))
        .map(Command::get_name)
        .collect();
    if let Some(near) = nearest(name, longs(of)) {
        error.insert(ContextKind::SuggestedArg, ContextValue::String(format!("--{near}")));
    } else if !has.is_empty() {
        let other = if of.get_name() == all.get_name() { "is an option" } else { "is no option here, but one" };
        tip(&mut error, format!("'--{name}' {other} of {}", has.join(", ")));
    }
    error
}

/// A long option that was written with one dash.
fn one_dash<'a>(word: &str, of: &'a Command, words: &[String]) -> Option<&'a str> {
    let written = words.iter().find(|written| written.starts_with(word) && !written.starts_with("--"))?;
    let written = written[1..].split('=').next()?;
    longs(of).find(|long| *long == written)
}

/// What to do with a word that belongs to nothing.
fn stray(word: &str, of: &Command, words: &[String]) -> Option<&'static str> {
    let at = words.iter().position(|other| other == word)?;
    let before = at.checked_sub(2).and_then(|at| words[at].strip_prefix("--"));
    let has = |name: &str| longs(of).any(|long| long == name);
    match before {
        _ if word.starts_with('-') => None,
        Some(option) if has(option) => {
            Some("a text of several words, or a list with blanks in it, must stand in quotes")
        }
        _ if has("query") && has("key") => Some("tokens are named by options: '--query TOKEN' and '--key TOKEN'"),
        _ if has("query") => Some("a token is named by an option: '--query TOKEN'"),
        _ if has("text") => Some("a text is given by an option: '--text TEXT'"),
        _ => None,
    }
}

/// A number that is none, in other words than Rust's.
fn number(error: &Error, of: &Command) -> Option<Error> {
    use std::error::Error as _;
    let (Some(ContextValue::String(arg)), Some(ContextValue::String(value))) =
        (error.get(ContextKind::InvalidArg), error.get(ContextKind::InvalidValue))
    else {
        return None;
    };
    let said = error.source()?.to_string();
    let range = said.strip_prefix(&format!("{value} is not in ")).and_then(|range| range.split_once("..="));
    let why = match (&*said, range) {
        (_, Some((from, to))) => format!("it must be a whole number from {from} to {to}"),
        ("invalid digit found in string" | "cannot parse integer from empty string", _) => {
            "it must be a whole number, from 0 on".to_owned()
        }
        ("number too large to fit in target type", _) => "it is too large".to_owned(),
        ("invalid float literal" | "cannot parse float from empty string", _) => {
            "it must be a number, such as 0.7".to_owned()
        }
        _ => return None,
    };
    let mut of = of.clone();
    Some(of.error(ErrorKind::ValueValidation, format!("invalid value '{value}' for '{arg}': {why}")))
}

fn tip(error: &mut Error, words: String) {
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![words.into()]));
}

fn longs(command: &Command) -> impl Iterator<Item = &str> {
    command.get_arguments().flat_map(|arg| arg.get_long_and_visible_aliases().unwrap_or_default())
}

/// The one that a word is nearly: a letter or, of long ones, two apart, or the only one that begins so.
fn nearest<'a>(word: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let names: Vec<&str> = names.collect();
    let apart = |name: &&str| damerau_levenshtein(word, name);
    let near = names.iter().copied().min_by_key(apart).filter(|name| apart(name) <= if word.len() < 6 { 1 } else { 2 });
    let begun: Vec<&str> = names.iter().copied().filter(|name| word.len() > 2 && name.starts_with(word)).collect();
    near.or(if begun.len() == 1 { begun.first().copied() } else { None })
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn a_word_means_what_it_is_nearly() {
        let names = || ["view", "show", "row", "cell", "heads", "trace", "export", "generate"].into_iter();
        for (word, near) in [
            ("veiw", Some("view")),
            ("trce", Some("trace")),
            ("head", Some("heads")),
            ("exprot", Some("export")),
            ("genrat", Some("generate")),
            ("gen", Some("generate")),
            ("gpt2", None),
            ("bert", None),
            ("ctrl", None),
            ("t5-small", None),
            ("", None),
        ] {
            assert_eq!(nearest(word, names()), near, "{word}");
        }
    }
}
