//! A checkpoint's folder as a GGUF file, as llama.cpp's converters write one: their keys, names and orders.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use attnscope_models::Model;
use candle_core::quantized::GgmlDType;
use candle_core::quantized::gguf_file::Value;
use candle_core::{DType, Device, Tensor};
use serde_json::Value as Json;
use tempfile::TempDir;

use crate::tiny::{Gguf, Tensors, interleave};

/// Writes a GGUF file and opens it.
pub(crate) fn open(gguf: &Gguf) -> Model {
    let folder = TempDir::new().unwrap();
    Model::open(&gguf.write(folder.path())).unwrap()
}

/// The folder of a decoder as a GGUF file.
pub(crate) fn gguf_of(folder: &Path) -> Gguf {
    let json = |name: &str| -> Json { serde_json::from_slice(&fs::read(folder.join(name)).unwrap()).unwrap() };
    let config = json("config.json");
    let architecture = match config["model_type"].as_str().unwrap() {
        "gemma3_text" => "gemma3",
        other => other,
    };
    let mut gguf = Gguf { metadata: Default::default(), tensors: Tensors::new(), dtype: GgmlDType::F32 };
    let path: PathBuf = folder.join("model.safetensors");
    for (name, tensor) in candle_core::safetensors::load(path, &Device::Cpu).unwrap() {
        let (name, tensor) = converted(architecture, &config, &name, &tensor.to_dtype(DType::F32).unwrap());
        gguf.tensors.insert(name, tensor);
    }
    gguf.set("general.architecture", text(architecture));
    match architecture {
        "gpt2" => gpt2(&mut gguf, &config),
        _ => decoder(&mut gguf, architecture, &config),
    }
    tokenizer(&mut gguf, &json("tokenizer.json"), &config);
    gguf
}

pub(crate) fn text(text: &str) -> Value {
    Value::String(text.to_owned())
}

pub(crate) fn whole(n: &Json) -> Value {
    Value::U32(n.as_u64().unwrap_or_else(|| panic!("{n}")) as u32)
}

pub(crate) fn number(x: &Json) -> Value {
    Value::F32(x.as_f64().unwrap_or_else(|| panic!("{x}")) as f32)
}

fn gpt2(gguf: &mut Gguf, config: &Json) {
    let keys = [
        ("block_count", "n_layer"),
        ("context_length", "n_positions"),
        ("embedding_length", "n_embd"),
        ("feed_forward_length", "n_inner"),
        ("attention.head_count", "n_head"),
    ];
    for (here, there) in keys {
        gguf.set(&format!("gpt2.{here}"), whole(&config[there]));
    }
    gguf.set("gpt2.attention.layer_norm_epsilon", number(&config["layer_norm_epsilon"]));
}

