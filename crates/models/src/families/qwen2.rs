//! Qwen2: Llama with biases on queries, keys and values, and windows in its last layers where they are switched on.
//! (Yang et al. 2024)

use serde_json::Value;

use super::Build;
use super::keys::Keys;
use super::layers::{Layers, Windows};
use super::llama::{AROUND, Biases, Config};
use super::rotary::{Rotary, Usual};
use crate::error::Result;
use crate::gguf::{self, Header, Names, Stored, Turning};

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

/// Qwen2 in GGUF files.
pub(super) const GGUF: gguf::Dialect = gguf::Dialect { architectures: &["qwen2"], config: from_gguf, names: &NAMES };

/// Also Qwen3's, which has norms besides.
pub(super) const NAMES: Names = Names {
    parts: &[
        ("input_layernorm", "attn_norm", Stored::Same),
        ("self_attn.q_proj", "attn_q", Stored::Same),
        ("self_attn.k_proj", "attn_k", Stored::Same),
        ("self_attn.v_proj", "attn_v", Stored::Same),
        ("self_attn.o_proj", "attn_output", Stored::Same),
        ("self_attn.q_norm", "attn_q_norm", Stored::Same),
        ("self_attn.k_norm", "attn_k_norm", Stored::Same),
        ("post_attention_layernorm", "ffn_norm", Stored::Same),
        ("mlp.gate_proj", "ffn_gate", Stored::Same),
        ("mlp.up_proj", "ffn_up", Stored::Same),
        ("mlp.down_proj", "ffn_down", Stored::Same),
    ],
    ..AROUND
};

/// The header of a Qwen2 or a Qwen3.
pub(super) fn from_gguf(header: &Header) -> Result<Value> {
    let mut config = header.decoder(Turning::USUAL)?;
    header.plain_scores()?;
    let mut set = |key: &str, value: Value| config.insert(key.to_owned(), value);
    // Its header has no word for biases, which a Qwen3 may have and a Qwen2 always has.
    set("attention_bias", header.has("blk.0.attn_q.bias").into());
    if let Some(width) = header.window()? {
        set("use_sliding_window", true.into());
        set("sliding_window", width.into());
        set("max_window_layers", 0.into());
        set("layer_types", header.layer_types()?.into());
    }
    Ok(config.into())
}
