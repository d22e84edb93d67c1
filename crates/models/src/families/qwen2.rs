//! Qwen2: Llama with biases on queries, keys and values, and windows in its last layers where they are switched on.
//! (Yang et al. 2024)

use serde_json::Value;

use super::Build;
use super::keys::Keys;
use super::layers::{Layers, Windows};
use super::llama::{Biases, Config};
use super::rotary::{Rotary, Usual};

/// Reads a Hugging Face config.json.
pub(super) fn from_hf(config: &Value) -> Result<Build, String> {
    read(config)?.build()
}

fn read(config: &Value) -> Result<Config, String> {
    let keys = Keys(config);
    let config = Config::from_hf(&keys)?;
    Ok(Config {
        rotary: Rotary::from_hf(&keys, &Usual::for_head_dim(config.head_dim))?,
        windows: windows(&keys, config.layers)?,
        biases: Biases { qkv: true, ..Biases::default() },
        head: keys.head(false)?,
        ..config
    })
}

/// The windows of Qwen2 and Qwen3.
pub(super) fn windows(keys: &Keys, layers: usize) -> Result<Windows, String> {
    let width = match keys.flag_or("use_sliding_window", false)? {
        true => keys.switched_size("sliding_window", Some(4096))?,
        false => None,
    };
    Windows::from_hf(keys, layers, width, Layers::From(keys.size_or("max_window_layers", 28)?))
}
