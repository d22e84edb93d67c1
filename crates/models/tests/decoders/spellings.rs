//! Configurations of before transformers 5 say the same in other words.

use serde_json::{Value, json};

use crate::checkpoints::{Copied, Tiny, hidden};

fn same(name: &str, spell: impl FnOnce(Copied) -> Copied) {
    let tiny = Tiny::named(name);
    let older = spell(tiny.copy()).open();
    assert_eq!(hidden(&tiny.open(), &tiny.case.ids), hidden(&older, &tiny.case.ids), "{name}");
}

/// `rope_scaling` and `rope_theta` instead of `rope_parameters`.
fn older_rope(copy: Copied, kind: &str) -> Copied {
    let mut rope = copy.config["rope_parameters"].clone();
    let settings = rope.as_object_mut().unwrap();
    let theta = settings.remove("rope_theta").unwrap();
    let partial = settings.remove("partial_rotary_factor");
    let value = settings.remove("rope_type").unwrap();
    let scaling = if value == "default" { Value::Null } else { rope };
    let mut copy = copy.remove("rope_parameters").add("rope_theta", theta).add("rope_scaling", scaling);
    if value != "default" {
        copy.config["rope_scaling"][kind] = value;
    }
    match partial {
        Some(partial) => copy.add("partial_rotary_factor", partial),
        None => copy,
    }
}

#[test]
fn rotary_settings_beside_each_other() {
    for name in
        ["llama-tied", "llama-linear", "llama-dynamic", "llama-yarn", "llama-llama3", "qwen2-windows", "phi3-window"]
    {
        same(name, |copy| older_rope(copy, "rope_type"));
        same(name, |copy| older_rope(copy, "type"));
    }
    same("phi3-longrope", |copy| older_rope(copy, "type"));
    same("phi3-longrope", |copy| {
        let copy = older_rope(copy, "type");
        copy.set("rope_scaling/type", json!("su"))
    });
    for name in ["gpt_neox-parallel", "gpt_neox-serial"] {
        same(name, |copy| {
            let copy = older_rope(copy, "type");
            let (theta, share) = (copy.config["rope_theta"].clone(), copy.config["partial_rotary_factor"].clone());
            let copy = copy.remove("rope_theta").remove("partial_rotary_factor");
            copy.add("rotary_emb_base", theta).add("rotary_pct", share)
        });
    }
}

#[test]
fn layers_by_a_pattern() {
    same("qwen2-windows", |copy| copy.remove("layer_types"));
    same("smollm3-nope", |copy| copy.remove("layer_types"));
    same("smollm3-base", |copy| copy.remove("layer_types").remove("no_rope_layers"));
    same("gemma2-lm", |copy| copy.remove("layer_types"));
    same("gemma3-base", |copy| copy.remove("layer_types"));
    same("gemma3-base", |copy| {
        let copy = copy.remove("layer_types").remove("rope_parameters");
        copy.add("rope_theta", json!(1e6)).add("rope_local_base_freq", json!(1e4)).add("rope_scaling", Value::Null)
    });
    same("gemma3-lm", |copy| {
        let copy = copy.remove("rope_parameters").add("rope_theta", json!(5000.0));
        let copy = copy.add("rope_scaling", json!({"rope_type": "linear", "factor": 4.0}));
        copy.add("rope_local_base_freq", json!(50.0))
    });
}

/// What a family takes for granted need not be said.
#[test]
fn defaults() {
    same("gpt2-lm", |copy| {
        copy.remove("activation_function").remove("scale_attn_weights").remove("tie_word_embeddings")
    });
    same("gpt_neox-parallel", |copy| {
        copy.remove("use_parallel_residual").remove("attention_bias").remove("hidden_act")
    });
    same("smollm3-base", |copy| copy.remove("rope_parameters").remove("tie_word_embeddings"));
    same("gemma3-base", |copy| copy.remove("rope_parameters").remove("hidden_activation"));
    same("llama-base", |copy| copy.remove("num_key_value_heads").remove("head_dim").remove("rope_parameters"));
}
