//! SmolLM3: Llama in which every fourth layer, or those that are listed, does without rotary embedding. (Bakouch et al.
//! 2025; Yang et al. 2025, "RoPE to NoPE and back again")

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
    let (attention, ffn) = (keys.flag_or("attention_bias", false)?, keys.flag_or("mlp_bias", false)?);
    let rotated = rotated(&keys, config.layers)?;
    let usual = Usual { theta: ("rope_theta", 2_000_000.0), ..Usual::for_head_dim(config.head_dim) };
    let width = match keys.flag_or("use_sliding_window", false)? {
        true => keys.switched_size("sliding_window", None)?,
        false => None,
    };
    Ok(Config {
        rotary: Rotary::from_hf(&keys, &usual)?,
        windows: Windows::from_hf(&keys, config.layers, width, Layers::Others(Box::new(rotated.clone())))?,
        rotated,
        biases: Biases { qkv: attention, o: attention, ffn },
        head: keys.head(true)?,
        ..config
    })
}

/// Which layers have rotary embedding: those with 1 in `no_rope_layers`, whose name says the opposite.
fn rotated(keys: &Keys, layers: usize) -> Result<Layers, String> {
    let has = |value: &Value| match value.as_u64() {
        Some(0) => Ok(false),
        Some(1) => Ok(true),
        _ => Err(format!("no_rope_layers must be a list of 0 and 1, not {value}")),
    };
    match (keys.list("no_rope_layers")?, keys.size_or("no_rope_layer_interval", 4)?) {
        (Some(list), _) => Layers::listed("no_rope_layers", list, layers, has),
        (None, 0) => Err("no_rope_layer_interval is 0".to_owned()),
        (None, n) => Ok(Layers::AllButEvery(n)),
    }
}
