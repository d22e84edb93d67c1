//! The tiny checkpoints, what transformers made of them, and copies of them with something changed.

use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;

use attnscope_inspect::{At, Trace};
use attnscope_models::{Keep, Model, Prompt, Run};
use candle_core::{DType, Device, Tensor};
use serde::Deserialize;
use serde_json::Value;
use tempfile::TempDir;

/// The families that are tested here.
pub(crate) const FAMILIES: [&str; 10] =
    ["gpt2", "llama", "mistral", "qwen2", "qwen3", "smollm3", "phi3", "gemma2", "gemma3", "gpt_neox"];

/// What a checkpoint is given to read.
#[derive(Deserialize)]
pub(crate) struct Case {
    pub(crate) text: String,
    pub(crate) ids: Vec<u32>,
    #[serde(default)]
    pub(crate) logit_positions: Vec<u32>,
}

/// A checkpoint as it is committed.
pub(crate) struct Tiny {
    pub(crate) name: String,
    pub(crate) family: String,
    pub(crate) path: PathBuf,
    pub(crate) case: Case,
}

impl Tiny {
    pub(crate) fn named(name: &str) -> Self {
        let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/tiny").join(name);
        let cases = fs::read_to_string(path.join("cases.json")).unwrap();
        let mut cases: HashMap<String, Case> = serde_json::from_str(&cases).unwrap();
        let family = name.split('-').next().unwrap().to_owned();
        Self { name: name.to_owned(), family, path, case: cases.remove("text").unwrap() }
    }

    /// Every checkpoint of a decoder.
    pub(crate) fn all() -> Vec<Self> {
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/tiny");
        let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> =
            names.filter(|name| name.split('-').next().is_some_and(|family| FAMILIES.contains(&family))).collect();
        names.sort();
        assert!(names.len() >= 21, "{names:?}");
        names.iter().map(|name| Self::named(name)).collect()
    }

    pub(crate) fn open(&self) -> Model {
        Model::open(&self.path).unwrap()
    }

    /// What transformers made of it, by name.
    pub(crate) fn expected(&self) -> HashMap<String, Tensor> {
        candle_core::safetensors::load(self.path.join("expected.safetensors"), &Device::Cpu).unwrap()
    }

    pub(crate) fn config(&self) -> Value {
        serde_json::from_str(&fs::read_to_string(self.path.join("config.json")).unwrap()).unwrap()
    }

    /// A copy to change.
    pub(crate) fn copy(&self) -> Copied {
        let tensors = candle_core::safetensors::load(self.path.join("model.safetensors"), &Device::Cpu).unwrap();
        Copied { config: self.config(), tensors, tokenizer: self.path.join("tokenizer.json") }
    }

    /// Whether the angles of its rotary embedding depend on the length of the whole text.
    pub(crate) fn turns_by_length(&self) -> bool {
        ["dynamic", "longrope"].contains(&self.config()["rope_parameters"]["rope_type"].as_str().unwrap_or_default())
    }
}

/// A checkpoint whose parts can be changed before it is written.
pub(crate) struct Copied {
    pub(crate) config: Value,
    pub(crate) tensors: HashMap<String, Tensor>,
    tokenizer: PathBuf,
}

impl Copied {
    pub(crate) fn set(mut self, key: &str, value: Value) -> Self {
        *self.config.pointer_mut(&format!("/{key}")).unwrap_or_else(|| panic!("no {key}")) = value;
        self
    }

    pub(crate) fn add(mut self, key: &str, value: Value) -> Self {
        self.config[key] = value;
        self
    }

    pub(crate) fn remove(mut self, key: &str) -> Self {
        self.config.as_object_mut().unwrap().remove(key).unwrap();
        self
    }

    /// Without the tensors whose names end so; there must be some.
    pub(crate) fn without(mut self, ending: &str) -> Self {
        let before = self.tensors.len();
        self.tensors.retain(|name, _| !name.ends_with(ending));
        assert!(self.tensors.len() < before, "no tensor ends in {ending}");
        self
    }

    pub(crate) fn write(&self) -> TempDir {
        let folder = TempDir::new().unwrap();
        fs::copy(&self.tokenizer, folder.path().join("tokenizer.json")).unwrap();
        fs::write(folder.path().join("config.json"), self.config.to_string()).unwrap();
        candle_core::safetensors::save(&self.tensors, folder.path().join("model.safetensors")).unwrap();
        folder
    }

    pub(crate) fn open(&self) -> Model {
        Model::open(self.write().path()).unwrap()
    }

    /// Why it does not open.
    pub(crate) fn refused(&self) -> String {
        let folder = self.write();
        let Err(error) = Model::open(folder.path()) else { panic!("opened") };
        let message = error.to_string();
        assert!(message.contains(folder.path().to_str().unwrap()), "{message:?} does not say where");
        assert_eq!(message.lines().count(), 1, "{message:?}");
        message
    }
}

pub(crate) fn trace(model: &Model, ids: &[u32]) -> Trace {
    model.trace(&Prompt::Ids(ids.to_vec()), Keep::All, &|_, _| true).unwrap()
}

/// Every weight of a run: by layer and head, row by row.
pub(crate) fn weights(trace: &Trace) -> Vec<Vec<f64>> {
    let heads = trace.sites.iter().flat_map(|site| {
        (0..site.q_heads()).map(|head| {
            let at = At { layer: site.layer, head, ..At::default() };
            (0..site.q_len()).flat_map(|query| trace.row(at, query).unwrap().weights).collect()
        })
    });
    heads.collect()
}

/// The vectors of every token after the last layer and its norm.
pub(crate) fn hidden(model: &Model, ids: &[u32]) -> Vec<Vec<f32>> {
    model.hidden(ids, &mut Run::keeping(Keep::Nothing)).unwrap().to_vec2().unwrap()
}

/// The logits of every position.
pub(crate) fn logits(model: &Model, ids: &[u32]) -> Tensor {
    model.logits(&model.hidden(ids, &mut Run::keeping(Keep::Nothing)).unwrap()).unwrap()
}

pub(crate) fn numbers(tensor: &Tensor) -> Vec<f32> {
    tensor.to_dtype(DType::F32).unwrap().flatten_all().unwrap().to_vec1().unwrap()
}

pub(crate) fn largest(numbers: &[f32]) -> f32 {
    numbers.iter().fold(0.0, |max, x| max.max(x.abs()))
}

/// The largest difference, of numbers that are all there. NaN is the largest of all.
pub(crate) fn apart<T: Copy + Into<f64>>(a: &[T], b: &[T]) -> f64 {
    assert_eq!(a.len(), b.len());
    let differences = a.iter().zip(b).map(|(a, b)| ((*a).into() - (*b).into()).abs());
    differences.fold(0.0, |worst, d| if worst.is_nan() || d <= worst { worst } else { d })
}
