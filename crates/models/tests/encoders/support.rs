//! The tiny checkpoints, what is read, and what transformers made of it.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::PathBuf;

use attnscope_inspect::{At, SiteKind, Trace};
use attnscope_models::{Keep, Model, Prompt, Reading, Run};
use candle_core::{Device, Tensor, safetensors};
use serde::Deserialize;
use serde_json::Value as Json;
use tempfile::TempDir;

/// Weights, (heads, queries, keys).
pub(crate) type Map = Vec<Vec<Vec<f32>>>;

/// One thing that was read.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Case {
    /// Of which the ids are, where they are of a text.
    pub(crate) text: Option<String>,
    pub(crate) second: Option<String>,
    pub(crate) ids: Vec<u32>,
    pub(crate) types: Option<Vec<u32>>,
    pub(crate) real: Option<Vec<bool>>,
    /// For the decoder of an encoder-decoder.
    pub(crate) decoder_ids: Option<Vec<u32>>,
    pub(crate) target: Option<String>,
}

impl Case {
    pub(crate) fn reading(&self) -> Reading {
        Reading { ids: self.ids.clone(), types: self.types.clone(), real: self.real.clone() }
    }

    pub(crate) fn prompt(&self) -> Prompt {
        let reading = Prompt::Tokens(self.reading());
        match &self.decoder_ids {
            None => reading,
            Some(ids) => Prompt::Halves { encoder: Box::new(reading), decoder: Box::new(Prompt::Ids(ids.clone())) },
        }
    }
}

/// A checkpoint in its parts, so that a test can change any of them before it is opened.
pub(crate) struct Tiny {
    pub(crate) config: Json,
    pub(crate) tensors: HashMap<String, Tensor>,
    pub(crate) cases: BTreeMap<String, Case>,
    /// `CASE.hidden` and so on, and `CASE.SITE.LAYER`, (heads, queries, keys).
    pub(crate) expected: HashMap<String, Tensor>,
    tokenizer: Vec<u8>,
}

/// Every variant there is.
pub(crate) fn variants() -> Vec<String> {
    let folders = fs::read_dir(tiny()).unwrap().map(|entry| entry.unwrap().path());
    let ours = folders.filter(|path| path.join("cases.json").exists());
    let mut names: Vec<String> = ours.map(|path| path.file_name().unwrap().to_str().unwrap().to_owned()).collect();
    names.retain(|name| FAMILIES.iter().any(|family| name.starts_with(family)));
    names.sort();
    assert!(names.len() >= 13, "{names:?}");
    names
}

const FAMILIES: [&str; 7] = ["bert-", "distilbert-", "roberta-", "albert-", "modernbert-", "t5-", "bart-"];

fn tiny() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/tiny")
}

impl Tiny {
    pub(crate) fn load(variant: &str) -> Self {
        let folder = tiny().join(variant);
        let json = |name: &str| fs::read(folder.join(name)).unwrap();
        let tensors = |name: &str| safetensors::load(folder.join(name), &Device::Cpu).unwrap();
        Self {
            config: serde_json::from_slice(&json("config.json")).unwrap(),
            tensors: tensors("model.safetensors"),
            cases: serde_json::from_slice(&json("cases.json")).unwrap(),
            expected: tensors("expected.safetensors"),
            tokenizer: json("tokenizer.json"),
        }
    }

    /// The model of the parts as they now are.
    pub(crate) fn open(&self) -> Result<Model, String> {
        let folder = TempDir::new().unwrap();
        fs::write(folder.path().join("config.json"), self.config.to_string()).unwrap();
        fs::write(folder.path().join("tokenizer.json"), &self.tokenizer).unwrap();
        safetensors::save(&self.tensors, folder.path().join("model.safetensors")).unwrap();
        Model::open(folder.path()).map_err(|error| error.to_string())
    }

    pub(crate) fn model(&self) -> Model {
        self.open().unwrap()
    }

    pub(crate) fn numbers(&self, name: &str) -> Option<Vec<f32>> {
        self.expected.get(name).map(|tensor| tensor.flatten_all().unwrap().to_vec1().unwrap())
    }

    /// Every map of a case: (which attention, of which layer, its weights).
    pub(crate) fn maps(&self, case: &str) -> Vec<(SiteKind, usize, Map)> {
        let kinds = [SiteKind::SelfAttention, SiteKind::Cross, SiteKind::Encoder];
        let mut maps = Vec::new();
        for kind in kinds {
            for layer in 0.. {
                let Some(map) = self.expected.get(&format!("{case}.{kind}.{layer}")) else { break };
                maps.push((kind, layer, map.to_vec3().unwrap()));
            }
        }
        maps
    }

    /// The largest difference of any weight of a case from what transformers has, over the maps that are in both.
    pub(crate) fn furthest(&self, trace: &Trace, case: &str) -> f64 {
        let mut worst: f64 = 0.0;
        for (site, layer, map) in self.maps(case) {
            if trace.site(site, layer).is_err() {
                continue;
            }
            for (head, rows) in map.iter().enumerate() {
                for (query, want) in rows.iter().enumerate() {
                    let got = trace.row(At { site, layer, head }, query).unwrap();
                    assert_eq!(got.weights.len(), want.len());
                    for (got, want) in got.weights.iter().zip(want) {
                        let apart = (got - f64::from(*want)).abs();
                        // NaN is the furthest of all.
                        worst = if apart.is_nan() { f64::INFINITY } else { worst.max(apart) };
                    }
                }
            }
        }
        worst
    }
}

pub(crate) fn trace(model: &Model, prompt: &Prompt) -> Trace {
    model.trace(prompt, Keep::All, &|_, _| true).unwrap()
}

/// The vectors of every token after the last layer; of an encoder-decoder, of the decoder's tokens.
pub(crate) fn hidden(model: &Model, case: &Case) -> Tensor {
    let Reading { ids, types, real } = case.reading();
    let mut run = Run { types, real, ..Run::keeping(Keep::Nothing) };
    let Some(decoder_ids) = &case.decoder_ids else { return model.hidden(&ids, &mut run).unwrap() };
    let memory = model.encode(&ids, &mut run).unwrap();
    model.hidden(decoder_ids, &mut Run { memory: Some(memory), ..Run::keeping(Keep::Nothing) }).unwrap()
}

/// The largest difference as a share of the largest number.
pub(crate) fn apart(got: &Tensor, want: &[f32]) -> f32 {
    let got: Vec<f32> = got.flatten_all().unwrap().to_vec1().unwrap();
    assert_eq!(got.len(), want.len());
    let largest = want.iter().fold(0.0, |max: f32, x| max.max(x.abs()));
    got.iter().zip(want).fold(0.0, |worst: f32, (got, want)| {
        let apart = (got - want).abs() / largest;
        if apart.is_nan() { f32::INFINITY } else { worst.max(apart) }
    })
}
