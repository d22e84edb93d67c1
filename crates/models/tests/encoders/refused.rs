//! What does not fit is refused with one clear error.

use attnscope_models::{Keep, Model, Prompt, Reading, Run};
use serde_json::{Value as Json, json};

use crate::support::{Tiny, variants};

fn says(message: &str, wanted: &[&str]) {
    assert!(message.lines().count() <= 2 && message.len() < 600, "{message}");
    for part in wanted {
        assert!(message.contains(part), "{message:?} does not say {part:?}");
    }
}

/// Opens a variant with one key of its configuration changed.
fn with(variant: &str, key: &str, value: Json, wanted: &[&str]) {
    let mut tiny = Tiny::load(variant);
    match value {
        Json::Null => drop(tiny.config.as_object_mut().unwrap().remove(key)),
        value => tiny.config[key] = value,
    }
    match tiny.open() {
        Ok(_) => panic!("{variant} opened with another {key}"),
        Err(message) => says(&message, wanted),
    }
}

#[test]
fn what_is_not_computed_is_named_with_what_is() {
    with("bert-base", "hidden_act", json!("tanh"), &["hidden_act", "\"tanh\"", "gelu", "relu", "silu"]);
    with("bert-base", "position_embedding_type", json!("relative_key"), &["position_embedding_type", "absolute"]);
    with("bert-base", "is_decoder", json!(true), &["is_decoder", "true", "false"]);
    with("roberta-mlm", "add_cross_attention", json!(true), &["add_cross_attention", "true", "false"]);
    with("distilbert-mlm", "activation", json!("mish"), &["activation", "\"mish\"", "gelu"]);
    with("albert-mlm", "position_embedding_type", json!("relative_key_query"), &["relative_key_query", "absolute"]);
    with(
        "modernbert-base",
        "layer_types",
        json!(["full_attention", "chunked", "full_attention"]),
        &["layer_types", "\"chunked\"", "full_attention", "sliding_attention"],
    );
    with("modernbert-base", "layer_types", json!(["full_attention"]), &["layer_types", "1", "num_hidden_layers", "3"]);
    with("t5-relu", "feed_forward_proj", json!("gated-mish"), &["feed_forward_proj", "\"gated-mish\"", "gated-gelu"]);
    with("bart-lm", "normalize_before", json!(true), &["normalize_before", "true", "false"]);
    with("bart-lm", "static_position_embeddings", json!(true), &["static_position_embeddings", "true", "false"]);
    with("bart-lm", "activation_function", json!("tanh"), &["activation_function", "\"tanh\"", "gelu"]);
}

#[test]
fn sizes_that_cannot_belong_to_one_model_are_refused() {
    for variant in ["bert-base", "roberta-mlm", "albert-groups", "modernbert-base"] {
        with(variant, "num_attention_heads", json!(5), &["5 heads in a hidden size of 32", "divide"]);
        with(variant, "num_attention_heads", json!(0), &["0"]);
        with(variant, "hidden_size", json!("wide"), &["hidden_size", "whole number", "\"wide\""]);
        with(variant, "vocab_size", Json::Null, &["vocab_size is missing"]);
    }
    with("modernbert-base", "num_attention_heads", json!(32), &["head_dim 1", "even"]);
    with("roberta-mlm", "pad_token_id", json!(65), &["max_position_embeddings 66", "pad_token_id 65"]);
    with("distilbert-mlm", "n_heads", json!(3), &["3 heads in a hidden size of 32"]);
    with("albert-groups", "num_hidden_groups", json!(5), &["5 groups for 4 layers"]);
    // Layers that share their weights cost nothing in the file.
    with("albert-groups", "num_hidden_layers", json!(1_000_000_000_000u64), &["1000000000000 layers", "over 1000"]);
    with("albert-groups", "num_hidden_groups", json!(1), &["num_hidden_groups 1", "albert_layer_groups.1"]);
    with("albert-mlm", "inner_group_num", json!(1), &["inner_group_num 1", "albert_layers.1"]);
    with("t5-relu", "d_kv", json!(0), &["d_kv 0"]);
    with("t5-relu", "num_heads", json!(4), &["relative_attention_bias", "[8, 3]", "[8, 4]"]);
    with("t5-relu", "num_heads", json!(u64::MAX), &["the configuration says"]);
    with("t5-relu", "relative_attention_num_buckets", json!(6), &["relative_attention_bias", "[8, 3]", "[6, 3]"]);
    with("t5-relu", "relative_attention_max_distance", json!(1), &["max_distance", "1", "above 2"]);
    with("t5-gated", "num_decoder_layers", json!(1), &["1 layers", "decoder.block.1"]);
    with("t5-relu", "num_decoder_layers", json!(9), &["decoder.block.3", "missing"]);
    with("bart-lm", "decoder_attention_heads", json!(3), &["decoder", "3 heads in a hidden size of 32"]);
    with("bart-lm", "encoder_layers", json!(1), &["1 layers", "encoder.layers.1"]);
    with("bart-lm", "max_position_embeddings", json!(41), &["embed_positions", "[42, 32]", "[43, 32]"]);
    with("bart-lm", "decoder_start_token_id", json!(-1), &["decoder_start_token_id", "token id", "-1"]);
    // A head of its own is promised, but not there.
    with("bart-lm", "tie_word_embeddings", json!(false), &["lm_head.weight is missing"]);
}

