//! Switching any option off moves some weight by more than 1e-3: no option could be passed over without a test failing.

use serde_json::{Value, json};

use crate::checkpoints::{Copied, Tiny, apart, largest, logits, numbers, trace, weights};

/// How far an option moves the weights.
fn moves(name: &str, off: impl FnOnce(Copied) -> Copied) {
    let tiny = Tiny::named(name);
    let changed = off(tiny.copy());
    let (with, without) = (trace(&tiny.open(), &tiny.case.ids), trace(&changed.open(), &tiny.case.ids));
    let moved = apart(&weights(&with).concat(), &weights(&without).concat());
    assert!(moved > 1e-3, "{name}: {moved}, {}", changed.config);
}

/// How far an option that comes after all attention moves the logits, of the largest one.
fn moves_logits(name: &str, off: impl FnOnce(Copied) -> Copied) {
    let tiny = Tiny::named(name);
    let changed = off(tiny.copy());
    let (with, without) = (logits(&tiny.open(), &tiny.case.ids), logits(&changed.open(), &tiny.case.ids));
    let (with, without) = (numbers(&with), numbers(&without));
    let moved = apart(&with, &without) / f64::from(largest(&with));
    assert!(moved > 1e-3, "{name}: {moved}, {}", changed.config);
}

/// Changes one entry of config.json.
fn entry(name: &str, key: &str, value: Value) {
    moves(name, |copy| copy.set(key, value));
}

#[test]
fn biases() {
    let rest = |copy: Copied| copy.without("o_proj.bias").set("attention_bias", json!(false));
    moves("llama-tied", |copy| rest(copy.without("q_proj.bias").without("k_proj.bias").without("v_proj.bias")));
    moves("llama-tied", |copy| {
        let copy = copy.without("gate_proj.bias").without("up_proj.bias").without("down_proj.bias");
        copy.set("mlp_bias", json!(false))
    });
    moves("qwen3-windows", |copy| rest(copy.without("q_proj.bias").without("k_proj.bias").without("v_proj.bias")));
    moves("smollm3-nope", |copy| rest(copy.without("q_proj.bias").without("k_proj.bias").without("v_proj.bias")));
    // Qwen2 has them always, so it becomes another family without.
    moves("qwen2-windows", |copy| {
        let copy = copy.without("q_proj.bias").without("k_proj.bias").without("v_proj.bias");
        copy.set("model_type", json!("mistral")).set("sliding_window", Value::Null)
    });
    moves("gpt_neox-parallel", |copy| {
        let copy = copy.without("query_key_value.bias").without("attention.dense.bias");
        copy.set("attention_bias", json!(false))
    });
}

#[test]
fn heads_of_their_own() {
    moves_logits("llama-linear", |copy| copy.without("lm_head.weight").set("tie_word_embeddings", json!(true)));
    moves_logits("qwen3-plain", |copy| copy.without("lm_head.weight").set("tie_word_embeddings", json!(true)));
    moves_logits("gpt_neox-serial", |copy| copy.without("embed_out.weight").set("tie_word_embeddings", json!(true)));
}

#[test]
fn windows() {
    entry("mistral-window", "sliding_window", Value::Null);
    entry("mistral-window", "sliding_window", json!(8));
    entry("phi3-window", "sliding_window", Value::Null);
    entry("qwen2-windows", "layer_types", json!(vec!["full_attention"; 3]));
    entry("qwen2-windows", "sliding_window", json!(5));
    entry("qwen3-windows", "layer_types", json!(vec!["full_attention"; 3]));
    entry("smollm3-nope", "layer_types", json!(vec!["full_attention"; 3]));
    entry("gemma2-lm", "layer_types", json!(vec!["full_attention"; 3]));
    entry("gemma2-lm", "sliding_window", json!(6));
    entry("gemma3-lm", "sliding_window", json!(6));
    entry("gemma3-base", "layer_types", json!(vec!["full_attention"; 2]));
}

