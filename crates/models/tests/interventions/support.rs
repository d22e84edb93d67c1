//! The tiny checkpoints of every family, and runs of them.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::PathBuf;

use attnscope_inspect::{SiteKind, Trace};
use attnscope_models::{Heads, Interventions, Keep, Model, Prompt, Reading, Run};
use candle_core::{DType, Device, Tensor};
use serde::Deserialize;
use tempfile::TempDir;

/// One thing to read.
#[derive(Clone, Deserialize)]
pub(crate) struct Case {
    pub(crate) ids: Vec<u32>,
    pub(crate) types: Option<Vec<u32>>,
    pub(crate) real: Option<Vec<bool>>,
    pub(crate) decoder_ids: Option<Vec<u32>>,
}

impl Case {
    pub(crate) fn prompt(&self) -> Prompt {
        let Self { ids, types, real, decoder_ids } = self.clone();
        let reading = Prompt::Tokens(Reading { ids, types, real });
        match decoder_ids {
            None => reading,
            Some(ids) => Prompt::Halves { encoder: Box::new(reading), decoder: Box::new(Prompt::Ids(ids)) },
        }
    }

    /// The tokens that the model's last vectors are of.
    pub(crate) fn read(&self) -> &[u32] {
        self.decoder_ids.as_ref().unwrap_or(&self.ids)
    }

    pub(crate) fn read_mut(&mut self) -> &mut Vec<u32> {
        self.decoder_ids.as_mut().unwrap_or(&mut self.ids)
    }
}

/// A checkpoint as it is committed.
pub(crate) struct Tiny {
    pub(crate) name: String,
    pub(crate) model: Model,
    pub(crate) cases: BTreeMap<String, Case>,
    path: PathBuf,
}

impl Tiny {
    pub(crate) fn named(name: &str) -> Self {
        let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/tiny").join(name);
        let cases = serde_json::from_slice(&fs::read(path.join("cases.json")).unwrap()).unwrap();
        Self { name: name.to_owned(), model: Model::open(&path).unwrap(), cases, path }
    }

    /// All there are.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/tiny");
        let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.collect();
        names.sort();
        assert!(names.len() >= 34, "{names:?}");
        names.into_iter().map(|name| Self::named(&name))
    }

    pub(crate) fn text(&self) -> &Case {
        &self.cases["text"]
    }

    pub(crate) fn kinds(&self) -> Vec<SiteKind> {
        self.model.attentions().iter().map(|has| has.kind).collect()
    }

    /// The last layer of a kind of attention.
    pub(crate) fn last(&self, kind: SiteKind) -> usize {
        self.model.attentions().iter().find(|has| has.kind == kind).unwrap().layers - 1
    }

    /// Query heads of the attention that a tensor belongs to: those of the two halves may differ.
    pub(crate) fn heads_of(&self, tensor: &str) -> usize {
        let of = self.model.attentions();
        if of.len() > 1 && !tensor.contains("decoder.") { of[2].heads } else { of[0].heads }
    }

    /// The same model with other numbers.
    pub(crate) fn with(&self, change: impl FnOnce(&mut HashMap<String, Tensor>)) -> Model {
        let mut tensors = candle_core::safetensors::load(self.path.join("model.safetensors"), &Device::Cpu).unwrap();
        change(&mut tensors);
        let folder = TempDir::new().unwrap();
        for name in ["config.json", "tokenizer.json"] {
            fs::copy(self.path.join(name), folder.path().join(name)).unwrap();
        }
        candle_core::safetensors::save(&tensors, folder.path().join("model.safetensors")).unwrap();
        Model::open(folder.path()).unwrap()
    }
}

/// The vectors of every token after the last layer.
pub(crate) fn vectors(model: &Model, case: &Case, interventions: &Interventions) -> Vec<Vec<f32>> {
    try_vectors(model, case, interventions).unwrap()
}

pub(crate) fn try_vectors(model: &Model, case: &Case, interventions: &Interventions) -> Result<Vec<Vec<f32>>, String> {
    let said = |error: attnscope_models::Error| error.to_string();
    let keeping = || Run { interventions, ..Run::keeping(Keep::Nothing) };
    let mut run = Run { types: case.types.clone(), real: case.real.clone(), ..keeping() };
    let hidden = match &case.decoder_ids {
        None => model.hidden(&case.ids, &mut run),
        Some(ids) => {
            let memory = Some(model.encode(&case.ids, &mut run).map_err(said)?);
            model.hidden(ids, &mut Run { memory, ..keeping() })
        }
    };
    Ok(hidden.map_err(said)?.to_vec2().unwrap())
}

pub(crate) fn trace(model: &Model, case: &Case, interventions: &Interventions) -> Trace {
    let texts = model.texts(&case.prompt(), &|_, _| true).unwrap();
    model.trace_with(&texts, interventions, Keep::All, &|_, _| true).unwrap()
}

/// Every head of every layer of one kind.
pub(crate) fn every(site: SiteKind) -> Heads {
    Heads { site, ..Heads::default() }
}

/// The largest difference as a share of the largest number. NaN is the largest of all.
pub(crate) fn apart(got: &[Vec<f32>], want: &[Vec<f32>]) -> f32 {
    let (got, want) = (got.concat(), want.concat());
    assert_eq!(got.len(), want.len());
    let largest = want.iter().fold(0.0, |max: f32, x| max.max(x.abs()));
    got.iter().zip(want).fold(0.0, |worst: f32, (got, want)| {
        let off = (got - want).abs() / largest;
        if off.is_nan() { f32::INFINITY } else { worst.max(off) }
    })
}

/// The matrices that take heads back, (hidden, heads * v_head_dim), by name; those of one layer, or all. GPT-2 keeps its
/// matrices the other way round.
pub(crate) fn outputs(tensors: &HashMap<String, Tensor>, layer: Option<usize>) -> Vec<(String, bool)> {
    let parts = [
        "attn.c_proj",
        "self_attn.o_proj",
        "attention.dense",
        "attention.output.dense",
        "attention.out_lin",
        "attn.Wo",
        "Attention.o",
        "attn.out_proj",
    ];
    let layers = ["h", "layers", "encoder.layer", "transformer.layer", "block"];
    let of_layer = |name: &str, layer: usize| layers.iter().any(|part| name.contains(&format!("{part}.{layer}.")));
    let wanted = |name: &str| {
        parts.iter().any(|part| name.ends_with(&format!("{part}.weight"))) && layer.is_none_or(|l| of_layer(name, l))
    };
    let names: Vec<&String> = tensors.keys().filter(|name| wanted(name)).collect();
    assert!(!names.is_empty());
    names.into_iter().map(|name| (name.clone(), name.ends_with("attn.c_proj.weight"))).collect()
}

/// A matrix (out, heads * dim), or its transpose, taken apart: the columns of one head, and the rest with 0 in their place.
pub(crate) fn take_head(matrix: &Tensor, transposed: bool, head: usize, heads: usize) -> (Tensor, Tensor) {
    let matrix = matrix.to_dtype(DType::F32).unwrap();
    let axis = if transposed { 0 } else { 1 };
    let dim = matrix.dim(axis).unwrap() / heads;
    let part = |from: usize, len: usize| matrix.narrow(axis, from, len).unwrap();
    let own = part(head * dim, dim);
    let (before, after) = (part(0, head * dim), part((head + 1) * dim, (heads - head - 1) * dim));
    (own.clone(), Tensor::cat(&[before, own.zeros_like().unwrap(), after], axis).unwrap())
}
