//! The tiny checkpoints as a model and as plain numbers.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use attnscope_inspect::{SiteKind, Trace};
use attnscope_models::{Keep, Looking, Model, Prompt, Reading, Run, Stream};
use candle_core::{DType, Device, Tensor, safetensors};
use serde::Deserialize;
use serde_json::Value;

/// What a checkpoint is given to read.
#[derive(Deserialize)]
pub(crate) struct Case {
    pub(crate) ids: Vec<u32>,
    pub(crate) types: Option<Vec<u32>>,
    pub(crate) decoder_ids: Option<Vec<u32>>,
}

pub(crate) struct Tiny {
    pub(crate) name: String,
    pub(crate) model: Model,
    pub(crate) config: Value,
    pub(crate) case: Case,
    tensors: HashMap<String, Tensor>,
    path: PathBuf,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tiny")
}

fn load(path: &Path) -> HashMap<String, Tensor> {
    safetensors::load(path, &Device::Cpu).unwrap()
}

impl Tiny {
    pub(crate) fn named(name: &str) -> Self {
        let path = folder().join(name);
        let json = |name: &str| fs::read_to_string(path.join(name)).unwrap();
        let mut cases: HashMap<String, Case> = serde_json::from_str(&json("cases.json")).unwrap();
        Self {
            name: name.to_owned(),
            model: Model::open(&path).unwrap(),
            config: serde_json::from_str(&json("config.json")).unwrap(),
            case: cases.remove("text").unwrap(),
            tensors: load(&path.join("model.safetensors")),
            path,
        }
    }

    /// Every checkpoint there is.
    pub(crate) fn all() -> Vec<Self> {
        let mut names: Vec<String> =
            fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        assert!(names.len() >= 34, "{names:?}");
        names.iter().map(|name| Self::named(name)).collect()
    }

    pub(crate) fn family(&self) -> &'static str {
        self.model.family()
    }

    /// What transformers made of it, by name.
    pub(crate) fn expected(&self) -> HashMap<String, Tensor> {
        load(&self.path.join("expected.safetensors"))
    }

    pub(crate) fn prompt(&self) -> Prompt {
        let reading = Reading { ids: self.case.ids.clone(), types: self.case.types.clone(), real: None };
        match &self.case.decoder_ids {
            None => Prompt::Tokens(reading),
            Some(ids) => Prompt::Halves {
                encoder: Box::new(Prompt::Tokens(reading)),
                decoder: Box::new(Prompt::Ids(ids.clone())),
            },
        }
    }

    /// The ids whose vectors become logits.
    pub(crate) fn ids(&self) -> &[u32] {
        self.case.decoder_ids.as_ref().unwrap_or(&self.case.ids)
    }

    pub(crate) fn looking<'a>(&self, prompt: &'a Prompt, at: &'a str) -> Looking<'a> {
        Looking { prompt, at: Some(at), progress: &|_, _| true }
    }

    pub(crate) fn trace(&self) -> Trace {
        self.model.trace(&self.prompt(), Keep::All, &|_, _| true).unwrap()
    }

    /// The last vectors, and what passed a position.
    pub(crate) fn run(&self, position: usize) -> (Tensor, Stream) {
        let mut stream = Stream::at(position);
        let memory = self
            .case
            .decoder_ids
            .as_ref()
            .map(|_| self.model.encode(&self.case.ids, &mut Run::keeping(Keep::Nothing)).unwrap());
        let types = if memory.is_none() { self.case.types.clone() } else { None };
        let mut run = Run { memory, types, stream: Some(&mut stream), ..Run::keeping(Keep::Nothing) };
        let hidden = self.model.hidden(self.ids(), &mut run).unwrap();
        (hidden, stream)
    }

    /// The rows of a matrix whose name ends so; there must be one.
    pub(crate) fn matrix(&self, ending: &str) -> Vec<Vec<f64>> {
        let mut found = self.tensors.iter().filter(|(name, _)| name.ends_with(ending));
        let (Some((_, tensor)), None) = (found.next(), found.next()) else { panic!("{}: {ending}", self.name) };
        let tensor = if tensor.rank() == 1 { tensor.unsqueeze(0).unwrap() } else { tensor.clone() };
        tensor.to_dtype(DType::F64).unwrap().to_vec2().unwrap()
    }

    pub(crate) fn vector(&self, ending: &str) -> Vec<f64> {
        self.matrix(ending).remove(0)
    }

    pub(crate) fn has(&self, ending: &str) -> bool {
        self.tensors.keys().any(|name| name.ends_with(ending))
    }

    /// W_O of an attention, (hidden, q_heads * v_head_dim), and its bias, (hidden).
    pub(crate) fn w_o(&self, kind: SiteKind, layer: usize) -> (Vec<Vec<f64>>, Vec<f64>) {
        let stack = if kind == SiteKind::Encoder { "encoder" } else { "decoder" };
        let name = match (self.family(), kind) {
            ("gpt2", _) => format!("h.{layer}.attn.c_proj"),
            ("gpt_neox", _) => format!("layers.{layer}.attention.dense"),
            ("bert" | "roberta", _) => format!("encoder.layer.{layer}.attention.output.dense"),
            ("distilbert", _) => format!("transformer.layer.{layer}.attention.out_lin"),
            ("modernbert", _) => format!("layers.{layer}.attn.Wo"),
            ("t5", SiteKind::Cross) => format!("{stack}.block.{layer}.layer.1.EncDecAttention.o"),
            ("t5", _) => format!("{stack}.block.{layer}.layer.0.SelfAttention.o"),
            ("bart", SiteKind::Cross) => format!("{stack}.layers.{layer}.encoder_attn.out_proj"),
            ("bart", _) => format!("{stack}.layers.{layer}.self_attn.out_proj"),
            ("albert", _) => {
                let size = |key: &str| self.config[key].as_u64().unwrap() as usize;
                let (rounds, groups, inner) =
                    (size("num_hidden_layers"), size("num_hidden_groups"), size("inner_group_num"));
                let group = layer / inner * groups / rounds;
                format!("albert_layer_groups.{group}.albert_layers.{}.attention.dense", layer % inner)
            }
            _ => format!("layers.{layer}.self_attn.o_proj"),
        };
        let mut weight = self.matrix(&format!("{name}.weight"));
        if self.family() == "gpt2" {
            weight = (0..weight[0].len()).map(|out| weight.iter().map(|row| row[out]).collect()).collect();
        }
        let bias = format!("{name}.bias");
        let bias = if self.has(&bias) { self.vector(&bias) } else { vec![0.0; weight.len()] };
        (weight, bias)
    }
}

pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// A norm written out: mean and size of a vector, by which it is centred and divided.
pub(crate) fn moments(x: &[f64], centred: bool, eps: f64) -> (f64, f64) {
    let len = x.len() as f64;
    let mean = if centred { x.iter().sum::<f64>() / len } else { 0.0 };
    (mean, (x.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / len + eps).sqrt())
}
