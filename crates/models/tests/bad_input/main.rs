//! Bad input: one clear error that says what, where and what to do, and never a panic.

mod damage;
mod folder;
mod gguf;
mod gguf_header;
mod json;
mod pickle;
mod shards;
mod text;
#[path = "../common/tiny.rs"]
mod tiny;
mod truncate;

use std::path::Path;

use attnscope_models::{Keep, Model, Prompt};
use tempfile::TempDir;

use tiny::{Folder, Gguf};

/// The tiny Llama.
pub(crate) fn llama() -> Model {
    let folder = TempDir::new().unwrap();
    Model::open(&Gguf::llama().write(folder.path())).unwrap()
}

/// The tiny BERT.
pub(crate) fn bert() -> Model {
    let folder = TempDir::new().unwrap();
    Model::open(&Folder::bert().write(folder.path())).unwrap()
}

pub(crate) fn text(text: impl Into<String>) -> Prompt {
    Prompt::Text(text.into())
}

/// Opens what must not open. The message is one or two lines, holds all of `parts`, and no trace of a backtrace.
pub(crate) fn refused(path: &Path, parts: &[&str]) -> String {
    let message = match Model::open(path) {
        Ok(model) => panic!("{} opened as {}; wanted {parts:?}", path.display(), model.name()),
        Err(error) => error.to_string(),
    };
    check_message(&message, parts);
    let name = path.file_name().unwrap().to_str().unwrap();
    assert!(message.contains(name), "{message:?} does not name {name:?}");
    message
}

pub(crate) fn check_message(message: &str, parts: &[&str]) {
    assert!(message.lines().count() <= 2, "more than two lines: {message}");
    assert!(message.len() < 600, "{} bytes: {message}", message.len());
    assert!(!message.chars().any(|c| c.is_control() && c != '\n'), "{message:?} could command a terminal");
    for part in parts {
        assert!(message.contains(part), "{message:?} does not say {part:?}");
    }
}

/// Opens and reads, for input of which nobody knows whether it is still whole: either way, but no panic, and a
/// message fit for a person.
pub(crate) fn survives(path: &Path, what: &str) -> bool {
    let done = std::panic::catch_unwind(|| {
        let model = Model::open(path)?;
        model.trace(&text("the other 4"), Keep::All, &|_, _| true)
    });
    match done {
        Ok(Ok(_)) => true,
        Ok(Err(error)) => {
            check_message(&error.to_string(), &[]);
            false
        }
        Err(_) => panic!("panicked on {what}"),
    }
}
