//! Qwen3: Llama with every query and key normalised before it turns, and Qwen2's windows. (Yang et al. 2025)

use serde_json::Value;

use super::Build;
use super::keys::Keys;
use super::llama::{Biases, Config};
use super::qwen2::{self, windows};
use super::rotary::{Rotary, Usual};
use crate::gguf;

/// Reads a Hugging Face config.json.
pub(super) fn from_hf(config: &Value) -> Result<Build, String> {
    read(config)?.build()
}

fn read(config: &Value) -> Result<Config, String> {
    let keys = Keys(config);
    let head_dim = keys.size_or("head_dim", 128)?;
    let config = Config::from_hf(&keys)?;
    let biased = keys.flag_or("attention_bias", false)?;
    Ok(Config {
        head_dim,
        rotary: Rotary::from_hf(&keys, &Usual::for_head_dim(head_dim))?,
        windows: windows(&keys, config.layers)?,
        biases: Biases { qkv: biased, o: biased, ffn: false },
        qk_norm: true,
        head: keys.head(false)?,
        ..config
    })
}

/// Qwen3 in GGUF files.
pub(super) const GGUF: gguf::Dialect =
    gguf::Dialect { architectures: &["qwen3"], config: qwen2::from_gguf, names: &qwen2::NAMES };
