//! What a header says of rotary embedding, as a config.json's `rope_parameters`.

use serde_json::{Map, Value as Json, json};

use super::config::Header;
use super::names::FACTORS;
use crate::error::{Result, reason};

/// What an architecture may leave unsaid of its rotary embedding.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turning {
    /// Whether a part of a head's dimensions may turn.
    pub(crate) partly: bool,
    /// The base where the header has none; none where it must have one.
    pub(crate) theta: Option<f64>,
}

impl Turning {
    /// All dimensions turn, on a base of 10,000.
    pub(crate) const USUAL: Self = Self { partly: false, theta: Some(10_000.0) };
}

/// The settings.
pub(super) fn settings(header: &Header, turning: Turning) -> Result<Json> {
    const BASE: &str = ".rope.freq_base";
    let keys = &header.keys;
    let theta = match turning.theta {
        Some(usual) => keys.optional_number(BASE)?.unwrap_or(usual),
        None => keys.number(BASE)?,
    };
    let mut rope = scaling(header)?;
    rope.insert("rope_theta".to_owned(), json!(theta));
    if let Some(original) = keys.optional_size(".rope.scaling.original_context_length")? {
        rope.insert("original_max_position_embeddings".to_owned(), json!(original));
    }
    let all = header.head_dim()?;
    if let Some(some) = keys.optional_size(".rope.dimension_count")?.filter(|some| *some != all) {
        if !turning.partly || some > all {
            let architecture = keys.architecture;
            let problem = format!("rotary embedding of {some} of {all} dimensions is not supported in {architecture}");
            return Err(keys.fail(problem));
        }
        // The share is taken of all dimensions, and cut to a whole number.
        rope.insert("partial_rotary_factor".to_owned(), json!((some as f64 + 0.5) / all as f64));
    }
    Ok(Json::Object(rope))
}

/// How frequencies differ from those of their base.
fn scaling(header: &Header) -> Result<Map<String, Json>> {
    let keys = &header.keys;
    let [plain, long, short] = FACTORS.map(|name| factors(header, name));
    let (plain, long, short) = (plain?, long?, short?);
    let kind = keys.optional_text(".rope.scaling.type")?.unwrap_or_else(|| "none".into());
    let gain = keys.optional_number(".rope.scaling.attn_factor")?;
    let older = keys.optional_number(".rope.scale_linear")?;
    let factor = || match keys.optional_number(".rope.scaling.factor")?.or(older) {
        Some(factor) => Ok(factor),
        None => keys.number(".rope.scaling.factor"),
    };
    let rope = match (&*kind, plain.is_empty(), long.is_empty() && short.is_empty()) {
        ("none", true, true) if older.is_none() => json!({}),
        ("none" | "linear", true, true) => json!({"rope_type": "linear", "factor": factor()?}),
        ("yarn", true, true) => yarn(header, factor()?, gain)?,
        // One number for each pair of dimensions, by which its frequency is divided; Llama 3's, worked out.
        ("none", false, true) => {
            json!({"rope_type": "longrope", "short_factor": plain, "long_factor": plain, "attention_factor": 1.0})
        }
        ("none" | "longrope", true, false) => {
            json!({"rope_type": "longrope", "short_factor": short, "long_factor": long, "attention_factor": gain})
        }
        (_, true, true) => {
            let known = "none, linear, yarn and longrope are";
            return Err(keys.fail(format!("rotary scaling {kind:?} is not supported yet; {known}")));
        }
        _ => {
            let problem = format!("rotary scaling {kind:?} beside factors of its own is not supported yet");
            return Err(keys.fail(problem));
        }
    };
    Ok(rope.as_object().cloned().unwrap_or_default())
}

/// The numbers of a tensor of factors; none where there is no such tensor.
fn factors(header: &Header, name: &str) -> Result<Vec<f32>> {
    let unread = |error| header.keys.fail(format!("tensor {name} does not read: {}", reason(&error)));
    header.tensors.vector(name).map_err(unread)
}

fn yarn(header: &Header, factor: f64, gain: Option<f64>) -> Result<Json> {
    let keys = &header.keys;
    keys.refuse(".rope.scaling.yarn_ext_factor", 1.0)?;
    keys.refuse(".rope.scaling.yarn_attn_factor", 1.0)?;
    // What is said of the gain is said on top of YaRN's own.
    let own = if factor > 1.0 { 0.1 * factor.ln() + 1.0 } else { 1.0 };
    Ok(json!({
        "rope_type": "yarn",
        "factor": factor,
        "attention_factor": gain.map(|gain| gain * own),
        "beta_fast": keys.optional_number(".rope.scaling.yarn_beta_fast")?,
        "beta_slow": keys.optional_number(".rope.scaling.yarn_beta_slow")?,
    }))
}
