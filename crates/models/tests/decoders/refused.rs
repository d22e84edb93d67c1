//! What is not computed is refused in one line that names the key, the value, and what would do; what contradicts itself
//! is refused with both numbers.

use candle_core::{DType, Device, Tensor};
use serde_json::{Value, json};

use crate::checkpoints::{Copied, Tiny};

fn refused(name: &str, spoil: impl FnOnce(Copied) -> Copied, wanted: &[&str]) {
    let message = spoil(Tiny::named(name).copy()).refused();
    for part in wanted {
        assert!(message.contains(part), "{message:?} lacks {part:?}");
    }
}

fn entry(name: &str, key: &str, value: Value, wanted: &[&str]) {
    refused(name, |copy| copy.set(key, value), &[&["config.json"], wanted].concat());
}

#[test]
fn architectures() {
    let known = ["config.json", "model_type \"mamba\" is not known", "gpt2", "llama", "gemma3_text", "gpt_neox"];
    entry("llama-tied", "model_type", json!("mamba"), &known);
    // With pictures, and so another one.
    entry("gemma3-lm", "model_type", json!("gemma3"), &["\"gemma3\" is not known", "gemma3_text"]);
}

#[test]
fn activations() {
    for (name, key) in [
        ("gpt2-lm", "activation_function"),
        ("llama-tied", "hidden_act"),
        ("qwen3-plain", "hidden_act"),
        ("gemma2-lm", "hidden_activation"),
        ("gpt_neox-serial", "hidden_act"),
    ] {
        entry(name, key, json!("mish"), &[key, "\"mish\" is not supported", "silu", "gelu_pytorch_tanh"]);
        entry(name, key, json!(7), &[key, "7"]);
    }
}

#[test]
fn rotary_settings() {
    let rope = |key: &str, value: Value, wanted: &[&str]| {
        entry("llama-yarn", &format!("rope_parameters/{key}"), value, &[&["rope_parameters"], wanted].concat());
    };
    rope("rope_type", json!("mrope"), &["rope_type \"mrope\" is not supported", "linear", "dynamic", "yarn", "llama3"]);
    rope("factor", Value::Null, &["factor is missing"]);
    rope("factor", json!(0.0), &["factor is 0"]);
    rope("factor", json!("four"), &["factor must be a number", "four"]);
    rope("original_max_position_embeddings", json!(0), &["original_max_position_embeddings is 0"]);
    entry("llama-yarn", "rope_parameters/rope_theta", json!(0.0), &["rotary", "0"]);
    for key in ["low_freq_factor", "high_freq_factor"] {
        entry("llama-llama3", &format!("rope_parameters/{key}"), Value::Null, &[&format!("{key} is missing")]);
    }
    entry("llama-llama3", "rope_parameters/low_freq_factor", json!(4.0), &["high_freq_factor 4 must be above", "4"]);
    let short = ["long_factor has 3 numbers", "must have 4"];
    entry("phi3-longrope", "rope_parameters/long_factor", json!([1.0, 2.0, 3.0]), &short);
    entry("phi3-longrope", "rope_parameters/short_factor", json!([1.0, 0.0, 3.0, 1.0]), &["short_factor"]);
    entry("phi3-window", "rope_parameters/partial_rotary_factor", json!(1.5), &["partial_rotary_factor is 1.5"]);
    entry("phi3-window", "rope_parameters/partial_rotary_factor", json!(0.4), &["3 turn", "even"]);
    refused(
        "llama-tied",
        |copy| copy.add("partial_rotary_factor", json!(0.5)),
        &["partial_rotary_factor 0.5 is not supported", "1 is"],
    );
}

