//! Phi-3: Llama with q, k and v in one matrix and gate and up in another, of whose heads a part may turn. (Abdin et al.
//! 2024)

use serde_json::Value;

use super::Build;
use super::keys::Keys;
use super::layers::{Layers, Windows};
use super::llama::{AROUND, Config};
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
        fused: true,
        ..config
    })
}

/// Phi-3 in GGUF files.
pub(super) const GGUF: gguf::Dialect = gguf::Dialect { architectures: &["phi3"], config: from_gguf, names: &NAMES };

const NAMES: Names = Names {
    parts: &[
        ("input_layernorm", "attn_norm", Stored::Same),
        ("self_attn.qkv_proj", "attn_qkv", Stored::Same),
        ("self_attn.o_proj", "attn_output", Stored::Same),
        ("post_attention_layernorm", "ffn_norm", Stored::Same),
        ("mlp.gate_up_proj", "ffn_up", Stored::Same),
        ("mlp.down_proj", "ffn_down", Stored::Same),
    ],
    ..AROUND
};

fn from_gguf(header: &Header) -> Result<Value> {
    let mut config = header.decoder(Turning { partly: true, ..Turning::USUAL })?;
    header.no_pattern()?;
    header.plain_scores()?;
    config.insert("sliding_window".to_owned(), header.window()?.into());
    Ok(config.into())
}