fn decoder(gguf: &mut Gguf, architecture: &str, config: &Json) {
    let mut set = |key: &str, value: Value| gguf.set(&format!("{architecture}.{key}"), value);
    let keys = [
        ("block_count", "num_hidden_layers"),
        ("context_length", "max_position_embeddings"),
        ("embedding_length", "hidden_size"),
        ("feed_forward_length", "intermediate_size"),
        ("attention.head_count", "num_attention_heads"),
        ("attention.head_count_kv", "num_key_value_heads"),
    ];
    for (here, there) in keys {
        set(here, whole(&config[there]));
    }
    set("attention.layer_norm_rms_epsilon", number(&config["rms_norm_eps"]));
    let head_dim = config["head_dim"].as_u64();
    if let Some(head_dim) = head_dim {
        set("attention.key_length", Value::U32(head_dim as u32));
        set("attention.value_length", Value::U32(head_dim as u32));
    }
    if config["sliding_window"].is_u64() {
        set("attention.sliding_window", whole(&config["sliding_window"]));
    } else if architecture == "phi3" {
        set("attention.sliding_window", Value::U32(0));
    }
    if let Some(types) = config["layer_types"].as_array().filter(|_| config["sliding_window"].is_u64()) {
        let flags = types.iter().map(|kind| Value::Bool(kind == "sliding_attention")).collect();
        set("attention.sliding_window_pattern", Value::Array(flags));
    }
    if let Some(scalar) = config["query_pre_attn_scalar"].as_f64() {
        set("attention.scale", Value::F32((1.0 / scalar.sqrt()) as f32));
    }
    for cap in ["attn_logit_softcapping", "final_logit_softcapping"] {
        if config[cap].is_number() {
            set(cap, number(&config[cap]));
        }
    }
    let both = &config["rope_parameters"];
    let rope = both.get("full_attention").unwrap_or(both);
    set("rope.freq_base", number(&rope["rope_theta"]));
    if let Some(local) = both.get("sliding_attention") {
        set("rope.freq_base_swa", number(&local["rope_theta"]));
    }
    let even = config["hidden_size"].as_u64().unwrap() / config["num_attention_heads"].as_u64().unwrap();
    let dim = head_dim.unwrap_or(even) as f64;
    let turning = dim * rope["partial_rotary_factor"].as_f64().unwrap_or(1.0);
    set("rope.dimension_count", Value::U32(turning as u32));
    let kind = rope["rope_type"].as_str().unwrap();
    if matches!(kind, "linear" | "yarn") {
        set("rope.scaling.type", text(kind));
        set("rope.scaling.factor", number(&rope["factor"]));
    }
    if rope["original_max_position_embeddings"].is_u64() {
        set("rope.scaling.original_context_length", whole(&rope["original_max_position_embeddings"]));
    }
    for (here, there) in [("yarn_beta_fast", "beta_fast"), ("yarn_beta_slow", "beta_slow")] {
        if rope[there].is_number() {
            set(&format!("rope.scaling.{here}"), number(&rope[there]));
        }
    }
    factors(gguf, architecture, kind, rope, config, dim as usize);
}

/// Rotary factors are tensors: Llama 3's worked out, LongRoPE's as they are.
fn factors(gguf: &mut Gguf, architecture: &str, kind: &str, rope: &Json, config: &Json, dim: usize) {
    let number = |key: &str| rope[key].as_f64().unwrap_or_else(|| panic!("{key}"));
    let mut add = |name: &str, factors: Vec<f32>| {
        gguf.tensors.insert(name.to_owned(), Tensor::new(factors, &Device::Cpu).unwrap());
    };
    if kind == "llama3" {
        let (low, high) = (number("low_freq_factor"), number("high_freq_factor"));
        let (factor, context) = (number("factor"), number("original_max_position_embeddings"));
        let one = |t: usize| {
            let length = 2.0 * std::f64::consts::PI * number("rope_theta").powf(2.0 * t as f64 / dim as f64);
            let smooth = (context / length - low) / (high - low);
            1.0 / ((1.0 - smooth) / factor + smooth).clamp(1.0 / factor, 1.0)
        };
        add("rope_freqs.weight", (0..dim / 2).map(|t| one(t) as f32).collect());
    }
    if kind == "longrope" {
        let list = |key: &str| rope[key].as_array().unwrap().iter().map(|x| x.as_f64().unwrap() as f32).collect();
        add("rope_factors_long.weight", list("long_factor"));
        add("rope_factors_short.weight", list("short_factor"));
        let original = number("original_max_position_embeddings");
        let stretch = config["max_position_embeddings"].as_f64().unwrap() / original;
        let gain = (1.0 + stretch.ln() / original.ln()).sqrt();
        gguf.set(&format!("{architecture}.rope.scaling.attn_factor"), Value::F32(gain as f32));
    }
}

