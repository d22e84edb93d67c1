//! Each option of each family matters: with it switched off, some weight is another. Without this, a map could be right
//! although an option is passed over.

use candle_core::Tensor;
use serde_json::{Value as Json, json};

use crate::support::{Case, Tiny, trace};

/// Some weight moves by at least this.
const MOVED: f64 = 1e-3;

/// Opens a variant with something switched off and sees how far some weight of a case goes.
fn moved(variant: &str, case: &str, spoil: impl FnOnce(&mut Tiny)) -> f64 {
    let mut tiny = Tiny::load(variant);
    spoil(&mut tiny);
    let model = tiny.open().unwrap_or_else(|error| panic!("{variant}: {error}"));
    tiny.furthest(&trace(&model, &tiny.cases[case].prompt()), case)
}

fn set(key: &'static str, value: Json) -> impl FnOnce(&mut Tiny) {
    move |tiny| tiny.config[key] = value
}

/// Zeroes every tensor whose name has this in it.
fn zero(part: &'static str) -> impl FnOnce(&mut Tiny) {
    move |tiny| {
        let mut found = 0;
        for (name, tensor) in &mut tiny.tensors {
            if name.contains(part) {
                *tensor = tensor.zeros_like().unwrap();
                found += 1;
            }
        }
        assert!(found > 0, "no tensor has {part} in its name");
    }
}

fn reread(case: &'static str, change: impl FnOnce(&mut Case)) -> impl FnOnce(&mut Tiny) {
    move |tiny| change(tiny.cases.get_mut(case).unwrap())
}

fn matters(variant: &str, case: &str, what: &str, spoil: impl FnOnce(&mut Tiny)) {
    let far = moved(variant, case, spoil);
    assert!(far >= MOVED && far.is_finite(), "{variant} {case} without {what}: {far}");
}

#[test]
fn padding_and_types_matter() {
    for variant in ["bert-base", "distilbert-mlm", "roberta-mlm", "albert-mlm", "modernbert-base", "t5-relu", "bart-lm"]
    {
        for case in ["left", "right"] {
            matters(variant, case, "padding", reread(case, |case| case.real = None));
        }
    }
    for variant in ["bert-base", "bert-mlm", "albert-groups", "albert-mlm"] {
        matters(variant, "pair", "types", reread("pair", |case| case.types = None));
    }
}

#[test]
fn positions_matter() {
    for variant in ["bert-base", "distilbert-base", "roberta-mlm", "albert-groups"] {
        matters(variant, "text", "positions", zero("position_embeddings"));
    }
    // Text begins behind the id of padding; with another id it begins elsewhere, and padding moves what follows.
    matters("roberta-mlm", "left", "its offset", set("pad_token_id", json!(5)));
    // The same rows, counted from the first instead of the third.
    let rolled = |part: &'static str| {
        move |tiny: &mut Tiny| {
            let (_, table) = tiny.tensors.iter_mut().find(|(name, _)| name.contains(part)).unwrap();
            let rows = table.dim(0).unwrap();
            *table = Tensor::cat(&[&table.narrow(0, rows - 2, 2).unwrap(), &table.narrow(0, 0, rows - 2).unwrap()], 0)
                .unwrap();
        }
    };
    matters("bart-base", "text", "its offset", rolled("encoder.embed_positions"));
    matters("bart-base", "text", "its offset", rolled("decoder.embed_positions"));
}

#[test]
fn biases_matter() {
    for (variant, parts) in [
        ("bert-base", &["query.bias", "value.bias", "dense.bias", "LayerNorm.bias"][..]),
        ("distilbert-base", &["q_lin.bias", "v_lin.bias", "out_lin.bias", "lin1.bias", "sa_layer_norm.bias"]),
        ("roberta-mlm", &["query.bias", "output.dense.bias"]),
        ("albert-groups", &["query.bias", "embedding_hidden_mapping_in.bias", "ffn_output.bias"]),
        ("modernbert-mlm", &["Wqkv.bias", "Wo.bias", "Wi.bias", "attn_norm.bias", "embeddings.norm.bias"]),
        ("bart-lm", &["q_proj.bias", "fc1.bias", "self_attn_layer_norm.bias", "layernorm_embedding.bias"]),
    ] {
        for part in parts {
            matters(variant, "text", part, zero(part));
        }
    }
}

