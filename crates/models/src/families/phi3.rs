//! Phi-3: Llama with q, k and v in one matrix and gate and up in another, of whose heads a part may turn. (Abdin et al.
//! 2024)

use serde_json::Value;

use super::Build;
use super::keys::Keys;
use super::layers::{Layers, Windows};
use super::llama::{Config, Names};
use super::rotary::{Rotary, Usual};

/// Reads a Hugging Face config.json.
pub(super) fn from_hf(config: &Value) -> Result<Build, String> {
    read(config)?.build()
}

fn read(config: &Value) -> Result<Config, String> {
    let keys = Keys(config);
    let config = Config::from_hf(&keys)?;
    let usual = Usual {
        partial: Some(("partial_rotary_factor", 1.0)),
        original: Some(4096),
        ..Usual::for_head_dim(config.head_dim)
    };
    Ok(Config {
        norm_eps: keys.number_or("rms_norm_eps", 1e-5)?,
        rotary: Rotary::from_hf(&keys, &usual)?,
        windows: Windows::new(keys.switched_size("sliding_window", None)?, Layers::All)?,
        head: keys.head(false)?,
        names: Names::HfFused,
        ..config
    })
}
