//! A model folder small enough to be written by a test: Llama, two layers, a byte as a token.

use std::path::Path;

use attnscope_models::Source;
use safetensors::Dtype;
use safetensors::tensor::TensorView;
use serde_json::{Map, Value, json};

pub(crate) const CONTEXT: usize = 64;
pub(crate) const LAYERS: usize = 2;
pub(crate) const HEADS: usize = 2;
pub(crate) const KV_HEADS: usize = 1;
pub(crate) const HEAD_DIM: usize = 4;

const VOCAB: usize = 256;
const HIDDEN: usize = 8;
const FFN: usize = 16;

/// Opens one that was written to this folder.
pub(crate) fn open(folder: &Path) -> Source {
    write(folder);
    Source::open(folder.to_str().expect("a path in UTF-8")).expect("it opens")
}

/// Writes config.json, tokenizer.json and model.safetensors.
pub(crate) fn write(folder: &Path) {
    write_for(folder, CONTEXT);
}

/// The same, for texts of up to `context` tokens.
pub(crate) fn write_for(folder: &Path, context: usize) {
    std::fs::create_dir_all(folder).expect("a folder");
    let config = json!({
        "model_type": "llama", "vocab_size": VOCAB, "hidden_size": HIDDEN, "num_hidden_layers": LAYERS,
        "num_attention_heads": HEADS, "num_key_value_heads": KV_HEADS, "intermediate_size": FFN,
        "max_position_embeddings": context, "hidden_act": "silu", "tie_word_embeddings": true,
    });
    let write = |name: &str, value: Value| std::fs::write(folder.join(name), value.to_string()).expect("it is written");
    write("config.json", config);
    write("tokenizer.json", tokenizer());

    let tensors: Vec<(String, Vec<usize>, Vec<u8>)> = shapes()
        .into_iter()
        .enumerate()
        .map(|(seed, (name, shape))| {
            let value = |i: usize| ((i * 7 + seed * 13) as f32 * 0.618).sin() * 0.5;
            let bytes = (0..shape.iter().product()).flat_map(|i| value(i).to_le_bytes()).collect();
            (name, shape, bytes)
        })
        .collect();
    let views = tensors
        .iter()
        .map(|(name, shape, bytes)| (name, TensorView::new(Dtype::F32, shape.clone(), bytes).expect("its bytes fit")));
    safetensors::serialize_to_file(views, None, &folder.join("model.safetensors")).expect("it is written");
}

fn shapes() -> Vec<(String, Vec<usize>)> {
    let mut all = vec![("model.embed_tokens".to_owned(), vec![VOCAB, HIDDEN]), ("model.norm".to_owned(), vec![HIDDEN])];
    for layer in 0..LAYERS {
        for (part, shape) in [
            ("input_layernorm", vec![HIDDEN]),
            ("post_attention_layernorm", vec![HIDDEN]),
            ("self_attn.q_proj", vec![HEADS * HEAD_DIM, HIDDEN]),
            ("self_attn.k_proj", vec![KV_HEADS * HEAD_DIM, HIDDEN]),
            ("self_attn.v_proj", vec![KV_HEADS * HEAD_DIM, HIDDEN]),
            ("self_attn.o_proj", vec![HIDDEN, HEADS * HEAD_DIM]),
            ("mlp.gate_proj", vec![FFN, HIDDEN]),
            ("mlp.up_proj", vec![FFN, HIDDEN]),
            ("mlp.down_proj", vec![HIDDEN, FFN]),
        ] {
            all.push((format!("model.layers.{layer}.{part}"), shape));
        }
    }
    all.into_iter().map(|(name, shape)| (format!("{name}.weight"), shape)).collect()
}

/// GPT-2's bytes as characters, and no merges.
fn tokenizer() -> Value {
    let printable = |byte: u32| matches!(byte, 0x21..=0x7E | 0xA1..=0xAC | 0xAE..=0xFF);
    let bytes = (0..256).filter(|byte| printable(*byte)).chain(0x100..0x144);
    let vocab: Map<String, Value> = bytes
        .enumerate()
        .map(|(id, code)| (char::from_u32(code).expect("a character").to_string(), json!(id)))
        .collect();
    let byte_level = json!({ "type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true });
    json!({
        "version": "1.0", "truncation": null, "padding": null, "added_tokens": [], "normalizer": null,
        "pre_tokenizer": byte_level, "post_processor": null, "decoder": byte_level,
        "model": {
            "type": "BPE", "dropout": null, "unk_token": null, "continuing_subword_prefix": null,
            "end_of_word_suffix": null, "fuse_unk": false, "byte_fallback": false, "vocab": vocab, "merges": [],
        },
    })
}
