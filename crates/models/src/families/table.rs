//! The families that can be opened: one file beside this one and one line here for each.

use serde_json::Value;

use super::{
    Family, albert, bart, bert, distilbert, gemma, gpt_neox, gpt2, llama, mistral, modernbert, phi3, qwen2, qwen3,
    roberta, smollm3, t5,
};
use crate::error::Result;
use crate::gguf;
use crate::weights::Weights;

/// Builds a model of a configuration that has been read; the tensors are looked at only then.
pub(crate) type Build = Box<dyn FnOnce(&Weights) -> Result<Box<dyn Family>> + Send>;

/// What there is to know of a family before any of its models is opened.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// What it is called here.
    pub family: &'static str,
    /// The `model_type`s of Hugging Face's config.json that it serves.
    pub model_types: &'static [&'static str],
    /// How its GGUF files are read, where it comes in such.
    pub(crate) gguf: Option<gguf::Dialect>,
    /// Whether its models keep every token from those after it.
    pub causal: bool,
    /// The checkpoints on which it was held against transformers: of trained models, and tiny ones with random weights
    /// (`crates/models/tests/tiny`).
    pub proven_on: &'static [&'static str],
    /// Reads config.json; words on what does not fit.
    pub(crate) hf: fn(&Value) -> Result<Build, String>,
}

/// Every family, in the order in which they are listed.
pub const FAMILIES: &[Entry] = &[
    decoder("gpt2", &["gpt2"], gpt2::from_hf).gguf(gpt2::GGUF).proven_on(&["tiny/gpt2-base", "tiny/gpt2-lm"]),
    decoder("llama", &["llama"], llama::from_hf).gguf(llama::GGUF).proven_on(&[
        "SmolLM2-135M-Instruct",
        "tiny/llama-base",
        "tiny/llama-dynamic",
        "tiny/llama-linear",
        "tiny/llama-llama3",
        "tiny/llama-tied",
        "tiny/llama-yarn",
    ]),
    decoder("mistral", &["mistral"], mistral::from_hf).proven_on(&["tiny/mistral-window"]),
    decoder("qwen2", &["qwen2"], qwen2::from_hf).gguf(qwen2::GGUF).proven_on(&["tiny/qwen2-windows"]),
    decoder("qwen3", &["qwen3"], qwen3::from_hf)
        .gguf(qwen3::GGUF)
        .proven_on(&["tiny/qwen3-plain", "tiny/qwen3-windows"]),
    decoder("smollm3", &["smollm3"], smollm3::from_hf).proven_on(&["tiny/smollm3-base", "tiny/smollm3-nope"]),
    decoder("phi3", &["phi3"], phi3::from_hf).gguf(phi3::GGUF).proven_on(&["tiny/phi3-longrope", "tiny/phi3-window"]),
    decoder("gemma2", &["gemma2"], gemma::from_hf_2).gguf(gemma::GGUF_2).proven_on(&["tiny/gemma2-lm"]),
    decoder("gemma3", &["gemma3_text"], gemma::from_hf_3)
        .gguf(gemma::GGUF_3)
        .proven_on(&["tiny/gemma3-base", "tiny/gemma3-lm"]),
    decoder("gpt_neox", &["gpt_neox"], gpt_neox::from_hf)
        .proven_on(&["tiny/gpt_neox-parallel", "tiny/gpt_neox-serial"]),
    encoder("bert", &["bert"], bert::from_hf).proven_on(&["all-MiniLM-L6-v2", "tiny/bert-base", "tiny/bert-mlm"]),
    encoder("distilbert", &["distilbert"], distilbert::from_hf)
        .proven_on(&["tiny/distilbert-base", "tiny/distilbert-mlm"]),
    encoder("roberta", &["roberta"], roberta::from_hf).proven_on(&["tiny/roberta-mlm"]),
    encoder("albert", &["albert"], albert::from_hf).proven_on(&["tiny/albert-groups", "tiny/albert-mlm"]),
    encoder("modernbert", &["modernbert"], modernbert::from_hf)
        .proven_on(&["tiny/modernbert-base", "tiny/modernbert-mlm"]),
    decoder("t5", &["t5"], t5::from_hf).proven_on(&["tiny/t5-gated", "tiny/t5-relu"]),
    decoder("bart", &["bart"], bart::from_hf).proven_on(&["tiny/bart-base", "tiny/bart-lm"]),
];

type FromHf = fn(&Value) -> Result<Build, String>;

const fn decoder(family: &'static str, model_types: &'static [&'static str], hf: FromHf) -> Entry {
    Entry { family, model_types, gguf: None, causal: true, proven_on: &[], hf }
}

const fn encoder(family: &'static str, model_types: &'static [&'static str], hf: FromHf) -> Entry {
    Entry { causal: false, ..decoder(family, model_types, hf) }
}

impl Entry {
    const fn gguf(self, dialect: gguf::Dialect) -> Self {
        Self { gguf: Some(dialect), ..self }
    }

    const fn proven_on(self, proven_on: &'static [&'static str]) -> Self {
        Self { proven_on, ..self }
    }

    /// The containers in which its models come.
    pub fn formats(&self) -> &'static [&'static str] {
        if self.gguf.is_none() { &["folder"] } else { &["folder", "gguf"] }
    }

    /// The family of a config.json's `model_type`.
    pub(crate) fn of_model_type(model_type: &str) -> Option<&'static Self> {
        FAMILIES.iter().find(|entry| entry.model_types.contains(&model_type))
    }

    /// The family of a GGUF file's `general.architecture`.
    pub(crate) fn of_gguf(architecture: &str) -> Option<&'static Self> {
        FAMILIES.iter().find(|entry| entry.gguf.is_some_and(|gguf| gguf.architectures.contains(&architecture)))
    }
}

/// Every `model_type` that can be opened, for a message.
pub(crate) fn model_types() -> String {
    FAMILIES.iter().flat_map(|entry| entry.model_types).copied().collect::<Vec<_>>().join(", ")
}

/// Every GGUF architecture that can be opened, for a message.
pub(crate) fn gguf_architectures() -> String {
    let dialects = FAMILIES.iter().filter_map(|entry| entry.gguf);
    dialects.flat_map(|gguf| gguf.architectures).copied().collect::<Vec<_>>().join(", ")
}
