//! What is not read or not computed is said by name, with the way out; families are known from a look.

use attnscope_models::{Model, families::FAMILIES};
use candle_core::quantized::gguf_file::Value;
use candle_core::{DType, Device, Tensor};
use serde_json::json;
use tempfile::TempDir;

use crate::checkpoints::Tiny;
use crate::tiny::Gguf;
use crate::writer::{gguf_of, text};

fn why(bytes: &[u8]) -> String {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("tiny.gguf");
    std::fs::write(&path, bytes).unwrap();
    let Err(error) = Model::open(&path) else { panic!("opened") };
    let message = error.to_string();
    assert!(message.contains("tiny.gguf") && message.lines().count() == 1, "{message}");
    message
}

fn refused(name: &str, spoil: impl FnOnce(&mut Gguf), parts: &[&str]) {
    let mut gguf = gguf_of(&Tiny::named(name).path);
    spoil(&mut gguf);
    let message = why(&gguf.bytes());
    for part in parts {
        assert!(message.contains(part), "{message:?} does not say {part:?}");
    }
}

/// Patches the type of a tensor in a header: name, number of dimensions, dimensions, type.
fn stored_as(code: u32) -> Vec<u8> {
    let (mut file, name) = (Gguf::llama().bytes(), "blk.0.ffn_up.weight");
    let at = file.windows(name.len()).position(|window| window == name.as_bytes()).unwrap();
    let kind = at + name.len() + 4 + 2 * 8;
    file[kind..kind + 4].copy_from_slice(&code.to_le_bytes());
    file
}

#[test]
fn a_quantisation_that_is_not_read_is_named_with_its_tensor_and_the_way_out() {
    // The ends of each run of numbers that is not read: were a table off by one, one of them would be. And numbers of none.
    for (code, kind) in [
        (4, "Q4_2"),
        (5, "Q4_3"),
        (9, "Q8_1"),
        (15, "Q8_K"),
        (29, "IQ1_M"),
        (31, "Q4_0_4_4"),
        (40, "NVFP4"),
        (41, "ggml type 41"),
        (u32::MAX, "ggml type 4294967295"),
    ] {
        let message = why(&stored_as(code));
        for part in ["tensor blk.0.ffn_up.weight", kind, "take another quantisation", "Q8_0"] {
            assert!(message.contains(part), "{message:?} does not say {part:?}");
        }
    }
}

#[test]
fn what_would_change_the_numbers_is_not_passed_over() {
    let ones = |shape: &[usize]| Tensor::ones(shape, DType::F32, &Device::Cpu).unwrap();
    let extras =
        ["blk.0.ffn_gate_inp.weight", "blk.1.attn_sinks.weight", "blk.1.attn_norm.bias", "output.bias", "v.bias"];
    for name in extras {
        let add = |gguf: &mut Gguf| drop(gguf.tensors.insert(name.to_owned(), ones(&[32])));
        refused("qwen2-windows", add, &[&format!("it has a tensor {name}, which is not supported")]);
    }
    for (model, key, value) in [
        ("qwen2-windows", "qwen2.expert_count", Value::U32(8)),
        ("qwen3-plain", "qwen3.logit_scale", Value::F32(0.5)),
        ("llama-llama3", "llama.attention.clamp_kqv", Value::F32(8.0)),
        ("llama-llama3", "llama.attention.sliding_window", Value::U32(8)),
        ("qwen2-windows", "qwen2.attn_logit_softcapping", Value::F32(30.0)),
        ("gemma3-lm", "gemma3.attn_logit_softcapping", Value::F32(30.0)),
        ("phi3-window", "phi3.attention.sliding_window_pattern", Value::U32(2)),
        ("llama-linear", "llama.rope.scaling.type", text("ntk")),
    ] {
        let quoted = if key.ends_with("type") { "\"ntk\"" } else { key };
        refused(model, |gguf| gguf.set(key, value), &[quoted, "not supported"]);
    }
    refused(
        "llama-llama3",
        |gguf| {
            gguf.set("llama.rope.scaling.type", text("linear"));
            gguf.set("llama.rope.scaling.factor", Value::F32(2.0));
        },
        &["\"linear\" beside factors of its own"],
    );
    refused(
        "gemma2-lm",
        |gguf| gguf.set("gemma2.attention.value_length", Value::U32(4)),
        &["keys of 12 and values of 4"],
    );
    refused("qwen2-windows", |gguf| gguf.set("qwen2.rope.dimension_count", Value::U32(4)), &["4 of 8 dimensions"]);
    refused("phi3-window", |gguf| gguf.set("phi3.rope.dimension_count", Value::U32(10)), &["10 of 8 dimensions"]);
    refused(
        "qwen3-plain",
        |gguf| gguf.set("qwen3.attention.causal", Value::Bool(false)),
        &["qwen3 that sees both ways"],
    );
    refused("qwen2-windows", |gguf| gguf.set("split.count", Value::U16(3)), &["one of 3 parts", "--merge"]);
}