/// What a checkpoint has beyond what its configuration speaks of would be passed over.
#[test]
fn biases_that_nobody_speaks_of_are_refused() {
    for (variant, key) in [
        ("modernbert-mlm", "attention_bias"),
        ("modernbert-mlm", "mlp_bias"),
        ("modernbert-mlm", "norm_bias"),
        ("modernbert-mlm", "classifier_bias"),
        ("modernbert-mlm", "decoder_bias"),
    ] {
        with(variant, key, json!(false), &["it has a tensor", ".bias", "its configuration says that there is none"]);
    }
    let mut tiny = Tiny::load("t5-relu");
    let name = "encoder.block.1.layer.1.DenseReluDense.wi.bias".to_owned();
    let bias = candle_core::Tensor::zeros(48, candle_core::DType::F32, &candle_core::Device::Cpu).unwrap();
    tiny.tensors.insert(name.clone(), bias);
    says(&tiny.open().err().unwrap(), &[&name, "its configuration says that there is none"]);
}

/// An absurd count is not believed before the tensors are seen to be there.
#[test]
fn an_absurd_count_of_layers_costs_nothing() {
    let many = json!(1_000_000_000_000u64);
    for (variant, key) in [
        ("bert-base", "num_hidden_layers"),
        ("distilbert-mlm", "n_layers"),
        ("albert-groups", "num_hidden_groups"),
        ("albert-mlm", "inner_group_num"),
        ("t5-relu", "num_layers"),
        ("bart-lm", "decoder_layers"),
    ] {
        let mut tiny = Tiny::load(variant);
        tiny.config[key] = many.clone();
        if key == "num_hidden_groups" {
            // As many as there may be layers, of which each group needs one.
            tiny.config["num_hidden_groups"] = json!(1000);
            tiny.config["num_hidden_layers"] = json!(1000);
        }
        says(&tiny.open().err().unwrap(), &["is missing"]);
    }
    let mut tiny = Tiny::load("modernbert-base");
    tiny.config["num_hidden_layers"] = many;
    tiny.config.as_object_mut().unwrap().remove("layer_types");
    says(&tiny.open().err().unwrap(), &["layers.3", "is missing"]);
}

/// Heads and poolers may be left out; nothing else may.
#[test]
fn every_tensor_that_is_missing_is_named() {
    let spare = |name: &str| {
        ["pooler", "cls.", "lm_head", "predictions", "vocab_", "head.", "decoder.bias", "final_logits_bias"]
            .iter()
            .any(|part| name.starts_with(part))
    };
    for variant in variants() {
        let whole = Tiny::load(&variant);
        for name in whole.tensors.keys() {
            let mut tiny = Tiny::load(&variant);
            tiny.tensors.remove(name);
            match tiny.open() {
                Ok(_) => assert!(spare(name) && variant != "t5-gated", "{variant} opened without {name}"),
                Err(message) => says(&message, &["is missing"]),
            }
        }
    }
}

