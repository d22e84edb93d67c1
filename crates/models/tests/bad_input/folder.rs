//! Hugging Face folders with a part missing, broken, or at odds with the others.

use std::fs;
use std::path::Path;

use candle_core::{DType, Device, Tensor};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::tiny::{Folder, LAYERS, VOCAB};
use crate::{check_message, refused};

/// Writes a folder, spoils it on disk, and opens it. The message names the folder or a file in it.
fn spoiled(parts: Folder, spoil: impl FnOnce(&Path), wanted: &[&str]) -> String {
    let folder = TempDir::new().unwrap();
    let path = parts.write(folder.path());
    spoil(&path);
    let Err(error) = attnscope_models::Model::open(&path) else { panic!("opened; wanted {wanted:?}") };
    let message = error.to_string();
    check_message(&message, wanted);
    assert!(message.contains(path.to_str().unwrap()), "{message:?} does not say where");
    message
}

fn configured(mut parts: Folder, key: &str, value: Value, wanted: &[&str]) {
    match value {
        Value::Null => drop(parts.config.as_object_mut().unwrap().remove(key)),
        value => parts.config[key] = value,
    }
    spoiled(parts, |_| {}, wanted);
}

fn llama(key: &str, value: Value, wanted: &[&str]) {
    configured(Folder::llama(), key, value, wanted);
}

fn bert(key: &str, value: Value, wanted: &[&str]) {
    configured(Folder::bert(), key, value, wanted);
}

#[test]
fn a_part_that_is_missing_is_named() {
    for make in [Folder::llama, Folder::bert] {
        let remove = |name: &'static str| move |path: &Path| fs::remove_file(path.join(name)).unwrap();
        spoiled(make(), remove("config.json"), &["no config.json"]);
        spoiled(make(), remove("tokenizer.json"), &["no tokenizer.json"]);
        spoiled(make(), remove("model.safetensors"), &["no model.safetensors", "save_pretrained"]);
    }
    let empty = TempDir::new().unwrap();
    let Err(error) = attnscope_models::Model::open(empty.path()) else { panic!("an empty folder opened") };
    check_message(&error.to_string(), &["not a model folder", "no config.json"]);
}

#[test]
fn a_part_that_is_broken_is_named() {
    let put = |name: &'static str, text: &'static str| move |path: &Path| fs::write(path.join(name), text).unwrap();
    for text in ["", "{", "no", "{\"a\": }", "[1, 2", "\u{0}"] {
        spoiled(Folder::llama(), put("config.json", text), &["config.json", "is not JSON"]);
        spoiled(Folder::llama(), put("tokenizer.json", text), &["tokenizer.json", "does not read as a tokenizer"]);
        spoiled(Folder::llama(), put("model.safetensors", text), &["the weights do not read", "fetch them again"]);
    }
    for text in ["[]", "7", "null", "\"llama\"", "{}", "{\"model_type\": 7}"] {
        spoiled(Folder::llama(), put("config.json", text), &["config.json", "names no model_type", "llama", "bert"]);
    }
    spoiled(Folder::llama(), put("tokenizer.json", "{}"), &["tokenizer.json", "does not read as a tokenizer"]);
    let folder = |name: &'static str| {
        move |path: &Path| {
            fs::remove_file(path.join(name)).unwrap();
            fs::create_dir(path.join(name)).unwrap();
        }
    };
    for name in ["config.json", "tokenizer.json"] {
        spoiled(Folder::llama(), folder(name), &[name]);
    }
    spoiled(Folder::llama(), folder("model.safetensors"), &["the weights do not read"]);
}

#[test]
fn weights_cut_short_anywhere_are_refused() {
    let folder = TempDir::new().unwrap();
    Folder::bert().write(folder.path());
    let path = folder.path().join("model.safetensors");
    let file = fs::read(&path).unwrap();
    for len in (0..64).chain((64..file.len()).step_by(997)).chain([file.len() - 1]) {
        fs::write(&path, &file[..len]).unwrap();
        refused(folder.path(), &["the weights do not read", "fetch them again"]);
    }
    for absurd in [1u64 << 31, 1 << 40, u64::MAX] {
        let mut bytes = file.clone();
        bytes[..8].copy_from_slice(&absurd.to_le_bytes());
        fs::write(&path, bytes).unwrap();
        refused(folder.path(), &["the weights do not read"]);
    }
}

