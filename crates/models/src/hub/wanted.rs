//! Which files of a repository a model is read from.

use std::path::Path;

use super::HubId;
use super::cache::Repo;
use super::client::Listing;
use super::id::is_safe;
use crate::error::{Error, Result};
use crate::folder;

pub(super) const CONFIG: &str = "config.json";
pub(super) const INDEX: &str = "model.safetensors.index.json";
const WEIGHTS: &str = "model.safetensors";
const TOKENIZER: &str = "tokenizer.json";
/// Not every model has these.
pub(super) const OPTIONAL: [&str; 3] = ["generation_config.json", "tokenizer_config.json", "chat_template.jinja"];

/// What the cache has of a commit.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum State {
    Whole,
    /// All that must be there; whether the commit has more is not known.
    Usable,
    /// This is not there.
    Missing(String),
}

impl State {
    pub(super) fn nothing(id: &HubId) -> Self {
        Self::Missing(first_of(id).to_owned())
    }
}

/// The file without which nothing else of a model is looked for.
pub(super) fn first_of(id: &HubId) -> &str {
    id.file().unwrap_or(CONFIG)
}

pub(super) fn state(repo: &Repo, commit: &str, id: &HubId) -> State {
    let is_here = |name: &str| repo.file(commit, name).is_file();
    let must = match id.file() {
        Some(file) => vec![file],
        None => vec![CONFIG, TOKENIZER],
    };
    if let Some(missing) = must.into_iter().find(|name| !is_here(name)) {
        return State::Missing(missing.to_owned());
    }
    if id.file().is_some() {
        return State::Whole;
    }
    if folder::weight_files(&repo.place(commit, id)).is_err() {
        return State::Missing(WEIGHTS.to_owned());
    }
    let is_settled = |name: &&str| is_here(name) || repo.is_absent(commit, name);
    if OPTIONAL.iter().all(is_settled) { State::Whole } else { State::Usable }
}

/// What tells whether the model can be read at all, and what else it needs.
///
/// # Errors
/// Words on why it cannot be read, and what to do.
pub(super) fn first(listing: &Listing, id: &HubId) -> Result<Vec<&'static str>, String> {
    if let Some(file) = id.file() {
        return match listing.has(file) {
            true => Ok(Vec::new()),
            false => Err(format!("it has no file {file}; {}", ggufs(listing, id))),
        };
    }
    let single = listing.has(WEIGHTS);
    if !single && !listing.has(INDEX) {
        return Err(weightless(listing, id));
    }
    if let Some(missing) = [CONFIG, TOKENIZER].into_iter().find(|name| !listing.has(name)) {
        let made = "save_pretrained of its model and of its fast tokenizer in transformers writes a folder that has it";
        return Err(format!("it has no {missing}, without which it cannot be read; {made}"));
    }
    Ok(if single { vec![CONFIG] } else { vec![CONFIG, INDEX] })
}

/// All files of the model, the weights last. `index` says which parts those have.
///
/// # Errors
/// If the index is broken, or names what is not there.
pub(super) fn rest(listing: &Listing, id: &HubId, index: &Path) -> Result<Vec<String>> {
    if let Some(file) = id.file() {
        return Ok(vec![file.to_owned()]);
    }
    let mut names = vec![TOKENIZER.to_owned()];
    names.extend(OPTIONAL.iter().filter(|name| listing.has(name)).map(|name| (*name).to_owned()));
    if listing.has(WEIGHTS) {
        names.push(WEIGHTS.to_owned());
        return Ok(names);
    }
    let parts = folder::parts(index)?;
    if let Some(stray) = parts.iter().find(|name| !is_safe(name) || !listing.has(name)) {
        return Err(Error::hub(id, format!("its {INDEX} names {stray:?}, which is no file of it")));
    }
    names.extend(parts);
    Ok(names)
}

/// A repository without safetensors: what it has instead.
fn weightless(listing: &Listing, id: &HubId) -> String {
    let has =
        |name: &str, ending: &str| listing.files.iter().any(|file| file.starts_with(name) && file.ends_with(ending));
    if has("", ".gguf") {
        return format!("it has no {WEIGHTS}; {}", ggufs(listing, id));
    }
    if has("pytorch_model", ".bin") {
        return format!(
            "its weights are a Python pickle (pytorch_model.bin), which can run code and is not read; in transformers, \
             AutoModel.from_pretrained(\"{}\").save_pretrained(folder) makes a folder of it that is",
            id.repo()
        );
    }
    if has("adapter_config", ".json") {
        return "it holds an adapter, no whole model; merge it into its model first (merge_and_unload in peft)"
            .to_owned();
    }
    format!("it has no {WEIGHTS}: there is no model in it that can be read")
}

/// Which GGUF files there are, to name one.
fn ggufs(listing: &Listing, id: &HubId) -> String {
    let files: Vec<&str> = listing.files.iter().map(String::as_str).filter(|file| file.ends_with(".gguf")).collect();
    match files.as_slice() {
        [] => "there are no GGUF files in it".to_owned(),
        [first, ..] => {
            let shown = files.iter().take(8).copied().collect::<Vec<_>>().join(", ");
            let more = if files.len() > 8 { format!(" and {} more", files.len() - 8) } else { String::new() };
            format!("of its GGUF files name one, as in {}:{first} (there are {shown}{more})", id.repo())
        }
    }
}
