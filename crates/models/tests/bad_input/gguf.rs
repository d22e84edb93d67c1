//! GGUF files that are whole, but say what cannot be.

use candle_core::quantized::gguf_file::Value;
use candle_core::{Device, Tensor};
use tempfile::TempDir;

use crate::refused;
use crate::tiny::{CONTEXT, Gguf, HIDDEN, LAYERS, VOCAB};

fn spoiled(spoil: impl FnOnce(&mut Gguf), parts: &[&str]) -> String {
    let folder = TempDir::new().unwrap();
    let mut gguf = Gguf::llama();
    spoil(&mut gguf);
    refused(&gguf.write(folder.path()), parts)
}

fn with(key: &str, value: Value, parts: &[&str]) {
    spoiled(|gguf| gguf.set(key, value), parts);
}

fn text(text: &str) -> Value {
    Value::String(text.to_owned())
}

fn texts(texts: &[&str]) -> Value {
    Value::Array(texts.iter().map(|one| text(one)).collect())
}

#[test]
fn an_unknown_architecture_is_answered_with_the_known_ones() {
    with("general.architecture", text("qwen9"), &["\"qwen9\" is not known", "llama"]);
    spoiled(|gguf| drop(gguf.metadata.remove("general.architecture")), &["general.architecture"]);
}

#[test]
fn every_entry_that_is_needed_is_named_when_it_is_missing_or_of_another_type() {
    let needed = [
        ("general.architecture", "a text"),
        ("llama.embedding_length", "a whole number"),
        ("llama.block_count", "a whole number"),
        ("llama.attention.head_count", "a whole number"),
        ("llama.feed_forward_length", "a whole number"),
        ("llama.context_length", "a whole number"),
        ("llama.attention.layer_norm_rms_epsilon", "a number"),
        ("tokenizer.ggml.model", "a text"),
        ("tokenizer.ggml.tokens", "a list"),
        ("tokenizer.ggml.merges", "a list"),
    ];
    for (key, want) in needed {
        spoiled(|gguf| drop(gguf.metadata.remove(key)), &["its header has no", key]);
        with(key, Value::Bool(true), &[key]);
        let other = if want == "a text" { Value::U32(1) } else { text("many") };
        with(key, other, &[key, want]);
    }
    for key in ["llama.attention.head_count_kv", "llama.rope.freq_base", "tokenizer.ggml.pre"] {
        with(key, Value::Array(vec![]), &[key]);
    }
    with("llama.block_count", Value::I32(-2), &["llama.block_count", "a whole number"]);
}

#[test]
fn sizes_that_cannot_belong_to_one_model_are_refused() {
    let number = |n: u64| Value::U64(n);
    with("llama.attention.head_count", number(0), &["heads 0"]);
    with("llama.attention.head_count_kv", number(3), &["4 query heads on 3 kv heads", "divide"]);
    with("llama.attention.head_count_kv", number(0), &["0 kv heads"]);
    with("llama.attention.key_length", number(7), &["head_dim 7", "even"]);
    with("llama.block_count", number(0), &["layers 0"]);
    with("llama.embedding_length", number(0), &["hidden size 0"]);
    with("llama.context_length", number(0), &["context 0"]);
    with("llama.rope.dimension_count", number(4), &["4 of 8 dimensions", "not supported"]);
    with("llama.feed_forward_length", number(0), &["feed-forward"]);
    with("llama.rope.scaling.type", text("ntk"), &["\"ntk\"", "not supported"]);
    // Its square does not fit 64 bits.
    let huge = 1 << 62;
    with("llama.attention.key_length", number(huge), &["4611686018427387904", "too large"]);
    with("llama.attention.head_count", number(huge), &["head_dim 0"]);
}

#[test]
fn numbers_that_make_nothing_but_nan_are_refused() {
    for wrong in [f32::NAN, f32::INFINITY, -1.0] {
        with("llama.attention.layer_norm_rms_epsilon", Value::F32(wrong), &["norm", &wrong.to_string()]);
        let base = if wrong.is_finite() { "rotary" } else { "llama.rope.freq_base" };
        with("llama.rope.freq_base", Value::F32(wrong), &[base, &wrong.to_string()]);
    }
    with("llama.rope.freq_base", Value::F32(0.0), &["rotary", "0"]);
}

/// A count is not believed before the tensors are seen to be there.
#[test]
fn an_absurd_count_of_layers_costs_nothing() {
    with(
        "llama.block_count",
        Value::U64(1_000_000_000_000),
        &[&format!("tensor blk.{LAYERS}.attn_q.weight is missing")],
    );
    with("llama.context_length", Value::String("long".to_owned()), &["llama.context_length"]);
}

#[test]
fn a_tensor_that_is_missing_or_of_another_shape_is_named() {
    for name in Gguf::llama().tensors.keys() {
        spoiled(|gguf| drop(gguf.tensors.remove(name)), &[&format!("tensor {name} is missing")]);
        let halved = |gguf: &mut Gguf| {
            let tensor = gguf.tensors.get_mut(name).unwrap();
            *tensor = tensor.narrow(0, 0, tensor.dim(0).unwrap() / 2).unwrap().force_contiguous().unwrap();
        };
        let message = spoiled(halved, &[name, "but the configuration says ["]);
        assert!(message.contains("is ["), "{message}");
    }
    let flat = |gguf: &mut Gguf| {
        let tensor = gguf.tensors.get_mut("blk.1.attn_q.weight").unwrap();
        *tensor = tensor.flatten_all().unwrap();
    };
    spoiled(flat, &["blk.1.attn_q.weight is [1024]", "the configuration says [32, 32]"]);
}