#[test]
fn shards_are_found_by_their_index_or_missed_by_name() {
    let index = |text: &'static str| {
        move |path: &Path| {
            fs::rename(path.join("model.safetensors"), path.join("part-1.safetensors")).unwrap();
            fs::write(path.join("model.safetensors.index.json"), text).unwrap();
        }
    };
    let two = r#"{"weight_map": {"a": "part-1.safetensors", "b": "part-2.safetensors"}}"#;
    spoiled(Folder::llama(), index(two), &["part-2.safetensors", "missing", "fetch the model again"]);
    spoiled(Folder::llama(), index("{}"), &["model.safetensors.index.json", "weight_map"]);
    spoiled(Folder::llama(), index("{"), &["model.safetensors.index.json", "is not JSON"]);

    let folder = TempDir::new().unwrap();
    Folder::llama().write(folder.path());
    index(r#"{"weight_map": {"a": "part-1.safetensors"}}"#)(folder.path());
    assert_eq!(attnscope_models::Model::open(folder.path()).unwrap().shape().vocab, VOCAB);
}

#[test]
fn an_unknown_architecture_is_answered_with_the_known_ones() {
    llama("model_type", json!("qwen9"), &["\"qwen9\" is not known", "llama", "bert"]);
    llama("model_type", json!(null), &["names no model_type", "llama", "bert"]);
}

#[test]
fn every_entry_that_is_needed_is_named_when_it_is_missing_or_of_another_type() {
    let needed = [
        "vocab_size",
        "hidden_size",
        "num_hidden_layers",
        "num_attention_heads",
        "intermediate_size",
        "max_position_embeddings",
    ];
    for key in needed {
        llama(key, json!(null), &["config.json", key, "missing"]);
        bert(key, json!(null), &["config.json", key, "missing"]);
        for wrong in [json!("many"), json!(-1), json!(2.5), json!([2])] {
            llama(key, wrong.clone(), &["config.json", key, "whole number"]);
            bert(key, wrong, &["config.json"]);
        }
    }
    llama("num_key_value_heads", json!("two"), &["num_key_value_heads", "whole number"]);
    llama("rms_norm_eps", json!("small"), &["rms_norm_eps", "a number"]);
    llama("rope_theta", json!([1]), &["rope_theta", "a number"]);
}

#[test]
fn sizes_that_cannot_belong_to_one_model_are_refused() {
    llama("num_attention_heads", json!(0), &["heads 0"]);
    llama("num_key_value_heads", json!(3), &["4 query heads on 3 kv heads"]);
    llama("num_key_value_heads", json!(0), &["0 kv heads"]);
    llama("head_dim", json!(7), &["head_dim 7", "even"]);
    llama("num_hidden_layers", json!(0), &["layers 0"]);
    llama("hidden_size", json!(0), &["hidden size 0"]);
    llama("vocab_size", json!(0), &["vocab 0"]);
    llama("max_position_embeddings", json!(0), &["context 0"]);
    llama("intermediate_size", json!(0), &["feed-forward"]);
    llama("head_dim", json!(1u64 << 62), &["too large"]);
    llama("rms_norm_eps", json!(-1e-5), &["norm", "-0.00001"]);
    llama("rope_theta", json!(0), &["rotary", "0"]);
    llama("rope_theta", json!(1e-300), &["turn by inf", "rope_theta"]);
    llama("rope_parameters", json!("yarn"), &["rope_parameters must be an object, not \"yarn\""]);
    llama("rope_scaling", json!([8]), &["rope_scaling must be an object, not [8]"]);
    llama("rope_scaling", json!({"rope_type": "linear", "factor": 1e-300}), &["rope_scaling", "turn by inf", "factor"]);
    let yarn = json!({"rope_type": "yarn", "factor": 4.0, "attention_factor": 1e30});
    llama("rope_scaling", yarn, &["rope_scaling", "grow", "attention_factor"]);

    bert("num_attention_heads", json!(0), &["0 heads"]);
    bert("num_attention_heads", json!(3), &["3 heads in a hidden size of 32", "divide"]);
    bert("num_hidden_layers", json!(0), &["layers 0"]);
    bert("hidden_size", json!(0), &["hidden size 0"]);
    bert("vocab_size", json!(0), &["vocab 0"]);
    bert("max_position_embeddings", json!(0), &["context 0"]);
    bert("type_vocab_size", json!(0), &["type_vocab_size 0"]);
    bert("layer_norm_eps", json!(-1.0), &["norm", "-1"]);
}

