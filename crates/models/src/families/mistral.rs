//! Mistral: Llama with a sliding window in every layer. (Jiang et al. 2023)

use serde_json::Value;

use super::Build;
use super::keys::Keys;
use super::layers::{Layers, Windows};
use super::llama::Config;
use super::rotary::{Rotary, Usual};

/// Reads a Hugging Face config.json.
pub(super) fn from_hf(config: &Value) -> Result<Build, String> {
    read(config)?.build()
}

fn read(config: &Value) -> Result<Config, String> {
    let keys = Keys(config);
    let config = Config::from_hf(&keys)?;
    let width = keys.switched_size("sliding_window", Some(4096))?;
    Ok(Config {
        rotary: Rotary::from_hf(&keys, &Usual::for_head_dim(config.head_dim))?,
        windows: Windows::new(width, Layers::All)?,
        head: keys.head(false)?,
        ..config
    })
}
