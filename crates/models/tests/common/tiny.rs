//! Tiny seeded checkpoints: the same Llama as a GGUF file and as a folder, and a BERT folder. Each is a struct of open
//! parts, so that a test can spoil any one of them before it is written.
#![allow(dead_code, reason = "every test that includes this uses a part of it")]

use std::collections::BTreeMap;
use std::fs;
use std::io::Cursor;
use std::path::{Path, PathBuf};

use candle_core::quantized::gguf_file::{self, Value};
use candle_core::quantized::{GgmlDType, QTensor};
use candle_core::{Device, Tensor};
use serde_json::{Value as Json, json};

pub(crate) const HIDDEN: usize = 32;
pub(crate) const LAYERS: usize = 2;
pub(crate) const Q_HEADS: usize = 4;
pub(crate) const KV_HEADS: usize = 2;
pub(crate) const HEAD_DIM: usize = 8;
pub(crate) const FFN: usize = 64;
pub(crate) const CONTEXT: usize = 24;
/// 256 bytes, four merges, one mark.
pub(crate) const VOCAB: usize = 261;
/// The mark that ends a text.
pub(crate) const END: &str = "<|end|>";

/// Tensors by the names of a Hugging Face folder.
pub(crate) type Tensors = BTreeMap<String, Tensor>;

/// Numbers that look random and are the same in every run. (xorshift64*, Vigna 2016)
#[derive(Clone, Debug)]
pub(crate) struct Seeded(u64);

impl Seeded {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11
    }

    /// A whole number below `n`.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    /// A tensor of numbers around `middle`, at most `spread` away.
    fn tensor(&mut self, shape: &[usize], middle: f32, spread: f32) -> Tensor {
        let unit = |n: u64| (n as f64 / (1u64 << 53) as f64) as f32;
        let data = (0..shape.iter().product()).map(|_| middle + spread * (2.0 * unit(self.next()) - 1.0));
        Tensor::from_vec(data.collect::<Vec<f32>>(), shape, &Device::Cpu).unwrap()
    }
}

/// The weights of the tiny Llama.
pub(crate) fn llama_tensors() -> Tensors {
    let mut seeded = Seeded::new(7);
    let mut tensors = Tensors::new();
    let mut add = |name: String, shape: &[usize], middle, spread| {
        tensors.insert(name, seeded.tensor(shape, middle, spread));
    };
    add("model.embed_tokens.weight".to_owned(), &[VOCAB, HIDDEN], 0.0, 1.0);
    add("model.norm.weight".to_owned(), &[HIDDEN], 1.0, 0.2);
    for layer in 0..LAYERS {
        let name = |part: &str| format!("model.layers.{layer}.{part}.weight");
        add(name("input_layernorm"), &[HIDDEN], 1.0, 0.2);
        add(name("self_attn.q_proj"), &[Q_HEADS * HEAD_DIM, HIDDEN], 0.0, 0.5);
        add(name("self_attn.k_proj"), &[KV_HEADS * HEAD_DIM, HIDDEN], 0.0, 0.5);
        add(name("self_attn.v_proj"), &[KV_HEADS * HEAD_DIM, HIDDEN], 0.0, 0.3);
        add(name("self_attn.o_proj"), &[HIDDEN, Q_HEADS * HEAD_DIM], 0.0, 0.3);
        add(name("post_attention_layernorm"), &[HIDDEN], 1.0, 0.2);
        add(name("mlp.gate_proj"), &[FFN, HIDDEN], 0.0, 0.3);
        add(name("mlp.up_proj"), &[FFN, HIDDEN], 0.0, 0.3);
        add(name("mlp.down_proj"), &[HIDDEN, FFN], 0.0, 0.3);
    }
    tensors
}