#[test]
fn what_is_not_computed_yet_is_refused_and_named() {
    llama("hidden_act", json!("mish"), &["hidden_act \"mish\"", "not supported", "silu"]);
    llama("rope_scaling", json!({"rope_type": "mrope", "factor": 4.0}), &["\"mrope\"", "not supported", "yarn"]);
    llama("rope_scaling", json!({"type": "axial", "factor": 4.0}), &["\"axial\"", "not supported", "linear"]);
    bert("hidden_act", json!("tanh"), &["hidden_act \"tanh\"", "not supported", "gelu"]);
    bert("position_embedding_type", json!("relative_key"), &["\"relative_key\"", "not supported", "absolute"]);
}

/// A count is not believed before the tensors are seen to be there.
#[test]
fn an_absurd_count_of_layers_costs_nothing() {
    let count = json!(1_000_000_000_000u64);
    llama("num_hidden_layers", count.clone(), &[&format!("model.layers.{LAYERS}."), "is missing"]);
    bert("num_hidden_layers", count, &[&format!("encoder.layer.{LAYERS}."), "is missing"]);
}

#[test]
fn a_configuration_at_odds_with_its_tensors_is_refused() {
    llama("intermediate_size", json!(63), &["gate_proj.weight is [64, 32]", "the configuration says [63, 32]"]);
    llama("num_key_value_heads", json!(4), &["k_proj.weight is [16, 32]", "the configuration says [32, 32]"]);
    llama("vocab_size", json!(VOCAB + 1), &["embed_tokens.weight is [261, 32]", "the configuration says [262, 32]"]);
    bert("vocab_size", json!(9), &["word_embeddings.weight is [19, 32]", "the configuration says [9, 32]"]);
    bert("max_position_embeddings", json!(512), &["position_embeddings", "the configuration says [512, 32]"]);
    // A head of its own is promised, but not there.
    llama("tie_word_embeddings", json!(false), &["lm_head.weight is missing"]);
}

#[test]
fn every_tensor_that_is_missing_is_named() {
    for make in [Folder::llama, Folder::bert] {
        for name in make().tensors.keys() {
            let mut parts = make();
            parts.tensors.remove(name);
            spoiled(parts, |_| {}, &[&format!("tensor {name} is missing")]);
        }
    }
}

#[test]
fn nan_and_infinity_are_found_in_every_tensor() {
    for make in [Folder::llama, Folder::bert] {
        for (index, (name, tensor)) in make().tensors.into_iter().enumerate() {
            let mut data = tensor.flatten_all().unwrap().to_vec1::<f32>().unwrap();
            let at = index * 7 % data.len();
            data[at] = if index % 2 == 0 { f32::NAN } else { f32::NEG_INFINITY };
            let mut parts = make();
            parts.tensors.insert(name.clone(), Tensor::from_vec(data, tensor.shape(), &Device::Cpu).unwrap());
            spoiled(parts, |_| {}, &[&name, "NaN or infinity", "damaged"]);
        }
    }
}

#[test]
fn a_tokenizer_with_more_tokens_than_the_model_is_refused() {
    let mut parts = Folder::llama();
    parts.tokenizer["model"]["vocab"]["one too many"] = json!(VOCAB);
    spoiled(parts, |_| {}, &["262 tokens", "the model only 261"]);
    let mut parts = Folder::bert();
    parts.tokenizer["model"]["vocab"]["extra"] = json!(19);
    spoiled(parts, |_| {}, &["20 tokens", "the model only 19"]);
}

#[test]
fn a_tokenizer_that_uses_a_mark_it_does_not_define_is_refused() {
    let remove = |processor: &mut Value| drop(processor["special_tokens"].as_object_mut().unwrap().remove("[SEP]"));
    let mut parts = Folder::bert();
    remove(&mut parts.tokenizer["post_processor"]);
    spoiled(parts, |_| {}, &["tokenizer.json", "\"[SEP]\"", "special_tokens"]);
    // The same within a sequence of processors.
    let mut parts = Folder::bert();
    let mut inner = parts.tokenizer["post_processor"].take();
    remove(&mut inner);
    parts.tokenizer["post_processor"] = json!({"type": "Sequence", "processors": [inner]});
    spoiled(parts, |_| {}, &["tokenizer.json", "\"[SEP]\"", "special_tokens"]);
}

/// What a model has beyond what is computed would make every number wrong without a word.
#[test]
fn biases_that_would_be_passed_over_are_refused() {
    let mut parts = Folder::llama();
    let name = "model.layers.0.self_attn.q_proj.bias";
    parts.tensors.insert(name.to_owned(), Tensor::ones(32, DType::F32, &Device::Cpu).unwrap());
    spoiled(parts, |_| {}, &[name, "its configuration says that there is none"]);
}