fn tokenizer(gguf: &mut Gguf, tokenizer: &Json, config: &Json) {
    let model = &tokenizer["model"];
    let vocab = model["vocab"].as_object().unwrap();
    let mut ids: HashMap<u64, &str> = vocab.iter().map(|(token, id)| (id.as_u64().unwrap(), token.as_str())).collect();
    let mut marks = Vec::new();
    for added in tokenizer["added_tokens"].as_array().unwrap() {
        ids.insert(added["id"].as_u64().unwrap(), added["content"].as_str().unwrap());
        marks.push(added["id"].as_u64().unwrap());
    }
    let tokens = (0..ids.len() as u64).map(|id| text(ids[&id])).collect();
    let types = (0..ids.len() as u64).map(|id| Value::I32(if marks.contains(&id) { 3 } else { 1 })).collect();
    let merge = |pair: &Json| match pair.as_str() {
        Some(pair) => text(pair),
        None => text(&format!("{} {}", pair[0].as_str().unwrap(), pair[1].as_str().unwrap())),
    };
    gguf.set("tokenizer.ggml.model", text("gpt2"));
    gguf.set("tokenizer.ggml.pre", text("gpt-2"));
    gguf.set("tokenizer.ggml.tokens", Value::Array(tokens));
    gguf.set("tokenizer.ggml.token_type", Value::Array(types));
    gguf.set("tokenizer.ggml.merges", Value::Array(model["merges"].as_array().unwrap().iter().map(merge).collect()));
    gguf.set("tokenizer.ggml.eos_token_id", whole(&config["eos_token_id"]));
}

/// A tensor of the folder under its name in a GGUF file, and as such a file holds it.
fn converted(architecture: &str, config: &Json, name: &str, tensor: &Tensor) -> (String, Tensor) {
    let name = name.trim_start_matches("model.").trim_start_matches("transformer.");
    let gemma = architecture.starts_with("gemma");
    let renamed = [
        ("embed_tokens", "token_embd"),
        ("lm_head", "output"),
        ("layers.", "blk."),
        ("input_layernorm", "attn_norm"),
        ("post_attention_layernorm", if gemma { "post_attention_norm" } else { "ffn_norm" }),
        ("pre_feedforward_layernorm", "ffn_norm"),
        ("post_feedforward_layernorm", "post_ffw_norm"),
        ("self_attn.q_proj", "attn_q"),
        ("self_attn.k_proj", "attn_k"),
        ("self_attn.v_proj", "attn_v"),
        ("self_attn.o_proj", "attn_output"),
        ("self_attn.q_norm", "attn_q_norm"),
        ("self_attn.k_norm", "attn_k_norm"),
        ("self_attn.qkv_proj", "attn_qkv"),
        ("mlp.gate_up_proj", "ffn_up"),
        ("mlp.gate_proj", "ffn_gate"),
        ("mlp.up_proj", "ffn_up"),
        ("mlp.down_proj", "ffn_down"),
        ("wte", "token_embd"),
        ("wpe", "position_embd"),
        ("ln_f", "output_norm"),
        ("ln_1", "attn_norm"),
        ("ln_2", "ffn_norm"),
        ("attn.c_attn", "attn_qkv"),
        ("attn.c_proj", "attn_output"),
        ("mlp.c_fc", "ffn_up"),
        ("mlp.c_proj", "ffn_down"),
    ];
    let mut here = renamed.iter().fold(name.to_owned(), |name, (there, here)| name.replace(there, here));
    if let Some(rest) = here.strip_prefix("h.") {
        here = format!("blk.{rest}");
    }
    if name.starts_with("norm.") {
        here = name.replace("norm.", "output_norm.");
    }
    let heads = |key: &str| config[key].as_u64().unwrap() as usize;
    let tensor = match architecture {
        "llama" if name.contains("q_proj") => turned(tensor, heads("num_attention_heads")),
        "llama" if name.contains("k_proj") => turned(tensor, heads("num_key_value_heads")),
        "gpt2" if name.contains(".c_") && tensor.rank() == 2 => tensor.t().unwrap().contiguous().unwrap(),
        _ if gemma && name.contains("norm") => (tensor + 1.0).unwrap(),
        _ => tensor.clone(),
    };
    (here, tensor)
}

/// The rows of a matrix, or the numbers of a bias, interleaved.
fn turned(tensor: &Tensor, heads: usize) -> Tensor {
    match tensor.rank() {
        1 => interleave(&tensor.unsqueeze(1).unwrap(), heads).squeeze(1).unwrap(),
        _ => interleave(tensor, heads),
    }
}