#[test]
fn what_a_header_leaves_out_or_contradicts_is_said() {
    let dropped = |key: &'static str| move |gguf: &mut Gguf| drop(gguf.metadata.remove(key));
    refused("gpt2-lm", dropped("gpt2.feed_forward_length"), &["no gpt2.feed_forward_length"]);
    refused("gemma3-lm", dropped("gemma3.rope.freq_base"), &["no gemma3.rope.freq_base"]);
    refused("qwen2-windows", dropped("qwen2.rope.scaling.factor"), &["no qwen2.rope.scaling.factor"]);
    for scale in [0.0, -1.0, 1e-200] {
        let scaled = |gguf: &mut Gguf| gguf.set("gemma2.attention.scale", Value::F64(scale));
        refused("gemma2-lm", scaled, &["gemma2.attention.scale", "above 0"]);
    }
    let short = |gguf: &mut Gguf| {
        gguf.set("qwen3.attention.sliding_window_pattern", Value::Array(vec![Value::Bool(true)]));
    };
    refused("qwen3-windows", short, &["1 entries", "3 layers"]);
    // A list as long as a claim would be one of 10^12 entries.
    let absurd = |gguf: &mut Gguf| {
        gguf.set("gemma3.block_count", Value::U64(1_000_000_000_000));
        gguf.set("gemma3.attention.sliding_window_pattern", Value::U32(6));
    };
    refused("gemma3-lm", absurd, &["1000000000000 layers", "tensors"]);
    let thrown = |gguf: &mut Gguf| drop(gguf.tensors.remove("rope_factors_long.weight"));
    refused("phi3-longrope", thrown, &["long_factor has 0 numbers, but must have 4"]);
}

#[test]
fn a_tokenizer_that_is_not_known_is_answered_with_those_that_are() {
    for (key, value, parts) in [
        ("tokenizer.ggml.pre", text("bloom"), ["\"bloom\"", "gpt-2, default, smollm"]),
        ("tokenizer.ggml.pre", text("bloom"), ["llama-bpe", "qwen2, tekken, gpt-4o"]),
        ("tokenizer.ggml.model", text("t5"), ["\"t5\"", "\"gpt2\" (byte BPE) and \"llama\" (SentencePiece)"]),
        ("tokenizer.ggml.model", text("llama"), ["no tokenizer.ggml.scores", "header"]),
    ] {
        refused("qwen2-windows", |gguf| gguf.set(key, value), &parts);
    }
    let scored = |gguf: &mut Gguf| {
        gguf.set("tokenizer.ggml.model", text("llama"));
        gguf.set("tokenizer.ggml.scores", Value::Array(vec![Value::F32(0.0); 3]));
    };
    refused("qwen2-windows", scored, &["160 tokens, but 3 scores"]);
}

/// What the page lists before it opens anything, and what `attnscope models` says.
#[test]
fn families_are_known_from_a_look_at_the_header() {
    let folder = TempDir::new().unwrap();
    for name in ["gpt2-lm", "llama-base", "qwen2-windows", "qwen3-plain", "gemma2-lm", "gemma3-lm", "phi3-window"] {
        let tiny = Tiny::named(name);
        let path = gguf_of(&tiny.path).write(folder.path());
        assert_eq!(Model::glance(&path), Some((&*tiny.family, true)), "{name}");
        let entry = FAMILIES.iter().find(|entry| entry.family == tiny.family).unwrap();
        assert_eq!(entry.formats(), ["folder", "gguf"], "{name}");
    }
    let mut strange = Gguf::llama();
    strange.set("general.architecture", text("mamba"));
    assert_eq!(Model::glance(&strange.write(folder.path())), None);
    assert_eq!(json!(FAMILIES.iter().filter(|entry| entry.formats().len() == 2).count()), json!(7));
}