#[test]
fn layers() {
    let types = ["layer_types", "\"chunked_attention\"", "not supported", "sliding_attention"];
    entry("qwen3-windows", "layer_types", json!(vec!["chunked_attention"; 3]), &types);
    entry("qwen3-windows", "layer_types", json!(["full_attention"]), &["layer_types has 1 entries", "3 layers"]);
    entry("qwen3-windows", "sliding_window", Value::Null, &["\"sliding_attention\", but sliding_window is null"]);
    entry("qwen3-windows", "sliding_window", json!(0), &["sliding_window is 0"]);
    entry("mistral-window", "sliding_window", json!(0), &["sliding_window is 0"]);
    entry("smollm3-nope", "no_rope_layers", json!([1, 0]), &["no_rope_layers has 2 entries", "3 layers"]);
    entry("smollm3-nope", "no_rope_layers", json!([1, 0, 2]), &["no_rope_layers", "not 2"]);
    // As long as the number of layers is nothing, whatever it is said to be.
    for name in ["gpt2-lm", "llama-tied", "smollm3-base", "gemma2-lm", "gpt_neox-serial"] {
        let key = if name == "gpt2-lm" { "n_layer" } else { "num_hidden_layers" };
        let absurd = |copy: Copied| {
            let mut copy = copy.set(key, json!(1_000_000_000_000u64));
            for list in ["layer_types", "no_rope_layers"] {
                copy.config.as_object_mut().unwrap().remove(list);
            }
            copy
        };
        refused(name, absurd, &["is missing"]);
        let less = |copy: Copied| copy.set(key, json!(1));
        refused(name, less, &["1 layers, but there is a tensor"]);
    }
}

#[test]
fn other_options() {
    entry("gpt2-lm", "add_cross_attention", json!(true), &["add_cross_attention true is not supported", "false is"]);
    let both = ["use_bidirectional_attention true is not supported", "false is"];
    entry("gemma3-lm", "use_bidirectional_attention", json!(true), &both);
    entry("gemma3-lm", "attn_logit_softcapping", json!(50.0), &["attn_logit_softcapping", "not supported"]);
    entry("gemma2-lm", "attn_logit_softcapping", json!(0.0), &["attn_logit_softcapping is 0"]);
    entry("gemma2-lm", "query_pre_attn_scalar", json!(0), &["query_pre_attn_scalar is 0"]);
}

#[test]
fn a_configuration_at_odds_with_its_tensors() {
    let odds = |name: &str, key: &str, value: usize, wanted: &[&str]| {
        refused(name, |copy| copy.set(key, json!(value)), wanted);
    };
    odds("gpt2-lm", "n_inner", 47, &["c_fc.weight is [32, 48]", "[32, 47]"]);
    odds("gpt2-lm", "n_positions", 63, &["wpe.weight is [64, 32]", "[63, 32]"]);
    odds("gpt2-lm", "n_head", 5, &["5 heads", "32"]);
    odds("phi3-window", "num_key_value_heads", 4, &["qkv_proj.weight is [64, 32]", "[96, 32]"]);
    odds("phi3-window", "intermediate_size", 41, &["gate_up_proj.weight is [80, 32]", "[82, 32]"]);
    odds("qwen3-plain", "head_dim", 8, &["q_proj.weight is [64, 32]", "[32, 32]"]);
    odds("gemma2-lm", "vocab_size", 161, &["embed_tokens.weight is [160, 32]", "[161, 32]"]);
    odds("gemma2-lm", "num_key_value_heads", 3, &["4 query heads on 3 kv heads"]);
    odds("gpt_neox-parallel", "num_attention_heads", 3, &["3 heads", "32"]);
    // Biases that are there but not spoken of, and the other way round.
    refused("llama-tied", |copy| copy.set("attention_bias", json!(false)), &["q_proj.bias", "says that there is none"]);
    let unbiased = |copy: Copied| copy.set("attention_bias", json!(false));
    refused("gpt_neox-parallel", unbiased, &["query_key_value.bias", "says that there is none"]);
    refused("llama-yarn", |copy| copy.set("attention_bias", json!(true)), &["q_proj.bias is missing"]);
    refused("gpt_neox-serial", |copy| copy.set("attention_bias", json!(true)), &["query_key_value.bias is missing"]);
    refused("qwen3-plain", |copy| copy.set("model_type", json!("llama")), &["q_norm.weight", "not supported"]);
    refused(
        "llama-yarn",
        |copy| copy.set("tie_word_embeddings", json!(false)),
        &["lm_head.weight is missing", "tie_word_embeddings"],
    );
    let nan = Tensor::new(&[f32::NAN; 32], &Device::Cpu).unwrap().to_dtype(DType::F32).unwrap();
    refused(
        "gpt2-lm",
        |mut copy| {
            copy.tensors.insert("transformer.ln_f.bias".to_owned(), nan);
            copy
        },
        &["transformer.ln_f.bias holds NaN"],
    );
}