#[test]
fn rotary_scalings() {
    for name in [
        "llama-linear",
        "llama-dynamic",
        "llama-yarn",
        "llama-llama3",
        "qwen2-windows",
        "phi3-longrope",
        "gpt_neox-serial",
    ] {
        // A model without dynamic scaling does not read beyond its context.
        moves(name, |copy| {
            copy.set("rope_parameters/rope_type", json!("default")).set("max_position_embeddings", json!(64))
        });
        entry(name, "rope_parameters/rope_theta", json!(777.0));
    }
    for key in ["beta_fast", "beta_slow", "mscale", "mscale_all_dim", "truncate", "factor"] {
        // What each is where it is not given, or half.
        let usual = match key {
            "truncate" => json!(true),
            "factor" => json!(2.0),
            _ => Value::Null,
        };
        entry("llama-yarn", &format!("rope_parameters/{key}"), usual);
    }
    for (key, other) in [("low_freq_factor", 0.5), ("high_freq_factor", 2.0), ("factor", 4.0)] {
        entry("llama-llama3", &format!("rope_parameters/{key}"), json!(other));
    }
    for (name, other) in [("llama-llama3", 32), ("llama-yarn", 32)] {
        entry(name, "rope_parameters/original_max_position_embeddings", json!(other));
    }
    // A text that is not longer than the original context takes the other list.
    entry("phi3-longrope", "original_max_position_embeddings", json!(48));
    entry("phi3-longrope", "rope_parameters/long_factor", json!([1.5, 2.5, 4.0, 5.0]));
    entry("llama-dynamic", "max_position_embeddings", json!(48));
    entry("gemma3-lm", "rope_parameters/full_attention/rope_type", json!("default"));
}

#[test]
fn two_rotary_bases() {
    entry("gemma3-lm", "rope_parameters/full_attention/rope_theta", json!(50.0));
    entry("gemma3-lm", "rope_parameters/sliding_attention/rope_theta", json!(5000.0));
}

#[test]
fn a_part_of_each_head_that_turns() {
    entry("phi3-window", "rope_parameters/partial_rotary_factor", json!(1.0));
    entry("gpt_neox-parallel", "rope_parameters/partial_rotary_factor", json!(1.0));
    entry("gpt_neox-serial", "rope_parameters/partial_rotary_factor", json!(0.5));
}

#[test]
fn layers_without_rotary_embedding() {
    entry("smollm3-nope", "no_rope_layers", json!([1, 1, 1]));
    entry("smollm3-base", "no_rope_layers", json!([1, 1]));
}

/// Normalised queries and keys are what makes a Qwen3 no Mistral, and a Gemma 3 no Gemma 2.
#[test]
fn norms_of_queries_and_keys() {
    moves("qwen3-plain", |copy| {
        copy.without("q_norm.weight").without("k_norm.weight").set("model_type", json!("llama"))
    });
    moves("gemma3-base", |copy| {
        let copy = copy.without("q_norm.weight").without("k_norm.weight").set("model_type", json!("gemma2"));
        copy.set("rope_parameters", json!({"rope_type": "default", "rope_theta": 1e6}))
    });
    let other = |copy: &mut Copied, ending: &str| {
        let (name, norm) = copy.tensors.iter().find(|(name, _)| name.ends_with(ending)).unwrap();
        let (name, norm) = (name.clone(), (norm * 0.5).unwrap());
        copy.tensors.insert(name, norm);
    };
    for name in ["qwen3-plain", "gemma3-lm"] {
        for ending in ["0.self_attn.q_norm.weight", "0.self_attn.k_norm.weight"] {
            moves(name, |mut copy| {
                other(&mut copy, ending);
                copy
            });
        }
    }
}

#[test]
fn softcaps() {
    entry("gemma2-lm", "attn_logit_softcapping", Value::Null);
    moves_logits("gemma2-lm", |copy| copy.set("final_logit_softcapping", Value::Null));
    moves_logits("gemma3-lm", |copy| copy.set("final_logit_softcapping", Value::Null));
}

#[test]
fn scales() {
    entry("gemma2-lm", "query_pre_attn_scalar", json!(12));
    entry("gemma3-lm", "query_pre_attn_scalar", json!(12));
    entry("gpt2-base", "scale_attn_weights", json!(true));
    entry("gpt2-base", "scale_attn_by_inverse_layer_idx", json!(false));
}

#[test]
fn parallel_residuals() {
    entry("gpt_neox-parallel", "use_parallel_residual", json!(false));
    entry("gpt_neox-serial", "use_parallel_residual", json!(true));
}

#[test]
fn activations() {
    for (name, key, other) in [
        ("gpt2-lm", "activation_function", "relu"),
        ("gpt2-base", "activation_function", "gelu_new"),
        ("llama-tied", "hidden_act", "silu"),
        ("mistral-window", "hidden_act", "gelu"),
        ("gemma2-lm", "hidden_activation", "silu"),
        ("gpt_neox-parallel", "hidden_act", "relu"),
    ] {
        entry(name, key, json!(other));
    }
}

/// Grouped queries: which keys a query head reads.
#[test]
fn groups() {
    for name in ["llama-tied", "mistral-window", "phi3-window", "gemma2-lm"] {
        let tiny = Tiny::named(name);
        let trace = trace(&tiny.open(), &tiny.case.ids);
        assert_eq!((trace.sites[0].q_heads(), trace.sites[0].kv_heads()), (4, 2), "{name}");
    }
    assert_eq!(trace(&Tiny::named("llama-base").open(), &[1, 2]).sites[0].kv_heads(), 4);
}