/// The tokens of the tiny byte BPE and its merges.
pub(crate) fn byte_bpe() -> (Vec<String>, Vec<String>) {
    // Bytes that print stand for themselves; the others, in order, for the characters from U+0100 on. (GPT-2)
    let prints = |byte: u32| matches!(byte, 0x21..=0x7E | 0xA1..=0xAC | 0xAE..=0xFF);
    let mut others = 0x100..;
    let byte = |byte: u32| if prints(byte) { byte } else { others.next().unwrap() };
    let mut tokens: Vec<String> = (0..256).map(byte).map(|code| char::from_u32(code).unwrap().to_string()).collect();
    tokens.extend(["th", "the", "\u{120}the", "er", END].map(str::to_owned));
    (tokens, ["t h", "th e", "\u{120} the", "e r"].map(str::to_owned).to_vec())
}

/// A GGUF file before it is written.
pub(crate) struct Gguf {
    pub(crate) metadata: BTreeMap<String, Value>,
    pub(crate) tensors: Tensors,
    /// How the matrices are stored; vectors are always F32.
    pub(crate) dtype: GgmlDType,
}

impl Gguf {
    /// The tiny Llama.
    pub(crate) fn llama() -> Self {
        let (tokens, merges) = byte_bpe();
        let texts = |texts: Vec<String>| Value::Array(texts.into_iter().map(Value::String).collect());
        let types = (0..VOCAB).map(|id| Value::I32(if tokens[id] == END { 3 } else { 1 })).collect();
        let number = |n: usize| Value::U32(n as u32);
        let metadata = [
            ("general.architecture", Value::String("llama".to_owned())),
            ("llama.embedding_length", number(HIDDEN)),
            ("llama.block_count", number(LAYERS)),
            ("llama.attention.head_count", number(Q_HEADS)),
            ("llama.attention.head_count_kv", number(KV_HEADS)),
            ("llama.feed_forward_length", number(FFN)),
            ("llama.context_length", number(CONTEXT)),
            ("llama.attention.layer_norm_rms_epsilon", Value::F32(1e-5)),
            ("llama.rope.freq_base", Value::F32(10_000.0)),
            ("tokenizer.ggml.model", Value::String("gpt2".to_owned())),
            ("tokenizer.ggml.pre", Value::String("smollm".to_owned())),
            ("tokenizer.ggml.tokens", texts(tokens)),
            ("tokenizer.ggml.merges", texts(merges)),
            ("tokenizer.ggml.token_type", Value::Array(types)),
            ("tokenizer.ggml.eos_token_id", number(VOCAB - 1)),
        ];
        let metadata = metadata.map(|(key, value)| (key.to_owned(), value)).into();
        let tensors = llama_tensors().into_iter().map(|(name, tensor)| gguf_tensor(&name, &tensor)).collect();
        Self { metadata, tensors, dtype: GgmlDType::F32 }
    }

    pub(crate) fn set(&mut self, key: &str, value: Value) {
        self.metadata.insert(key.to_owned(), value);
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let stored: Vec<(&str, QTensor)> = self
            .tensors
            .iter()
            .map(|(name, tensor)| {
                // Where rows do not fill blocks, nothing is quantised.
                let fits = tensor.rank() == 2 && tensor.dim(1).unwrap().is_multiple_of(self.dtype.block_size());
                let dtype = if fits { self.dtype } else { GgmlDType::F32 };
                (name.as_str(), QTensor::quantize(tensor, dtype).unwrap())
            })
            .collect();
        let metadata: Vec<(&str, &Value)> = self.metadata.iter().map(|(key, value)| (key.as_str(), value)).collect();
        let tensors: Vec<(&str, &QTensor)> = stored.iter().map(|(name, tensor)| (*name, tensor)).collect();
        let mut file = Cursor::new(Vec::new());
        gguf_file::write(&mut file, &metadata, &tensors).unwrap();
        file.into_inner()
    }

    pub(crate) fn write(&self, folder: &Path) -> PathBuf {
        let path = folder.join("tiny.gguf");
        fs::write(&path, self.bytes()).unwrap();
        path
    }
}

