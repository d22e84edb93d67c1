//! GGUF files: configuration, tokenizer and tensors, many of them quantised, in one. Each family's header is told as the
//! config.json of a folder, and its tensors go by the names that they have there, so that a family is read in one way.

mod bytes;
mod config;
mod glance;
mod header;
mod keys;
mod kinds;
mod names;
mod rotary;
mod tensors;
mod tokenizer;
mod value;

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use memmap2::Mmap;
use serde_json::Value as Json;

use crate::chat::Home;
use crate::checkpoint::Checkpoint;
use crate::error::{Error, Result};
use crate::families::{Entry, gguf_architectures};
use crate::pickle;
use crate::weights::{Choice, Weights};

pub(crate) use config::Header;
pub(crate) use glance::{family, name};
pub(crate) use names::{Names, Stored};
pub(crate) use rotary::Turning;

use keys::Keys;
use tensors::{Named, Tensors};

/// How the GGUF files of a family are read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dialect {
    /// Their architectures.
    pub(crate) architectures: &'static [&'static str],
    /// Their header as a config.json.
    pub(crate) config: fn(&Header) -> Result<Json>,
    pub(crate) names: &'static Names,
}

pub(crate) fn open(path: &Path, choice: Choice) -> Result<Checkpoint> {
    let file = File::open(path).map_err(|error| Error::file(path, format!("cannot be opened: {error}")))?;
    // SAFETY: the map is read-only and lives as long as the checkpoint. Another process that shortens the file while
    // it is mapped would end this one, as with any mapped file.
    let map = unsafe { Mmap::map(&file) }.map_err(|error| Error::file(path, format!("cannot be mapped: {error}")))?;
    let map = Arc::new(map);
    if !map.starts_with(b"GGUF") {
        return Err(Error::file(path, no_such_file(path, &map)));
    }
    if let Some(problem) = header::other_version(&map) {
        return Err(Error::file(path, problem));
    }
    let header = header::Header::read(&map)
        .map_err(|problem| Error::file(path, format!("is damaged or cut short; fetch it again ({problem})")))?;
    let keys = Keys { path, header: &header, architecture: "" };
    let architecture = keys.text("general.architecture")?;
    let keys = Keys { architecture: &architecture, ..keys };
    let known = Entry::of_gguf(&architecture).and_then(|entry| Some((entry, entry.gguf.as_ref()?)));
    let Some((family, dialect)) = known else {
        let known = gguf_architectures();
        return Err(Error::file(path, format!("architecture {architecture:?} is not known; known are {known}")));
    };
    if let Some(parts) = keys.optional_size("split.count")?.filter(|parts| *parts > 1) {
        let way_out = "put them together with llama.cpp's llama-gguf-split --merge";
        return Err(Error::file(path, format!("is one of {parts} parts of a model; {way_out}")));
    }
    let tensors = Tensors::new(path, &map, &header)?;
    let config = (dialect.config)(&Header { keys, tensors: &tensors })?;
    let build = (family.hf)(&config).map_err(|problem| Error::file(path, problem))?;
    let tokenizer = tokenizer::read(&keys)?;
    let template = template(&keys)?;
    let form = choice.of_quantised(tensors.numbers(), &tensors.quantisations(), path)?;
    let heads = keys.size(".attention.head_count")?;
    let heads = (heads, keys.optional_size(".attention.head_count_kv")?.unwrap_or(heads));
    let name = path.file_stem().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let named = Named { tensors, names: dialect.names, heads, form };
    Ok(Checkpoint {
        name,
        family,
        build,
        tokenizer,
        template,
        weights: Weights::new(path, named),
        files: vec![path.to_owned()],
    })
}

fn no_such_file(path: &Path, start: &[u8]) -> String {
    pickle::refused(path, start).unwrap_or_else(|| {
        let why = match start {
            [] => "the file is empty; fetch it again",
            _ => "is neither a GGUF file nor a trace, nor a folder with a model",
        };
        why.to_owned()
    })
}

/// The chat template, and the marks that it may name.
fn template(keys: &Keys) -> Result<Home> {
    let source = keys.optional_text("tokenizer.chat_template")?.map(std::borrow::Cow::into_owned);
    let names = [("bos", "bos"), ("eos", "eos"), ("pad", "padding"), ("unk", "unknown")];
    let tokens = keys.list("tokenizer.ggml.tokens")?;
    let mut marks = Vec::new();
    for (jinja, gguf) in names {
        let Some(id) = keys.optional_size(&format!("tokenizer.ggml.{gguf}_token_id"))? else { continue };
        if let Some(mark) = tokens.values().nth(id).and_then(value::Value::text) {
            marks.push((format!("{jinja}_token"), mark.into_owned()));
        }
    }
    Ok(Home::Header { path: keys.path.to_owned(), source, marks })
}
