//! Real models for tests, and what transformers made of them (`tools/expected-values.py`).

use std::path::PathBuf;

use attnscope_models::Model;
use serde::de::DeserializeOwned;

/// Opens a model from `models/`; says loudly that a test is skipped where it has not been fetched.
pub(crate) fn model(name: &str) -> Option<Model> {
    let path = models().join(name);
    if !path.exists() {
        eprintln!("SKIPPED: {} is not there; run tools/fetch-models", path.display());
        return None;
    }
    Some(Model::open(&path).unwrap())
}

/// Where the real models are.
pub(crate) fn models() -> PathBuf {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    std::env::var_os("ATTNSCOPE_MODELS").map_or_else(|| root.join("models"), PathBuf::from)
}

/// Reads one file of expected values.
pub(crate) fn expected<T: DeserializeOwned>(name: &str) -> T {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/expected").join(name);
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}