/// A tensor of the folder under its name in a GGUF file, with the rows of q and k interleaved as llama.cpp does it.
fn gguf_tensor(name: &str, tensor: &Tensor) -> (String, Tensor) {
    let renamed = [
        ("model.embed_tokens", "token_embd"),
        ("model.norm", "output_norm"),
        ("lm_head", "output"),
        ("model.layers.", "blk."),
        ("input_layernorm", "attn_norm"),
        ("post_attention_layernorm", "ffn_norm"),
        ("self_attn.q_proj", "attn_q"),
        ("self_attn.k_proj", "attn_k"),
        ("self_attn.v_proj", "attn_v"),
        ("self_attn.o_proj", "attn_output"),
        ("mlp.gate_proj", "ffn_gate"),
        ("mlp.up_proj", "ffn_up"),
        ("mlp.down_proj", "ffn_down"),
    ];
    let gguf = renamed.iter().fold(name.to_owned(), |name, (hf, gguf)| name.replace(hf, gguf));
    let heads = match name {
        _ if name.contains("q_proj") => Q_HEADS,
        _ if name.contains("k_proj") => KV_HEADS,
        _ => return (gguf, tensor.clone()),
    };
    (gguf, interleave(tensor, heads))
}

/// Row r of the first half of a head goes to row 2r, row r of the second half to row 2r + 1.
pub(crate) fn interleave(tensor: &Tensor, heads: usize) -> Tensor {
    let rows = tensor.to_vec2::<f32>().unwrap();
    let (dim, half) = (rows.len() / heads, rows.len() / heads / 2);
    let from = |row: usize| row / dim * dim + row % dim / 2 + row % 2 * half;
    let moved: Vec<Vec<f32>> = (0..rows.len()).map(|row| rows[from(row)].clone()).collect();
    Tensor::new(moved, &Device::Cpu).unwrap()
}

/// A Hugging Face folder before it is written. A part that is null is left out.
pub(crate) struct Folder {
    pub(crate) config: Json,
    pub(crate) tokenizer: Json,
    pub(crate) tensors: Tensors,
}

impl Folder {
    /// The tiny Llama.
    pub(crate) fn llama() -> Self {
        let (tokens, merges) = byte_bpe();
        let vocab: BTreeMap<String, usize> = tokens.into_iter().zip(0..).collect();
        let merges: Vec<Vec<&str>> = merges.iter().map(|merge| merge.split(' ').collect()).collect();
        let byte_level = json!({
            "type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true
        });
        let digits = json!({"type": "Digits", "individual_digits": true});
        Self {
            config: json!({
                "model_type": "llama", "hidden_act": "silu", "vocab_size": VOCAB, "hidden_size": HIDDEN,
                "num_hidden_layers": LAYERS, "num_attention_heads": Q_HEADS, "num_key_value_heads": KV_HEADS,
                "intermediate_size": FFN, "max_position_embeddings": CONTEXT, "rms_norm_eps": 1e-5,
                "rope_theta": 10_000.0, "tie_word_embeddings": true, "eos_token_id": VOCAB - 1,
            }),
            tokenizer: json!({
                "version": "1.0", "truncation": null, "padding": null, "normalizer": null, "post_processor": null,
                "added_tokens": [mark(VOCAB - 1, END)],
                "pre_tokenizer": {"type": "Sequence", "pretokenizers": [digits, byte_level]},
                "decoder": byte_level,
                "model": {
                    "type": "BPE", "dropout": null, "unk_token": null, "continuing_subword_prefix": null,
                    "end_of_word_suffix": null, "fuse_unk": false, "byte_fallback": false, "ignore_merges": false,
                    "vocab": vocab, "merges": merges,
                },
            }),
            tensors: llama_tensors(),
        }
    }