fn refused(model: &Model, prompt: Prompt, wanted: &[&str]) {
    says(&model.trace(&prompt, Keep::All, &|_, _| true).unwrap_err().to_string(), wanted);
}

#[test]
fn what_a_model_does_not_read_is_refused() {
    let model = |variant: &str| Tiny::load(variant).model();
    let tokens =
        |ids: Vec<u32>, types: Option<Vec<u32>>, real: Option<Vec<bool>>| Prompt::Tokens(Reading { ids, types, real });
    let halves =
        |encoder: Prompt, decoder: Prompt| Prompt::Halves { encoder: Box::new(encoder), decoder: Box::new(decoder) };
    let text = |text: &str| Prompt::Text(text.to_owned());

    let bert = model("bert-base");
    refused(&bert, tokens(vec![2, 9, 3], Some(vec![0, 3, 0]), None), &["token type 3", "0 to 2"]);
    refused(&bert, tokens(vec![2, 9, 3], Some(vec![0]), None), &["3 tokens have 1 token types"]);
    refused(&bert, tokens(vec![2, 9, 3], None, Some(vec![true; 4])), &["3 tokens have 4 marks of padding"]);
    refused(&bert, halves(text("the moon"), text("the moon")), &["no encoder and decoder", "--target"]);
    refused(&bert, Prompt::Pair("the".to_owned(), " ".to_owned()), &["the text is empty"]);
    assert!(bert.encode(&[2, 3], &mut Run::keeping(Keep::Nothing)).is_err());
    let pair = || Prompt::Pair("the".to_owned(), "moon".to_owned());
    for prompt in [pair(), Prompt::Unmarked(Box::new(pair()))] {
        refused(&model("gpt2-lm"), prompt, &["is a decoder", "no pairs", "--second"]);
    }
    assert!(model("gpt2-lm").truncate(pair(), 0).is_err());
    for variant in ["distilbert-mlm", "modernbert-base"] {
        refused(&model(variant), tokens(vec![2, 9, 3], Some(vec![0, 1, 0]), None), &["no token types"]);
    }
    let bart = model("bart-lm");
    refused(&bart, halves(text("the"), Prompt::Ids(vec![2; 41])), &["41 tokens", "at most 40"]);
    refused(&bart, halves(Prompt::Ids(vec![2; 41]), text("the")), &["41 tokens", "at most 40"]);
    refused(&bart, halves(text("the"), Prompt::Ids(vec![269])), &["269", "0 to 268"]);
    refused(&bart, halves(text("the"), Prompt::Ids(vec![])), &["no token"]);
    refused(&bart, halves(text("the"), Prompt::Pair("a".to_owned(), "b".to_owned())), &["a decoder reads one text"]);
    let unread = bart.hidden(&[2, 5], &mut Run::keeping(Keep::Nothing)).unwrap_err();
    says(&unread.to_string(), &["has an encoder, which must read a text"]);
    // Texts of RoBERTa begin behind the id of padding, so its last positions are fewer.
    let roberta = model("roberta-mlm");
    assert_eq!(roberta.shape().context, 64);
    assert!(roberta.trace(&Prompt::Ids(vec![9; 64]), Keep::Nothing, &|_, _| true).is_ok());
    refused(&roberta, Prompt::Ids(vec![9; 65]), &["65 tokens", "at most 64"]);
}

/// `<s> A </s></s> B </s>`, and both of the one type that there is. (Weights of such pairs agree with transformers to 5e-7.)
#[test]
fn two_texts_of_roberta_have_two_marks_between_them() {
    for variant in ["roberta-mlm", "bart-lm"] {
        let model = Tiny::load(variant).model();
        let plain = |text: &str| model.tokenizer().encode_unmarked(text).unwrap();
        let reading = model.reading(&Prompt::Pair("He said".to_owned(), "They know".to_owned())).unwrap();
        let want = [&[0][..], &plain("He said"), &[2, 2], &plain("They know"), &[2]].concat();
        assert_eq!((reading.ids, reading.types), (want, None), "{variant}");
    }
}