#[test]
fn activations_and_constants_matter() {
    matters("bert-base", "text", "its activation", set("hidden_act", json!("relu")));
    matters("bert-mlm", "text", "its activation", set("hidden_act", json!("silu")));
    matters("distilbert-base", "text", "its activation", set("activation", json!("gelu")));
    matters("albert-mlm", "text", "its activation", set("hidden_act", json!("relu")));
    matters("modernbert-base", "text", "its activation", set("hidden_activation", json!("silu")));
    matters("t5-relu", "text", "its activation", set("feed_forward_proj", json!("gelu")));
    matters("t5-gated", "text", "its activation", set("feed_forward_proj", json!("gated-relu")));
    matters("bart-base", "text", "its activation", set("activation_function", json!("gelu")));
    matters("bart-lm", "text", "its activation", set("activation_function", json!("relu")));
    matters("roberta-mlm", "text", "its epsilon", set("layer_norm_eps", json!(0.1)));
    matters("modernbert-base", "text", "its epsilon", set("norm_eps", json!(0.1)));
    matters("t5-relu", "text", "its epsilon", set("layer_norm_epsilon", json!(0.1)));
    matters("bart-lm", "text", "its scaled words", set("scale_embedding", json!(false)));
}

#[test]
fn which_weights_a_layer_shares_matters() {
    matters("albert-groups", "text", "its second group", |tiny| {
        tiny.config["num_hidden_groups"] = json!(1);
        tiny.tensors.retain(|name, _| !name.contains("albert_layer_groups.1."));
    });
    matters("albert-mlm", "text", "its second layer of a group", |tiny| {
        tiny.config["inner_group_num"] = json!(1);
        tiny.tensors.retain(|name, _| !name.contains("albert_layers.1."));
    });
}

#[test]
fn windows_and_bases_matter() {
    for variant in ["modernbert-base", "modernbert-mlm"] {
        matters(variant, "text", "its windows", set("local_attention", json!(96)));
        matters(variant, "text", "its global layers", |tiny| {
            tiny.config["layer_types"] = json!(["sliding_attention", "sliding_attention", "sliding_attention"]);
        });
        for kind in ["full_attention", "sliding_attention"] {
            matters(variant, "text", "its bases", |tiny| {
                tiny.config["rope_parameters"][kind]["rope_theta"] = json!(3.0);
            });
        }
    }
}

/// Older configurations have the same under other names.
#[test]
fn the_older_form_of_a_configuration_says_the_same() {
    let far = moved("modernbert-base", "text", |tiny| {
        let config = tiny.config.as_object_mut().unwrap();
        let rope = config.remove("rope_parameters").unwrap();
        config.remove("layer_types").unwrap();
        config.insert("global_attn_every_n_layers".to_owned(), json!(3));
        config.insert("global_rope_theta".to_owned(), rope["full_attention"]["rope_theta"].clone());
        config.insert("local_rope_theta".to_owned(), rope["sliding_attention"]["rope_theta"].clone());
    });
    assert!(far <= 5e-6, "{far}");
}

#[test]
fn relative_positions_and_scale_matter() {
    for variant in ["t5-relu", "t5-gated"] {
        for half in ["encoder.block.0", "decoder.block.0"] {
            matters(variant, "text", "relative positions", move |tiny| {
                let name = format!("{half}.layer.0.SelfAttention.relative_attention_bias.weight");
                let table = tiny.tensors.get_mut(&name).unwrap();
                *table = table.zeros_like().unwrap();
            });
        }
        matters(variant, "text", "distant buckets", set("relative_attention_max_distance", json!(40)));
        // Scores have no scale: queries that are made as much shorter as others' scores would be give other weights.
        matters(variant, "text", "a scale of 1", |tiny| {
            let shorter = 1.0 / tiny.config["d_kv"].as_f64().unwrap().sqrt();
            for (name, tensor) in &mut tiny.tensors {
                if name.ends_with("Attention.q.weight") {
                    *tensor = (&*tensor * shorter).unwrap();
                }
            }
        });
    }
    let tiny = Tiny::load("t5-relu");
    let trace = trace(&tiny.model(), &tiny.cases["text"].prompt());
    assert!(trace.sites.iter().all(|site| site.params.scale == 1.0));
}