    /// A tiny BERT: hidden 32, two layers, 4 heads, context 24.
    pub(crate) fn bert() -> Self {
        let words = "[PAD] [UNK] [CLS] [SEP] [MASK] the robot carried patient because it was tire ##d . , a b c";
        let vocab: BTreeMap<&str, usize> = words.split(' ').zip(0..).collect();
        let marks: Vec<Json> = words.split(' ').take(5).enumerate().map(|(id, text)| mark(id, text)).collect();
        let piece = |id: &str| json!({"SpecialToken": {"id": id, "type_id": 0}});
        let sequence = |id: &str, of: usize| json!({"Sequence": {"id": id, "type_id": of}});
        let special = |id: &str| json!({"id": id, "ids": [vocab[id]], "tokens": [id]});
        Self {
            config: json!({
                "model_type": "bert", "hidden_act": "gelu", "vocab_size": vocab.len(), "hidden_size": HIDDEN,
                "num_hidden_layers": LAYERS, "num_attention_heads": Q_HEADS, "intermediate_size": FFN,
                "max_position_embeddings": CONTEXT, "type_vocab_size": 2, "layer_norm_eps": 1e-12,
            }),
            tokenizer: json!({
                "version": "1.0", "truncation": null, "padding": null, "added_tokens": marks,
                "normalizer": {
                    "type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true,
                    "strip_accents": null, "lowercase": true
                },
                "pre_tokenizer": {"type": "BertPreTokenizer"},
                "post_processor": {
                    "type": "TemplateProcessing",
                    "single": [piece("[CLS]"), sequence("A", 0), piece("[SEP]")],
                    "pair": [piece("[CLS]"), sequence("A", 0), piece("[SEP]"), sequence("B", 1)],
                    "special_tokens": {"[CLS]": special("[CLS]"), "[SEP]": special("[SEP]")},
                },
                "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": true},
                "model": {
                    "type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
                    "max_input_chars_per_word": 100, "vocab": vocab,
                },
            }),
            tensors: bert_tensors(vocab.len()),
        }
    }

    pub(crate) fn write(&self, folder: &Path) -> PathBuf {
        for (name, part) in [("config.json", &self.config), ("tokenizer.json", &self.tokenizer)] {
            if !part.is_null() {
                fs::write(folder.join(name), part.to_string()).unwrap();
            }
        }
        if !self.tensors.is_empty() {
            let tensors = self.tensors.clone().into_iter().collect();
            candle_core::safetensors::save(&tensors, folder.join("model.safetensors")).unwrap();
        }
        folder.to_owned()
    }
}

fn mark(id: usize, text: &str) -> Json {
    json!({
        "id": id, "content": text, "single_word": false, "lstrip": false, "rstrip": false, "normalized": false,
        "special": true
    })
}

fn bert_tensors(vocab: usize) -> Tensors {
    let mut seeded = Seeded::new(11);
    let mut tensors = Tensors::new();
    let mut add = |name: String, shape: &[usize], middle, spread| {
        tensors.insert(name, seeded.tensor(shape, middle, spread));
    };
    for (name, rows) in [("word", vocab), ("position", CONTEXT), ("token_type", 2)] {
        add(format!("embeddings.{name}_embeddings.weight"), &[rows, HIDDEN], 0.0, 1.0);
    }
    let mut norms = vec!["embeddings.LayerNorm".to_owned()];
    for layer in 0..LAYERS {
        let name = |part: &str| format!("encoder.layer.{layer}.{part}");
        let linears = [
            ("attention.self.query", HIDDEN, HIDDEN),
            ("attention.self.key", HIDDEN, HIDDEN),
            ("attention.self.value", HIDDEN, HIDDEN),
            ("attention.output.dense", HIDDEN, HIDDEN),
            ("intermediate.dense", HIDDEN, FFN),
            ("output.dense", FFN, HIDDEN),
        ];
        for (part, inp, out) in linears {
            add(format!("{}.weight", name(part)), &[out, inp], 0.0, 0.4);
            add(format!("{}.bias", name(part)), &[out], 0.0, 0.1);
        }
        norms.extend([name("attention.output.LayerNorm"), name("output.LayerNorm")]);
    }
    for norm in norms {
        add(format!("{norm}.weight"), &[HIDDEN], 1.0, 0.2);
        add(format!("{norm}.bias"), &[HIDDEN], 0.0, 0.1);
    }
    tensors
}
