//! Hugging Face folders: config.json, model.safetensors (or shards with an index), tokenizer.json.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use crate::Tokenizer;
use crate::chat::Home;
use crate::checkpoint::Checkpoint;
use crate::error::{Error, Result};
use crate::families::{Build, Entry, model_types};
use crate::hub::name_of_snapshot;
use crate::pickle;
use crate::shards::Shards;
use crate::weights::Weights;

/// No configuration is larger than this, and no index: those of the largest models take a few MB. In memory, JSON can take
/// many times as much.
const LARGEST_JSON: u64 = 16 << 20;

/// The family that a folder's config.json names.
pub(crate) fn family(path: &Path) -> Option<&'static Entry> {
    let config = read_json(&path.join("config.json"), "").ok()?;
    Entry::of_model_type(config.get("model_type")?.as_str()?)
}

/// A configuration that can be read, its family, and what makes a model of it.
///
/// # Errors
/// If there is none, or its family is not known.
pub(crate) fn look(path: &Path) -> Result<(Value, &'static Entry, Build)> {
    let config_path = path.join("config.json");
    let config = read_json(
        &config_path,
        "this is not a model folder: it has no config.json; one has config.json, tokenizer.json and model.safetensors",
    )?;
    let model_type = config.get("model_type").and_then(Value::as_str).unwrap_or_default();
    let Some(family) = Entry::of_model_type(model_type) else {
        let known = model_types();
        let problem = match model_type {
            "" => format!("it names no model_type; known are {known}"),
            other => format!("model_type {other:?} is not known; known are {known}"),
        };
        return Err(Error::file(&config_path, problem));
    };
    let build = (family.hf)(&config).map_err(|problem| Error::file(&config_path, problem))?;
    Ok((config, family, build))
}

pub(crate) fn open(path: &Path) -> Result<Checkpoint> {
    let (config, family, build) = look(path)?;
    let files = weight_files(path)?;
    let shards = Shards::open(&files)?;
    let tokenizer = Tokenizer::from_file(&path.join("tokenizer.json"), end_marks(path, &config)?)?;
    let name = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    Ok(Checkpoint {
        name: name_of_snapshot(&name)
            .map(str::to_owned)
            .or_else(|| Some(name.file_name()?.to_string_lossy().into_owned()))
            .unwrap_or_default(),
        family,
        build,
        weights: Weights::new(path, shards),
        tokenizer,
        template: Home::Folder(path.to_owned()),
        files,
    })
}

/// The ids that end a generated text: one or several, in generation_config.json or else in config.json.
fn end_marks(path: &Path, config: &Value) -> Result<Vec<u32>> {
    let generation_path = path.join("generation_config.json");
    let generation = match generation_path.exists() {
        true => read_json(&generation_path, "cannot be opened")?,
        false => Value::Null,
    };
    let named = |config: &Value| config.get("eos_token_id").filter(|value| !value.is_null()).cloned();
    let marks = match named(&generation).or_else(|| named(config)) {
        None => return Ok(Vec::new()),
        Some(Value::Array(several)) => several,
        Some(one) => vec![one],
    };
    let id = |value: &Value| value.as_u64().and_then(|id| u32::try_from(id).ok());
    marks
        .iter()
        .map(|value| id(value).ok_or_else(|| Error::file(path, format!("eos_token_id must be token ids, not {value}"))))
        .collect()
}

/// The file or files that hold the weights.
pub(crate) fn weight_files(path: &Path) -> Result<Vec<PathBuf>> {
    let single = path.join("model.safetensors");
    if single.exists() {
        return Ok(vec![single]);
    }
    let index_path = path.join("model.safetensors.index.json");
    if !index_path.exists() {
        let hint = pickle::refused_folder(path).unwrap_or_else(|| {
            "it has no model.safetensors; model.save_pretrained(folder) in transformers writes one".to_owned()
        });
        return Err(Error::file(path, hint));
    }
    let names = parts(&index_path)?;
    if let Some(missing) = names.iter().find(|name| !path.join(name).is_file()) {
        let problem = format!("it names {missing:?}, but this part of the weights is missing; fetch the model again");
        return Err(Error::file(&index_path, problem));
    }
    Ok(names.iter().map(|name| path.join(name)).collect())
}

/// The files that an index spreads the weights over, none outside of its folder.
pub(crate) fn parts(index_path: &Path) -> Result<BTreeSet<String>> {
    #[derive(Deserialize)]
    struct Index {
        weight_map: std::collections::BTreeMap<String, String>,
    }
    let index = read_json(index_path, "cannot be opened")?;
    let index: Index = serde_json::from_value(index).map_err(|error| Error::file(index_path, error.to_string()))?;
    let names: BTreeSet<String> = index.weight_map.into_values().collect();
    match names.iter().find(|name| Path::new(name).components().count() != 1 || name.starts_with('.')) {
        Some(name) => Err(Error::file(index_path, format!("it names a file outside of its folder: {name:?}"))),
        None => Ok(names),
    }
}

pub(crate) fn read_json(path: &Path, missing: &str) -> Result<Value> {
    let about = fs::metadata(path).map_err(|_| Error::file(path, missing))?;
    if !about.is_file() {
        return Err(Error::file(path, "is no file"));
    }
    let size = about.len();
    if size > LARGEST_JSON {
        return Err(Error::file(path, format!("is {size} bytes long: that is no configuration")));
    }
    let text = fs::read_to_string(path).map_err(|error| Error::file(path, format!("cannot be read: {error}")))?;
    serde_json::from_str(&text).map_err(|error| Error::file(path, format!("is not JSON: {error}")))
}