#[test]
fn nan_and_infinity_are_found_wherever_they_are() {
    for (name, value) in [
        ("token_embd.weight", f32::NAN),
        ("blk.0.attn_q.weight", f32::INFINITY),
        ("blk.1.ffn_norm.weight", f32::NEG_INFINITY),
        ("blk.1.ffn_down.weight", -f32::NAN),
        ("output_norm.weight", f32::NAN),
    ] {
        let one = |gguf: &mut Gguf| {
            let tensor = gguf.tensors.get_mut(name).unwrap();
            let mut data = tensor.flatten_all().unwrap().to_vec1::<f32>().unwrap();
            *data.last_mut().unwrap() = value;
            *tensor = Tensor::from_vec(data, tensor.shape(), &Device::Cpu).unwrap();
        };
        spoiled(one, &[name, "NaN or infinity", "damaged"]);
    }
}

/// What a model has beyond what is computed would make every number wrong without a word.
#[test]
fn weights_that_would_be_passed_over_are_refused() {
    let extra = |name: &'static str, len: usize| {
        move |gguf: &mut Gguf| {
            drop(
                gguf.tensors.insert(name.to_owned(), Tensor::ones(len, candle_core::DType::F32, &Device::Cpu).unwrap()),
            )
        }
    };
    // A header has no word for biases: those of the first block speak for all.
    spoiled(extra("blk.0.attn_q.bias", HIDDEN), &["tensor blk.0.attn_k.bias is missing"]);
    spoiled(extra("blk.1.ffn_up.bias", 64), &["blk.1.ffn_up.bias", "says that there is none"]);
    spoiled(extra("rope_freqs.weight", 3), &["has 3 numbers, but must have 4"]);
}

#[test]
fn a_tokenizer_that_does_not_fit_is_refused() {
    let (tokens, merges) = crate::tiny::byte_bpe();
    let refs = |list: &[String]| texts(&list.iter().map(String::as_str).collect::<Vec<_>>());
    // One token fewer, or one more, than the embedding has rows.
    let fewer =
        format!("token_embd.weight is [{VOCAB}, {HIDDEN}], but the configuration says [{}, {HIDDEN}]", VOCAB - 1);
    spoiled(
        |gguf| {
            gguf.set("tokenizer.ggml.tokens", refs(&tokens[..VOCAB - 1]));
            gguf.metadata.remove("tokenizer.ggml.eos_token_id");
        },
        &[&fewer],
    );
    let more: Vec<String> = tokens.iter().cloned().chain(["one too many".to_owned()]).collect();
    with("tokenizer.ggml.tokens", refs(&more), &["token_embd.weight", "the configuration says [262, 32]"]);

    let twice: Vec<String> = tokens[..VOCAB - 1].iter().cloned().chain(["a".to_owned()]).collect();
    with("tokenizer.ggml.tokens", refs(&twice), &["the same token twice"]);
    with("tokenizer.ggml.tokens", texts(&[]), &["vocab 0"]);
    let mixed = Value::Array(vec![Value::U32(7); VOCAB]);
    with("tokenizer.ggml.tokens", mixed, &["tokenizer.ggml.tokens", "a list of texts"]);

    with("tokenizer.ggml.merges", texts(&["th"]), &["merge \"th\"", "two tokens"]);
    with("tokenizer.ggml.merges", texts(&["t zz"]), &["its tokenizer", "zz"]);
    // Both are tokens, but not what they make, which is longer than any that is.
    with("tokenizer.ggml.merges", texts(&["<|end|> <|end|>"]), &["its tokenizer", "a merge makes more than any token"]);
    assert_eq!(merges.len(), 4);
    with("tokenizer.ggml.eos_token_id", Value::U32(VOCAB as u32), &["end mark", "261 tokens"]);
    with("tokenizer.ggml.model", text("t5"), &["tokenizer \"t5\"", "not supported", "gpt2"]);
    with("tokenizer.ggml.pre", text("bloom"), &["\"bloom\"", "not supported", "smollm"]);
}

/// An id that does not fit 32 bits must not come out as a small one.
#[test]
fn a_mark_beyond_32_bits_is_beyond_the_vocabulary() {
    let id = (1 << 32) + 5;
    with("tokenizer.ggml.eos_token_id", Value::U64(id), &["end mark", "261 tokens"]);
    spoiled(
        |gguf| {
            gguf.set("tokenizer.ggml.add_bos_token", Value::Bool(true));
            gguf.set("tokenizer.ggml.bos_token_id", Value::U64(id));
        },
        &["begin or end mark", "261 tokens"],
    );
}

/// What is quoted from a file cannot fill the screen or command the terminal.
#[test]
fn what_is_quoted_from_a_file_is_made_fit_to_show() {
    let strange = "\u{1b}[2J\r\n".repeat(1000);
    with("general.architecture", text(&strange), &["is not known"]);
    with("tokenizer.ggml.pre", text(&strange), &["not supported"]);
    with("tokenizer.ggml.merges", texts(&[&strange.replace(' ', "")]), &["merge"]);
    let named = |gguf: &mut Gguf| {
        let tensor = gguf.tensors.remove("output_norm.weight").unwrap();
        gguf.tensors.insert(strange.clone(), tensor);
    };
    spoiled(named, &["output_norm.weight is missing"]);
    let more = |gguf: &mut Gguf| {
        let tensor = gguf.tensors["output_norm.weight"].clone();
        gguf.tensors.insert(strange.clone(), tensor);
    };
    spoiled(more, &["it has a tensor", "not supported"]);
}

#[test]
fn the_tiny_model_itself_is_fine() {
    let folder = TempDir::new().unwrap();
    let model = attnscope_models::Model::open(&Gguf::llama().write(folder.path())).unwrap();
    assert_eq!((model.shape().context, model.name()), (CONTEXT, "tiny"));
}
